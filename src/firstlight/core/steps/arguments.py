"""What each measuring step is told: arguments are JSON text, and a step that has nothing to measure is not sent."""

import ipaddress
from typing import Final

import msgspec

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import EncryptionMode
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.plan import Step, StepType
from firstlight.core.steps.day_two import ignition_source, tang_servers_in
from firstlight.core.steps.decoding import network_around, number_of_address
from firstlight.core.steps.free_addresses import SHORTEST_PREFIX
from firstlight.core.steps.occasion import Occasion, boot_device_of
from firstlight.core.steps.vip_macs import vip_mac

ROLE_WORDS: Final = {HostRole.MASTER: "masters", HostRole.ARBITER: "arbiters", HostRole.WORKER: "workers"}
SAVING_PARTITIONS: Final = ("--save-partlabel", "--save-partindex")

_ENCODER: Final = msgspec.json.Encoder()


def json_text(document: object) -> str:
    return _ENCODER.encode(document).decode()


def inventory(occasion: Occasion) -> Step:
    policy = occasion.policy
    args = [str(occasion.host.id)]
    if policy.inventory_max_bytes > 0:
        args.append(f"--output-max-size={policy.inventory_max_bytes}")
    if policy.inventory_disk_min_bytes > 0:
        args.append(f"--disk-min-size={policy.inventory_disk_min_bytes}")
    return Step(StepType.INVENTORY, tuple(args))


def connectivity_check(occasion: Occasion) -> Step | None:
    neighbourhood, host_id = occasion.neighbourhood, occasion.host.id
    if not occasion.inline_peers:
        alone = len(neighbourhood.spans) == (host_id in neighbourhood.spans)
        return None if alone else Step(StepType.CONNECTIVITY_CHECK, (neighbourhood.digest,))
    peers = neighbourhood.without(host_id)
    return Step(StepType.CONNECTIVITY_CHECK, (peers,)) if peers else None


def free_addresses(occasion: Occasion) -> Step | None:
    if occasion.policy.kube_api or occasion.inventory is None:
        return None
    networks = scannable_networks(occasion.inventory)
    return Step(StepType.FREE_ADDRESSES, (json_text(networks),)) if networks else None


def scannable_networks(inventory: Inventory) -> list[str]:
    """The host's IPv4 networks that are small enough to be scanned."""
    found = {network_around(address) for interface in inventory.interfaces for address in interface.ipv4}
    return sorted(
        network[0]
        for network in found
        if network is not None and network[1] == 4 and int(network[0].rpartition("/")[2]) >= SHORTEST_PREFIX
    )


def dhcp_lease(occasion: Occasion) -> Step | None:
    cluster, inventory = occasion.cluster, occasion.inventory
    if cluster is None or inventory is None or not cluster.vip_dhcp_allocation or not cluster.machine_networks:
        return None
    names = interfaces_inside(inventory, network=cluster.machine_networks[0])
    if not names:
        return None
    request = {
        "interface": names[0],
        "api_vip_mac": vip_mac(cluster.id, name="api"),
        "ingress_vip_mac": vip_mac(cluster.id, name="ingress"),
        "api_vip_lease": cluster.vip_leases[0],
        "ingress_vip_lease": cluster.vip_leases[1],
    }
    return Step(StepType.DHCP_LEASE, (json_text(request),))


def interfaces_inside(inventory: Inventory, *, network: str) -> list[str]:
    """Names of the interfaces with an address in `network`."""
    wanted = network_around(network)
    return [
        interface.name
        for interface in inventory.interfaces
        if wanted is not None and any(lies_in(address, network=wanted) for address in interface.addresses)
    ]


def lies_in(address: str, *, network: tuple[str, int, int, int]) -> bool:
    number = number_of_address(address)
    return number is not None and number[0] == network[1] and number[1] & network[3] == network[2]


def api_vip(occasion: Occasion) -> Step | None:
    if occasion.cluster is None:
        return None
    source = ignition_source(occasion.cluster, occasion.host)
    if source is None:
        return None
    token = occasion.inputs.ignition_tokens.get(occasion.host.id, "")
    headers = [{"key": "Authorization", "value": f"Bearer {token}"}] if token else []
    headers += [{"key": header.key, "value": header.value} for header in occasion.host.ignition_endpoint_headers]
    request: dict[str, object] = {"url": source.url, "request_headers": headers}
    if source.ca_certificate:
        request["ca_certificate"] = source.ca_certificate
    if token:
        request["ignition_endpoint_token"] = token
    return Step(StepType.API_VIP, (json_text(request),))


