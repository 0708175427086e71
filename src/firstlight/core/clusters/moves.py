"""Taking a row of a cluster table: the new record, and what to tell about it."""

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.clusters.situation import ClusterSituation
from firstlight.core.clusters.transitions import ENDED, TRANSITIONS, ClusterRow, ClusterTrigger
from firstlight.core.decision import Change, Taken
from firstlight.core.errors import Conflict
from firstlight.core.events.cluster import ClusterStatusUpdated
from firstlight.core.machine import NoTransition, step
from firstlight.core.model.cluster import Cluster


class ClusterMove(Struct, frozen=True, kw_only=True):
    cluster: Cluster
    changes: tuple[Change, ...] = ()
    taken: Taken
    row: str


def take(row: ClusterRow, facts: ClusterSituation) -> ClusterMove:
    before = facts.cluster
    cluster = before if row.apply is None else row.apply(facts)
    target = before.status if row.target is None else row.target
    info = before.status_info if row.info is None else row.info(facts)
    changes = [Change(event=event) for event in (row.tell(facts) if row.tell is not None else ())]
    if target is not before.status:
        cluster = replace(
            cluster,
            status=target,
            status_info=info,
            status_updated_at=facts.now,
            updated_at=facts.now,
            install_completed_at=facts.now if target in ENDED else cluster.install_completed_at,
        )
        changes.insert(0, status_change(before, cluster))
    elif info != before.status_info:
        cluster = replace(cluster, status_info=info, updated_at=facts.now)
    taken = Taken(subject=str(cluster.id), row=row.id, source=before.status, target=target, why=row.why)
    return ClusterMove(cluster=cluster, changes=tuple(changes), taken=taken, row=row.id)


def status_change(before: Cluster, after: Cluster) -> Change:
    return Change(
        event=ClusterStatusUpdated(cluster_id=after.id, cluster_status=after.status, status_info=after.status_info),
        before={"status": before.status.value, "status_info": before.status_info},
        after={"status": after.status.value, "status_info": after.status_info},
    )


def request(trigger: ClusterTrigger, facts: ClusterSituation) -> ClusterMove:
    """What a request does to this cluster; raises Conflict where its state forbids it."""
    try:
        row = step(TRANSITIONS, facts.cluster.status, trigger, facts)
    except NoTransition:
        raise Conflict(
            f"Cluster {facts.cluster.name} is {facts.cluster.status}; it cannot {trigger} in this state.",
            code="wrong-state",
        ) from None
    return take(row, facts)
