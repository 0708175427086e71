"""What an agent answers to each measuring step: the truth about the simulated site.

Arguments arrive as JSON text in a list, answers leave as JSON text, exactly as on real machines.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from firstlight.core import wire
from firstlight.simulate.inventory import NIC, inventory_text
from firstlight.simulate.machines import Machine
from firstlight.simulate.networks import Network
from firstlight.simulate.site import Site

T = TypeVar("T")

BAD_ARGUMENTS: Final = -1
PULL_FAILED: Final = 2
IMAGE_BYTES: Final = 420_000_000
IMAGE_SECONDS: Final = 9.5
NETWORK_FORM: Final = 22
"""Larger networks than this prefix are scanned in pieces of it."""

_ENCODE: Final = msgspec.json.Encoder().encode


class Outcome(Struct, frozen=True, kw_only=True):
    """How a step ended."""

    output: str = ""
    exit_code: int = 0
    error: str = ""


Action = Callable[[Machine, Site, Sequence[str]], Outcome]


def run(kind: str, machine: Machine, site: Site, args: Sequence[str]) -> Outcome:
    """The outcome of one step; unreadable arguments are an outcome as well."""
    action = ACTIONS.get(kind)
    if action is None:
        return Outcome(exit_code=BAD_ARGUMENTS, error=f"failed to find action for step type {kind}")
    try:
        return action(machine, site, args)
    except (msgspec.DecodeError, ValueError, IndexError) as error:
        return Outcome(exit_code=BAD_ARGUMENTS, error=f"cannot read the arguments of {kind}: {error}")


def read(type_: type[T], args: Sequence[str]) -> T:
    return msgspec.json.decode(args[0], type=type_)


def told(document: object) -> Outcome:
    return Outcome(output=_ENCODE(document).decode())


def inventory(machine: Machine, _: Site, args: Sequence[str]) -> Outcome:
    if args[0] != str(machine.id):
        raise ValueError(f"host {args[0]} is not this one")
    return Outcome(output=inventory_text(machine))


def connectivity(machine: Machine, site: Site, args: Sequence[str]) -> Outcome:
    asked = read(tuple[wire.ConnectivityCheckHost, ...], args)
    peers = sorted(asked, key=lambda peer: str(peer.host_id))
    return told(wire.ConnectivityReport(remote_hosts=tuple(_peer(machine, site, peer) for peer in peers)))


def _peer(machine: Machine, site: Site, peer: wire.ConnectivityCheckHost) -> wire.ConnectivityRemoteHost:
    addresses = sorted(address.partition("/")[0] for nic in peer.nics for address in nic.ip_addresses)
    near: list[wire.L2Connectivity] = []
    pings: list[wire.L3Connectivity] = []
    for address in addresses:
        owner = site.by_address.get(address)
        if owner is None or not site.reaches(machine.id, owner.id):
            pings.append(wire.L3Connectivity(remote_ip_address=address))
            continue
        pings.append(wire.L3Connectivity(remote_ip_address=address, successful=True, average_rtt_ms=site.rtt_ms()))
        if machine.network.contains(address):
            near.append(
                wire.L2Connectivity(
                    outgoing_nic=NIC,
                    outgoing_ip_address=machine.address,
                    remote_ip_address=address,
                    remote_mac=owner.mac,
                    successful=any(nic.mac.lower() == owner.mac for nic in peer.nics),
                )
            )
    return wire.ConnectivityRemoteHost(
        host_id=peer.host_id, l2_connectivity=tuple(near), l3_connectivity=tuple(pings), mtu_report=()
    )


def free_addresses(_: Machine, site: Site, args: Sequence[str]) -> Outcome:
    networks = read(tuple[str, ...], args)
    if any(Network(cidr).prefix < NETWORK_FORM for cidr in networks):
        raise ValueError("a network is too large to be scanned")
    return told(
        [wire.FreeNetworkAddresses(network=cidr, free_addresses=site.free_addresses(cidr)) for cidr in networks]
    )


def dhcp_lease(machine: Machine, _: Site, args: Sequence[str]) -> Outcome:
    request = read(wire.DhcpAllocationRequest, args)
    if request.interface != NIC:
        return Outcome(exit_code=BAD_ARGUMENTS, error=f"there is no interface {request.interface}")
    api, ingress = machine.network.leased_vips
    return told(
        wire.DhcpAllocationResponse(
            api_vip_address=api,
            ingress_vip_address=ingress,
            api_vip_lease=_lease("api", api),
            ingress_vip_lease=_lease("ingress", ingress),
        )
    )


def _lease(interface: str, address: str) -> str:
    return (
        f'lease {{\n  interface "{interface}";\n  fixed-address {address};\n'
        "  option subnet-mask 255.255.255.0;\n  renew never;\n  rebind never;\n  expire never;\n}"
    )


def worker_ignition(_: Machine, site: Site, args: Sequence[str]) -> Outcome:
    """Day 2: whether the running cluster hands out its worker Ignition."""
    request = read(wire.ApiVipConnectivityRequest, args)
    if not site.serves_worker_ignition:
        failure = f"Get {request.url}: connection refused"
        return told(wire.ApiVipConnectivityResponse(url=request.url, download_error=failure))
    ignition = _ENCODE({"ignition": {"version": "3.2.0"}, "storage": {"files": [_MANAGED_NAMES]}}).decode()
    return told(wire.ApiVipConnectivityResponse(is_success=True, url=request.url, ignition=ignition))


# A cluster with managed names: its nodes run their own DNS, so day-2 hosts need none.
_MANAGED_NAMES: Final = {
    "path": "/etc/kubernetes/manifests/coredns.yaml",
    "mode": 420,
    "contents": {"source": "data:,kind%3A%20Pod"},
}


class _TangServer(Struct):
    url: str = ""


def tang(_: Machine, __: Site, args: Sequence[str]) -> Outcome:
    request = read(wire.TangConnectivityRequest, args)
    servers = msgspec.json.decode(request.tang_servers, type=tuple[_TangServer, ...])
    answers = tuple(
        wire.TangServerResponse(
            tang_url=server.url,
            payload="eyJrZXlzIjpbXX0",
            signatures=(wire.TangServerSignature(protected="eyJhbGciOiJFUzUxMiJ9", signature="c2ln"),),
        )
        for server in servers
    )
    return told(wire.TangConnectivityResponse(is_success=True, tang_server_response=answers))


def ntp(machine: Machine, site: Site, args: Sequence[str]) -> Outcome:
    request = read(wire.NtpSynchronizationRequest, args)
    names = [name.strip() for name in request.ntp_source.split(",") if name.strip()] or [site.network.ntp_server]
    first, others = ("synced", "not_combined") if machine.reaches_ntp else ("unreachable", "unreachable")
    sources = tuple(
        wire.NtpSource(source_name=name, source_state=others if place else first) for place, name in enumerate(names)
    )
    return told(wire.NtpSynchronizationResponse(ntp_sources=sources))


def disk_speed(machine: Machine, _: Site, args: Sequence[str]) -> Outcome:
    request = read(wire.DiskSpeedCheckRequest, args)
    disk = next((disk for disk in machine.disks if request.path in _paths(disk.name, disk.wwn)), None)
    if disk is None:
        return Outcome(exit_code=255, error=f"fio: cannot open {request.path}: No such file or directory")
    return told(wire.DiskSpeedCheckResponse(io_sync_duration=disk.sync_ms, path=request.path))


def _paths(name: str, wwn: str) -> tuple[str, str]:
    return (f"/dev/{name}", f"/dev/disk/by-id/wwn-{wwn}")


def image_availability(_: Machine, site: Site, args: Sequence[str]) -> Outcome:
    request = read(wire.ContainerImageAvailabilityRequest, args)
    images = tuple(_pulled(name, site) for name in request.images)
    failed = [image.name for image in images if image.result != "success"]
    output = _ENCODE(wire.ContainerImageAvailabilityResponse(images=images)).decode()
    error = f"failed to pull {', '.join(failed)}" if failed else ""
    return Outcome(output=output, exit_code=PULL_FAILED if failed else 0, error=error)


def _pulled(name: str, site: Site) -> wire.ContainerImageAvailability:
    if name in site.missing_images:
        return wire.ContainerImageAvailability(name=name, result="failure")
    return wire.ContainerImageAvailability(
        name=name,
        result="success",
        size_bytes=IMAGE_BYTES,
        time=IMAGE_SECONDS,
        download_rate=IMAGE_BYTES / 1e6 / IMAGE_SECONDS,
    )


def domain_resolution(_: Machine, site: Site, args: Sequence[str]) -> Outcome:
    request = read(wire.DomainResolutionRequest, args)
    return told(
        wire.DomainResolutionResponse(
            resolutions=tuple(
                wire.DomainResolution(
                    domain_name=domain.domain_name,
                    ipv4_addresses=site.resolve(domain.domain_name),
                    ipv6_addresses=(),
                    cnames=(),
                )
                for domain in request.domains
            )
        )
    )


def verify_vips(_: Machine, site: Site, args: Sequence[str]) -> Outcome:
    asked = read(tuple[wire.VerifyVip, ...], args)
    return told(
        [
            wire.VerifiedVip(
                vip=vip.vip,
                vip_type=vip.vip_type,
                verification="failed" if site.is_up(vip.vip) or vip.vip_type in site.taken_vip_types else "succeeded",
            )
            for vip in asked
        ]
    )


def upgrade_agent(_: Machine, __: Site, args: Sequence[str]) -> Outcome:
    request = read(wire.UpgradeAgentRequest, args)
    return told(wire.UpgradeAgentResponse(agent_image=request.agent_image, result="success"))


def download_boot_artifacts(_: Machine, __: Site, args: Sequence[str]) -> Outcome:
    read(wire.DownloadBootArtifactsRequest, args)
    return Outcome(output="the boot artifacts are in place")


def nothing_to_tell(_: Machine, __: Site, ___: Sequence[str]) -> Outcome:
    return Outcome()


ACTIONS: Final[Mapping[str, Action]] = {
    "inventory": inventory,
    "connectivity-check": connectivity,
    "free-network-addresses": free_addresses,
    "dhcp-lease-allocate": dhcp_lease,
    "api-vip-connectivity-check": worker_ignition,
    "tang-connectivity-check": tang,
    "ntp-synchronizer": ntp,
    "installation-disk-speed-check": disk_speed,
    "container-image-availability": image_availability,
    "domain-resolution": domain_resolution,
    "verify-vips": verify_vips,
    "upgrade-agent": upgrade_agent,
    "download-boot-artifacts": download_boot_artifacts,
    "reboot-for-reclaim": nothing_to_tell,
    "stop-installation": nothing_to_tell,
}

SECONDS: Final[Mapping[str, float]] = {"installation-disk-speed-check": 8.0, "container-image-availability": 30.0}
"""Steps that take their time; until one of them ended, asking again for it brings an empty answer."""
