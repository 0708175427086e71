"""Hosts that pass every check, alone and with what their agents measured."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.model.host import Host, HostState, Presence
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import Connectivity, NtpSource, ReportKind, Reports, Resolution
from tests.builders.inventories import NETWORK, a_disk, an_inventory
from tests.builders.moments import CLUSTER_ID, EARLIER, INFRA_ENV_ID, NOW, host_id


def a_host(number: int = 1, **changes: Any) -> Host:
    """A host of the cluster that the service means to make a control-plane node."""
    disk = a_disk()
    host = Host(
        id=host_id(number),
        infra_env_id=INFRA_ENV_ID,
        cluster_id=CLUSTER_ID,
        status=HostStatus.KNOWN,
        status_updated_at=EARLIER,
        created_at=EARLIER,
        updated_at=EARLIER,
        registered_at=EARLIER,
        role=HostRole.AUTO_ASSIGN,
        suggested_role=HostRole.MASTER,
        installation_disk_id=disk.id,
        installation_disk_path=disk.path,
    )
    return replace(host, **changes)


def a_pool_host(number: int = 1, **changes: Any) -> Host:
    """The same machine, bound to no cluster."""
    unbound: dict[str, Any] = {"cluster_id": None, "status": HostStatus.KNOWN_UNBOUND, "suggested_role": None}
    return a_host(number, **(unbound | changes))


def a_presence(**changes: Any) -> Presence:
    presence = Presence(checked_in_at=NOW, clock_offset_seconds=0.0, agent_version=Policy().agent_image)
    return replace(presence, **changes)


def packed(ids: Iterable[UUID]) -> bytes:
    """Peers as a connectivity report keeps them."""
    return b"".join(peer.bytes for peer in sorted(ids))


def a_connectivity(number: int = 1, *, peers: Iterable[int] = (1, 2, 3), **changes: Any) -> Connectivity:
    """Host `number` reaches every other of `peers`."""
    others = packed(host_id(peer) for peer in peers if peer != number)
    return replace(Connectivity(asked=others, layer2={NETWORK: others}, layer3={4: others}), **changes)


def some_domains(domain: str = "east.example.com") -> dict[str, Resolution]:
    """What a well-kept DNS answers: the names of the cluster, and nothing for the wildcard probes."""
    return {
        f"api.{domain}": Resolution(addresses=("192.0.2.5",)),
        f"api-int.{domain}": Resolution(addresses=("192.0.2.5",)),
        f"console-openshift-console.apps.{domain}": Resolution(addresses=("192.0.2.6",)),
        f"validateNoWildcardDNS.{domain}.": Resolution(),
        f"validateNoWildcardDNS.{domain}": Resolution(),
    }


def some_reports(number: int = 1, *, peers: Iterable[int] = (1, 2, 3), **changes: Any) -> Reports:
    reports = Reports(
        inventory=an_inventory(number),
        connectivity=a_connectivity(number, peers=peers),
        ntp=(NtpSource("ntp.example.com", "synced"),),
        domains=some_domains(),
        vips={"192.0.2.5": True, "192.0.2.6": True},
        measured_at=dict.fromkeys(ReportKind, EARLIER),
    )
    return replace(reports, **changes)


def host_state(
    number: int = 1,
    *,
    host: Host | None = None,
    presence: Presence | None = None,
    reports: Reports | None = None,
    peers: Iterable[int] = (1, 2, 3),
    **changes: Any,
) -> HostState:
    """Host `number` of a cluster of `peers`; `changes` go to the host."""
    return HostState(
        host=replace(a_host(number) if host is None else host, **changes),
        presence=a_presence() if presence is None else presence,
        reports=some_reports(number, peers=peers) if reports is None else reports,
    )
