"""An agent calls home: for the first time, or again."""

from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.decision import Change, Decision, prepare
from firstlight.core.errors import Conflict, Invalid
from firstlight.core.events.host import HostRegistered
from firstlight.core.hosts import texts
from firstlight.core.hosts.moves import request
from firstlight.core.hosts.resets import PREPARED_DROPS, REGISTER_DROPS
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.transitions import WRONG_BOOT_ORDER
from firstlight.core.hosts.triggers import HostTrigger, Identity
from firstlight.core.model.cluster import Cluster, Preparation
from firstlight.core.model.cluster_status import UPDATABLE, ClusterStatus, PreparationStatus
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import NO_REPORTS, Reports

RESTARTED_WHILE_PREPARED = "G2"
FRESH_ROWS = frozenset({"G3", "G5", "G7b", "G11"})


def register_new(
    host_id: UUID, *, infra_env: InfraEnv, cluster: Cluster | None, now: datetime, user_name: str = ""
) -> Decision:
    """A machine nobody has seen before."""
    refuse_disconnected(infra_env)
    if cluster is not None and is_closed(cluster):
        raise Conflict(_closed(cluster), code="cluster-closed")
    host = Host(
        id=host_id,
        infra_env_id=infra_env.id,
        cluster_id=infra_env.cluster_id if cluster is not None else None,
        kind=HostKind.HOST,
        status=HostStatus.DISCOVERING_UNBOUND if cluster is None else HostStatus.DISCOVERING,
        status_info=texts.WAITING_FOR_HARDWARE,
        status_updated_at=now,
        created_at=now,
        updated_at=now,
        registered_at=now,
        user_name=user_name,
    )
    host = _with_place(host, cluster)
    return Decision(hosts={(infra_env.id, host_id): host}, changes=(_registered(host, NO_REPORTS),))


def _with_place(host: Host, cluster: Cluster | None) -> Host:
    """What the kind of cluster decides about a new host."""
    if cluster is None:
        return host
    if cluster.is_day_two:
        return replace(
            host,
            kind=HostKind.DAY_TWO,
            role=HostRole.WORKER,
            suggested_role=HostRole.WORKER,
            machine_config_pool_name=HostRole.WORKER.value,
        )
    if cluster.is_single_node:
        return replace(host, role=HostRole.MASTER, suggested_role=HostRole.MASTER, bootstrap=True)
    return host


def is_closed(cluster: Cluster) -> bool:
    """Whether it takes no hosts that it does not know."""
    return cluster.status not in UPDATABLE


def _closed(cluster: Cluster) -> str:
    if cluster.status is ClusterStatus.INSTALLED:
        return (
            f"Cluster {cluster.name} is installed and takes no further hosts. Switch it to adding hosts, "
            "or boot this machine from its disk."
        )
    return f"Cluster {cluster.name} is {cluster.status} and takes no further hosts in this state."


def refuse_disconnected(infra_env: InfraEnv) -> None:
    if infra_env.image_type == "disconnected-iso":
        raise Invalid(f"Infra-env {infra_env.name} makes disconnected images; their hosts do not register here.")


def register_again(
    known: HostState, *, infra_env: InfraEnv, cluster: Cluster | None, policy: Policy, now: datetime
) -> Decision:
    """A machine that was here before; it may be other hardware by now."""
    refuse_disconnected(infra_env)
    host = known.host
    if host.status is HostStatus.INSTALLED:
        raise Conflict(
            f"Host {host.id} is installed but booted the discovery image again; it is ignored. "
            "Correct its boot order so that it boots from its disk.",
            code="already-installed",
        )
    situation = HostSituation(host=host, reports=known.reports, cluster=cluster, policy=policy, now=now)
    try:
        move = request(HostTrigger.REGISTER, situation)
    except Conflict as refusal:
        # The agent of the original stops asking after a 409, but this host may be welcome again later.
        raise Invalid(str(refusal), code=refusal.code) from None
    if move.row == WRONG_BOOT_ORDER and host.status is HostStatus.INSTALLING_PENDING_USER_ACTION:
        raise Invalid(
            f"Host {host.id} must boot from its installation disk {texts.installation_disk(host)}, not from the "
            "discovery image. Correct its boot order.",
            code="wrong-boot-order",
        )
    key = (infra_env.id, host.id)
    after = replace(move.host, registered_at=now, updated_at=now)
    if move.row in FRESH_ROWS:
        after = _with_kind(after, cluster)
    drops = {RESTARTED_WHILE_PREPARED: PREPARED_DROPS, **dict.fromkeys(FRESH_ROWS, REGISTER_DROPS)}.get(move.row)
    voided = _voided(cluster) if cluster is not None and move.row == RESTARTED_WHILE_PREPARED else None
    return Decision(
        cluster=voided,
        hosts={key: after},
        dropped_reports={} if drops is None else {key: drops},
        changes=(_registered(after, known.reports), *move.changes),
        effects=() if voided is None else (prepare(voided),),
        taken=(move.taken,),
    )


def _voided(cluster: Cluster) -> Cluster:
    """Files were made for the host as it was; they are made again."""
    preparation = Preparation(
        status=PreparationStatus.NOT_STARTED,
        reason="A host restarted during preparation",
        attempt=cluster.preparation.attempt + 1,
    )
    return replace(cluster, preparation=preparation)


def _with_kind(host: Host, cluster: Cluster | None) -> Host:
    """A host bound from the pool learns its kind and place when it comes back."""
    if cluster is not None and (cluster.is_day_two or cluster.is_single_node) and host.role is HostRole.AUTO_ASSIGN:
        return _with_place(host, cluster)
    if cluster is not None and cluster.is_single_node:
        return replace(host, bootstrap=True)
    return host


def _registered(host: Host, reports: Reports) -> Change:
    who = Identity(host, reports)
    return Change(
        event=HostRegistered(
            host_id=who.host_id, infra_env_id=who.infra_env_id, cluster_id=who.cluster_id, host_name=who.host_name
        ),
        after={"status": host.status.value},
    )
