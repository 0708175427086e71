"""What the installation documents of one cluster are made from: its settings and its hosts."""

from typing import Final
from uuid import UUID

from firstlight.core.install.inputs import MirrorRegistries, ProxySettings, Value
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole
from firstlight.core.network.addresses import address_of, network_of

USER_MANAGED_PLATFORMS: Final = frozenset({PlatformType.NONE, PlatformType.EXTERNAL})


class HostInterface(Value, frozen=True, kw_only=True):
    mac: str
    addresses: tuple[str, ...] = ()
    """With prefix length, IPv4 and IPv6."""


class FencingCredentials(Value, frozen=True, kw_only=True):
    """How a two-node cluster switches off a node that went silent."""

    address: str
    username: str
    password: str
    mac_address: str = ""
    certificate_verification: str = ""


class InstallHost(Value, frozen=True, kw_only=True):
    id: UUID
    name: str
    role: HostRole
    interfaces: tuple[HostInterface, ...] = ()
    uefi: bool = True
    installation_disk: str = ""
    """By-id path of the disk, else its device path."""
    is_bootstrap: bool = False
    booted_from_disk: bool = False
    """The live system ran from persistent storage, whose traces the installed system must remove."""
    machine_config_pool: str = ""
    ignition_override: str = ""
    node_ip_hint: str = ""
    """Address of the network whose address the node shall use; for clusters without VIPs of their own."""
    fencing: FencingCredentials | None = None
    infra_env_id: UUID | None = None
    agent_token: str = ""
    """What the installed system proves itself with when it tells the service about its first boot."""

    @property
    def node_role(self) -> HostRole:
        """What its node becomes: the bootstrap host ends as a master, a host of undecided role as a worker."""
        known = {HostRole.BOOTSTRAP: HostRole.MASTER, HostRole.AUTO_ASSIGN: HostRole.WORKER}
        return known.get(self.role, self.role)

    @property
    def networks(self) -> tuple[str, ...]:
        """The networks its addresses are in, without link-local ones."""
        found = [network_of(address) for interface in self.interfaces for address in interface.addresses]
        return tuple(dict.fromkeys(str(one) for one in found if one is not None and not one.is_link_local))

    def mac_in(self, networks: tuple[str, ...]) -> str | None:
        """The MAC of the first interface with an address in one of `networks`."""
        wanted = [network for network in map(network_of, networks) if network is not None]
        for interface in self.interfaces:
            addresses = [one for one in map(address_of, interface.addresses) if one is not None]
            if any(address in network for address in addresses for network in wanted):
                return interface.mac
        return None

    def address_in(self, networks: tuple[str, ...]) -> str | None:
        """Its address in the first of `networks` that it has one in, without prefix length."""
        addresses = [one for interface in self.interfaces for one in map(address_of, interface.addresses)]
        for network in map(network_of, networks):
            for address in addresses:
                if network is not None and address is not None and address in network:
                    return str(address)
        return None


class PodNetwork(Value, frozen=True, kw_only=True):
    cidr: str
    host_prefix: int


class ClusterInputs(Value, frozen=True, kw_only=True):
    cluster_id: UUID
    name: str
    base_domain: str
    version: str
    release_image: str = ""
    architecture: str = "x86_64"
    platform: PlatformType = PlatformType.BAREMETAL
    platform_name: str = ""
    external_cloud_controller: bool = False
    user_managed_networking: bool = False
    user_managed_load_balancer: bool = False
    control_plane_count: int = 3
    network_type: str = "OVNKubernetes"
    cluster_networks: tuple[PodNetwork, ...] = ()
    service_networks: tuple[str, ...] = ()
    machine_networks: tuple[str, ...] = ()
    node_networks: tuple[str, ...] = ()
    """Networks the bootstrap host's node addresses come from, where the user manages the network."""
    api_vips: tuple[str, ...] = ()
    ingress_vips: tuple[str, ...] = ()
    hyperthreading: str = "all"
    proxy: ProxySettings = ProxySettings()
    pull_secret: str = ""
    ssh_key: str = ""
    additional_ntp_servers: tuple[str, ...] = ()
    mirrors: MirrorRegistries | None = None
    trust_bundles: tuple[str, ...] = ()
    """Certificates to trust, in order: service-wide, of the cluster, of each infra-env."""
    service_ca: str = ""
    service_url: str = ""
    """Where installed hosts reach the service; without it they tell nobody about their first boot."""
    install_config_override: str = ""
    hosts: tuple[InstallHost, ...] = ()

    @property
    def domain(self) -> str:
        return f"{self.name}.{self.base_domain}"

    @property
    def is_single_node(self) -> bool:
        return self.control_plane_count == 1

    @property
    def has_own_vips(self) -> bool:
        """Whether the cluster brings its virtual addresses up itself."""
        return self.platform not in USER_MANAGED_PLATFORMS and not self.user_managed_networking

    def with_role(self, role: HostRole) -> tuple[InstallHost, ...]:
        return tuple(sorted((host for host in self.hosts if host.node_role is role), key=lambda host: host.name))

    @property
    def bootstrap(self) -> InstallHost | None:
        return next((host for host in self.hosts if host.is_bootstrap), None)


def is_ipv6(text: str) -> bool:
    """Whether an address or a network is of the newer family."""
    address = address_of(text)
    return address is not None and address.version == 6
