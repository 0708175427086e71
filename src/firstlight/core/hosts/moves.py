"""Taking a row of a host table: the new record, and what to tell about it."""

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.decision import Change, Taken
from firstlight.core.errors import Conflict
from firstlight.core.events.host import HostStatusUpdated
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.texts import cut
from firstlight.core.hosts.transitions import TRANSITIONS
from firstlight.core.hosts.triggers import HostRow, HostTrigger, Identity
from firstlight.core.machine import NoTransition, step
from firstlight.core.model.host import Host
from firstlight.core.model.reports import Reports


class HostMove(Struct, frozen=True, kw_only=True):
    host: Host
    changes: tuple[Change, ...] = ()
    taken: Taken
    row: str


def take(row: HostRow, facts: HostSituation) -> HostMove:
    before = facts.host
    host = before if row.apply is None else row.apply(facts)
    target = before.status if row.target is None else row.target
    info = before.status_info if row.info is None else cut(row.info(facts))
    if target is not before.status:
        host = replace(host, status=target, status_info=info, status_updated_at=facts.now, updated_at=facts.now)
    elif info != before.status_info:
        host = replace(host, status_info=info, updated_at=facts.now)
    changes = [Change(event=event) for event in (row.tell(facts) if row.tell is not None else ())]
    if target is not before.status:
        changes.insert(0, status_change(before, host, facts.reports))
    taken = Taken(subject=str(host.id), row=row.id, source=before.status, target=target, why=row.why)
    return HostMove(host=host, changes=tuple(changes), taken=taken, row=row.id)


def status_change(before: Host, after: Host, reports: Reports) -> Change:
    who = Identity(before, reports)
    return Change(
        event=HostStatusUpdated(
            host_id=who.host_id,
            infra_env_id=who.infra_env_id,
            cluster_id=after.cluster_id or before.cluster_id,
            host_name=who.host_name,
            src_status=before.status,
            new_status=after.status,
            info=after.status_info,
        ),
        before={"status": before.status.value, "status_info": before.status_info},
        after={"status": after.status.value, "status_info": after.status_info},
    )


def request(trigger: HostTrigger, facts: HostSituation) -> HostMove:
    """What a request does to this host; raises Conflict where its state forbids it."""
    try:
        row = step(TRANSITIONS, facts.host.status, trigger, facts)
    except NoTransition:
        raise Conflict(
            f"Host {facts.host.id} is {facts.host.status}; it cannot {trigger} in this state.", code="wrong-state"
        ) from None
    return take(row, facts)