def tang(occasion: Occasion) -> Step | None:
    if occasion.host.is_day_two:
        reply = occasion.member.reports.api_vip
        servers = tang_servers_in(reply.ignition) if reply is not None and reply.success else ""
    else:
        servers = _tang_servers_of(occasion.cluster, occasion.host.effective_role)
    return Step(StepType.TANG, (json_text({"tang_servers": servers}),)) if servers else None


def _tang_servers_of(cluster: Cluster | None, role: HostRole) -> str:
    if cluster is None or cluster.disk_encryption.mode is not EncryptionMode.TANG:
        return ""
    chosen = cluster.disk_encryption.enable_on
    covered = chosen == "all" or ROLE_WORDS.get(role) in chosen.split(",")
    return cluster.disk_encryption.tang_servers if covered else ""


def ntp(occasion: Occasion) -> Step:
    return Step(StepType.NTP, (json_text({"ntp_source": _ntp_sources(occasion)}),))


def _ntp_sources(occasion: Occasion) -> str:
    if occasion.state is None:
        return _sources_of(occasion.infra_env) if occasion.infra_env is not None else ""
    cluster = occasion.state.cluster
    if cluster.ntp_sources or cluster.additional_ntp_source:
        return cluster.ntp_sources or cluster.additional_ntp_source
    infra_envs = sorted(occasion.state.infra_envs.values(), key=lambda infra_env: infra_env.id)
    lists = [_sources_of(infra_env).split(",") for infra_env in infra_envs]
    return ",".join(dict.fromkeys(source.strip() for sources in lists for source in sources if source.strip()))


def _sources_of(infra_env: InfraEnv) -> str:
    return infra_env.ntp_sources or infra_env.additional_ntp_sources


def disk_speed(occasion: Occasion) -> Step | None:
    inventory, host = occasion.inventory, occasion.host
    device = boot_device_of(host)
    if inventory is None or inventory.boot.device_type == "persistent" or not device:
        return None
    if device in (occasion.member.reports.disk_speeds or {}) or saves_partitions(host.installer_args):
        return None
    seconds = occasion.policy.timeouts.disk_check.total_seconds()
    return Step(StepType.DISK_SPEED, (json_text({"path": device}), f"{seconds:.2f}"))


def saves_partitions(installer_args: tuple[str, ...]) -> bool:
    """Whether something on the installation disk is to survive: then nothing may write to it beforehand."""
    return any(argument.startswith(SAVING_PARTITIONS) for argument in installer_args)


def image_availability(occasion: Occasion) -> Step | None:
    if occasion.cluster is None:
        return None
    release = occasion.inputs.release
    wanted = (
        occasion.cluster.release_image,
        release.mco_image,
        release.must_gather_images.get("ocp", ""),
        occasion.policy.installer_image,
    )
    reported = occasion.member.reports.images or {}
    images = list(dict.fromkeys(image for image in wanted if image and image not in reported))
    if not images:
        return None
    seconds = int(occasion.policy.timeouts.image_availability.total_seconds())
    return Step(StepType.IMAGE_AVAILABILITY, (json_text({"images": images, "timeout": seconds}),))


def domain_resolution(occasion: Occasion) -> Step | None:
    cluster = occasion.cluster
    if cluster is None or not cluster.name or not cluster.base_dns_domain:
        return None
    domain = f"{cluster.name}.{cluster.base_dns_domain}"
    names = [
        f"api.{domain}",
        f"api-int.{domain}",
        f"console-openshift-console.apps.{domain}",
        # With and without the final dot: a search domain answers only for the second.
        f"validateNoWildcardDNS.{domain}.",
        f"validateNoWildcardDNS.{domain}",
    ]
    registry = registry_host(cluster.release_image)
    if not cluster.is_day_two and registry and not _is_address(registry):
        names.append(registry)
    request = {"domains": [{"domain_name": name} for name in names]}
    return Step(StepType.DOMAIN_RESOLUTION, (json_text(request),))


def registry_host(image: str) -> str:
    """The registry's name without its port; an IPv6 address loses its brackets."""
    registry = image.partition("/")[0]
    if registry.startswith("["):
        return registry[1:].partition("]")[0]
    return registry.partition(":")[0]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def verify_vips(occasion: Occasion) -> Step | None:
    cluster = occasion.cluster
    if cluster is None:
        return None
    vips = [{"vip": vip, "vip_type": "api"} for vip in cluster.api_vips]
    vips += [{"vip": vip, "vip_type": "ingress"} for vip in cluster.ingress_vips]
    return Step(StepType.VERIFY_VIPS, (json_text(vips),)) if vips else None
