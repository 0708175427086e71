"""What the guards of the cluster tables look at, and the guards themselves."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from firstlight.core.clusters import headcount, retrying
from firstlight.core.clusters.progress import is_settled
from firstlight.core.clusters.rules.blocking import INPUTS, VIPS
from firstlight.core.machine import Guard, all_of, any_of, not_
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import OperatorKind, OperatorStatus, PreparationStatus
from firstlight.core.model.host import Host, HostState, hostname_of
from firstlight.core.model.host_status import HostStatus, LogsState
from firstlight.core.model.policy import FinalizingLimit, Policy
from firstlight.core.rules import Finding

S = HostStatus


class ClusterSituation:
    """One cluster at one moment, with what its table may ask about. Counts are made once, when first asked for."""

    def __init__(
        self,
        *,
        cluster: Cluster,
        hosts: Sequence[HostState],
        policy: Policy,
        now: datetime,
        findings: tuple[Finding, ...] = (),
        holds: frozenset[str] = frozenset(),
        required: frozenset[str] = frozenset(),
        listening_since: datetime | None = None,
    ) -> None:
        self.cluster = cluster
        self._states = hosts
        self.hosts = tuple(state.host for state in hosts)
        self.policy = policy
        self.now = now
        self.findings = findings
        self.holds = holds
        self.required = required
        self.listening_since = listening_since

    def names_of(self, concerned: Callable[[Host], bool]) -> str:
        """Hosts as people know them, for a sentence; empty when it concerns nobody."""
        return ", ".join(
            sorted(hostname_of(state.host, state.reports) for state in self._states if concerned(state.host))
        )

    @cached_property
    def host_statuses(self) -> frozenset[HostStatus]:
        return frozenset(host.status for host in self.hosts)

    @cached_property
    def installing_ok(self) -> bool:
        return headcount.enough(self.cluster, self.hosts, headcount.STILL_INSTALLING, status_of=headcount.coming_or_own)

    @cached_property
    def finalizing_ok(self) -> bool:
        return headcount.enough(self.cluster, self.hosts, headcount.INSTALLED)

    @cached_property
    def may_go_on(self) -> bool:
        return retrying.may_go_on(self.cluster, self.hosts)

    @property
    def soft(self) -> bool:
        return self.policy.soft_timeouts and self.cluster.soft_timeouts

    @property
    def finalizing_limit(self) -> FinalizingLimit | None:
        stage = self.cluster.progress.finalizing_stage
        if stage is None:
            return None
        limit = self.policy.timeouts.finalizing_stages[stage]
        if not stage.value.lower().startswith("waiting for olm"):
            return limit
        slowest = timedelta(
            seconds=max((op.timeout_seconds for op in self.cluster.operators if op.kind is OperatorKind.OLM), default=0)
        )
        return FinalizingLimit(hard=max(limit.hard, slowest), soft=max(limit.soft, slowest), fails=limit.fails)


ClusterGuard = Guard[ClusterSituation]


def passed_at(name: str, moment: Callable[[ClusterSituation], datetime | None]) -> ClusterGuard:
    """True from the given moment on; never when there is none."""

    def postponed(facts: ClusterSituation) -> datetime | None:
        at = moment(facts)
        if at is None or facts.listening_since is None:
            return at
        return max(at, facts.listening_since)

    def test(facts: ClusterSituation) -> bool:
        at = postponed(facts)
        return at is not None and facts.now >= at

    def moments(facts: ClusterSituation) -> tuple[datetime, ...]:
        at = postponed(facts)
        return () if at is None else (at,)

    return Guard(name, test, moments)


def in_status_longer_than(limit: Callable[[Policy], timedelta]) -> ClusterGuard:
    return passed_at("too long in this status", lambda facts: facts.cluster.status_updated_at + limit(facts.policy))


dhcp: ClusterGuard = Guard("VIPs by DHCP", lambda facts: facts.cluster.vip_dhcp_allocation)
vips_defined: ClusterGuard = Guard("VIPs defined", lambda facts: facts.holds >= VIPS)
inputs_given: ClusterGuard = Guard("inputs given", lambda facts: facts.holds >= INPUTS)
required: ClusterGuard = Guard("requirements hold", lambda facts: facts.required <= facts.holds)


def some_host(*statuses: HostStatus) -> ClusterGuard:
    wanted = frozenset(statuses)
    return Guard(
        "some host " + " / ".join(status.value for status in statuses),
        lambda facts: not facts.host_statuses.isdisjoint(wanted),
    )


def every_host(*statuses: HostStatus) -> ClusterGuard:
    wanted = frozenset(statuses)
    return Guard(
        "every host " + " / ".join(status.value for status in statuses),
        lambda facts: facts.host_statuses <= wanted,
    )


def preparation_is(status: PreparationStatus) -> ClusterGuard:
    return Guard(f"preparation {status.value}", lambda facts: facts.cluster.preparation.status is status)


installing_ok: ClusterGuard = Guard("enough hosts still install", lambda facts: facts.installing_ok)
finalizing_ok: ClusterGuard = Guard("enough hosts are installed", lambda facts: facts.finalizing_ok)
hopeful = any_of(installing_ok, finalizing_ok)


def _patience(facts: ClusterSituation) -> datetime | None:
    """Until when the failure of hosts does not fail the cluster."""
    grace = facts.policy.timeouts.host_retry_grace
    failures = [host.status_updated_at + grace for host in facts.hosts if grace and retrying.failed_itself(host)]
    return max([*failures, *([facts.cluster.retry_until] if facts.cluster.retry_until else [])], default=None)


patient: ClusterGuard = all_of(
    Guard("a retry is possible", lambda facts: facts.may_go_on and _patience(facts) is not None),
    not_(passed_at("nobody tried again", _patience)),
)
hopeful_or_patient = any_of(hopeful, patient)
host_waits_for_user = some_host(S.INSTALLING_PENDING_USER_ACTION)
soft_timeouts: ClusterGuard = Guard("soft time limits", lambda facts: facts.soft)
slowness_told: ClusterGuard = Guard("slowness told", lambda facts: facts.cluster.progress.finalizing_stage_timed_out)
stage_may_fail: ClusterGuard = Guard(
    "stage may fail the cluster",
    lambda facts: facts.finalizing_limit is not None and facts.finalizing_limit.fails,
)


def _installation_limit(facts: ClusterSituation) -> datetime | None:
    started = facts.cluster.install_started_at
    return None if started is None else started + facts.policy.timeouts.installation


def _stage_limit(facts: ClusterSituation) -> datetime | None:
    started, limit = facts.cluster.progress.finalizing_stage_started_at, facts.finalizing_limit
    if started is None or limit is None:
        return None
    return started + (limit.soft if facts.soft else limit.hard)


installation_overdue = passed_at("installation overdue", _installation_limit)
stage_overdue = passed_at("finalizing stage overdue", _stage_limit)


def _operators_settled(facts: ClusterSituation) -> bool:
    return all(map(is_settled, facts.cluster.operators))


complete: ClusterGuard = all_of(
    Guard("kubeconfig complete", lambda facts: facts.cluster.kubeconfig_complete),
    Guard("operators settled", _operators_settled),
)


def _logs_limit(facts: ClusterSituation) -> datetime | None:
    cluster, limits = facts.cluster, facts.policy.timeouts
    if cluster.logs is LogsState.NONE:
        if cluster.controller_logs_collected_at is not None:
            return None
        return cluster.status_updated_at + limits.cluster_logs_pending
    if cluster.logs is LogsState.REQUESTED:
        since = cluster.controller_logs_collected_at or cluster.controller_logs_started_at or cluster.status_updated_at
        return since + limits.cluster_logs_collection
    if cluster.logs is LogsState.COLLECTING:
        return (cluster.controller_logs_collected_at or cluster.status_updated_at) + limits.cluster_logs_collection
    return None


logs_overdue = passed_at("logs overdue", _logs_limit)


def failed_operators(cluster: Cluster) -> tuple[str, ...]:
    return tuple(
        sorted(
            operator.name
            for operator in cluster.operators
            if operator.kind is OperatorKind.OLM and operator.status is OperatorStatus.FAILED
        )
    )
