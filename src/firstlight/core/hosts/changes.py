"""What a user changes about a host before it is installed: role, name, disks, labels and the like."""

from datetime import datetime

from msgspec.structs import replace

from firstlight.core.decision import Change, Decision
from firstlight.core.errors import Conflict
from firstlight.core.events.host import InstallerArgsApplied
from firstlight.core.events.own import HostChanged
from firstlight.core.events.telling import told
from firstlight.core.hosts.triggers import Identity
from firstlight.core.hosts.wishes import (
    HostWish,
    check_fencing,
    check_headers,
    check_labels,
    check_pool_name,
    with_installation_disk,
    with_kept_disks,
    with_role,
)
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.host_status import EDITABLE
from firstlight.core.model.inventory import Disk
from firstlight.core.model.policy import Policy
from firstlight.core.validate.arguments import check_installer_arguments
from firstlight.core.validate.names import check_host_name


def update_host(
    state: HostState, wish: HostWish, *, cluster: Cluster | None, policy: Policy, now: datetime
) -> Decision:
    """All of the wish, or a refusal that says what is wrong with it."""
    if wish.is_empty:
        return Decision()
    host = state.host
    _require_editable(host)
    after = host
    if wish.role is not None:
        after = with_role(after, wish.role, cluster=cluster, policy=policy)
    if wish.name is not None:
        after = replace(after, requested_hostname=check_host_name(wish.name))
    if wish.disks is not None:
        after = with_installation_disk(after, wish.disks, disks=_disks(state))
    if wish.skip_formatting is not None:
        after = with_kept_disks(after, wish.skip_formatting, disks=_disks(state))
    if wish.machine_config_pool_name is not None:
        after = replace(after, machine_config_pool_name=check_pool_name(wish.machine_config_pool_name))
    if wish.ignition_endpoint_token is not None:
        after = replace(after, ignition_endpoint_token_set=bool(wish.ignition_endpoint_token))
    if wish.ignition_endpoint_headers is not None:
        after = replace(after, ignition_endpoint_headers=check_headers(wish.ignition_endpoint_headers))
    if wish.node_labels is not None:
        after = replace(after, node_labels=check_labels(wish.node_labels))
    if wish.fencing is not None:
        after = replace(after, fencing=check_fencing(wish.fencing, cluster=cluster, policy=policy))
    return changed(state, after, now=now, also=("ignition_endpoint_token",) if wish.ignition_endpoint_token else ())


def _disks(state: HostState) -> tuple[Disk, ...]:
    inventory = state.reports.inventory
    return () if inventory is None else inventory.disks


def set_installer_arguments(state: HostState, arguments: tuple[str, ...], *, now: datetime) -> Decision:
    """Extra arguments of the disk installer; an empty list removes them."""
    _require_editable(state.host)
    checked = check_installer_arguments(arguments)
    if checked == state.host.installer_args:
        return Decision()
    who = Identity(state.host, state.reports)
    event = InstallerArgsApplied(
        host_id=who.host_id, infra_env_id=who.infra_env_id, cluster_id=who.cluster_id, host_name=who.host_name
    )
    change = Change(
        event=event,
        before={"installer_args": list(state.host.installer_args)},
        after={"installer_args": list(checked)},
    )
    after = replace(state.host, installer_args=checked, updated_at=now)
    return Decision(hosts={(after.infra_env_id, after.id): after}, changes=(change,))


def _require_editable(host: Host) -> None:
    if host.status not in EDITABLE:
        raise Conflict(
            f"Host {host.id} is {host.status} and cannot be changed in this state. Hosts can be changed before their "
            "installation begins.",
            code="wrong-state",
        )


def changed(state: HostState, after: Host, *, now: datetime, also: tuple[str, ...] = ()) -> Decision:
    """The record as it is wanted, with one event that tells which fields differ; nothing when none does.

    `also` names what changed outside of the record.
    """
    before = state.host
    fields = [name for name in Host.__struct_fields__ if getattr(before, name) != getattr(after, name)]
    if not fields and not also:
        return Decision()
    named = sorted({*fields, *also})
    who = Identity(after, state.reports)
    event = HostChanged(
        host_id=who.host_id,
        infra_env_id=who.infra_env_id,
        cluster_id=who.cluster_id,
        host_name=who.host_name,
        fields=", ".join(named),
    )
    change = Change(
        event=event,
        before=told({name: _value(before, name) for name in fields}),
        after=told({name: _value(after, name) for name in fields}),
    )
    after = replace(after, updated_at=now)
    return Decision(hosts={(after.infra_env_id, after.id): after}, changes=(change,))


def _value(host: Host, name: str) -> object:
    """Headers may carry tokens: only their names are told."""
    if name == "ignition_endpoint_headers":
        return [header.key for header in host.ignition_endpoint_headers]
    value: object = getattr(host, name)
    return value
