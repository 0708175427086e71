"""A cluster and its hosts: hosts → cluster → hosts until nothing moves."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Final

from msgspec.structs import replace

from firstlight.core.clusters import headcount
from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.clusters.moves import take
from firstlight.core.clusters.progress import progress_of
from firstlight.core.clusters.retrying import may_go_on
from firstlight.core.clusters.rules.blocking import REQUIRED, conditions
from firstlight.core.clusters.rules.book import cluster_rules
from firstlight.core.clusters.situation import ClusterSituation
from firstlight.core.clusters.transitions import REFRESH_TABLE, ClusterTrigger
from firstlight.core.decision import Change, Decision, HostKey, Taken
from firstlight.core.evaluate.context import context_of, read_by_rules
from firstlight.core.evaluate.dealing import suggested_roles
from firstlight.core.evaluate.derived import lease_limit, with_lease_timer, with_networks, with_single_node_vips
from firstlight.core.evaluate.hosts import finding_changes, is_heard, judge_host, silence_of, sooner
from firstlight.core.evaluate.memo import Judged, Memo
from firstlight.core.evaluate.surroundings import Surroundings
from firstlight.core.evaluate.upgrades import upgrade_changes
from firstlight.core.events.cluster import ClusterValidationFailed, ClusterValidationFixed
from firstlight.core.events.host import HostRoleUpdated
from firstlight.core.hosts.facts import HostContext
from firstlight.core.hosts.triggers import Identity
from firstlight.core.machine import moments, step
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import BEFORE_INSTALLATION, ClusterStatus
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.plan import StepPlan
from firstlight.core.operators.rules import operator_cluster_findings
from firstlight.core.roles import key_of
from firstlight.core.rules import Finding, Status
from firstlight.core.steps.due import plan_steps
from firstlight.core.steps.occasion import Neighbourhood, neighbourhood_of

MAX_ROUNDS: Final = 8
JUDGED_IN: Final = BEFORE_INSTALLATION | {ClusterStatus.PREPARING_FOR_INSTALLATION}
"""Statuses in which the cluster's own checks are made; later the last result stands."""
PEERS_IN_PLAN: Final = 50
"""Above, plans only name the list of peers: it is rendered when an agent asks."""
ROLES_DEALT_IN: Final = BEFORE_INSTALLATION | {ClusterStatus.ADDING_HOSTS}
INFORMATIONAL: Final = frozenset({"openshift-ai-gpu-requirements-satisfied"})
"""Operator checks that only inform."""


def evaluate_cluster(state: ClusterState, around: Surroundings, *, memo: Memo | None = None) -> Decision:
    """Everything that follows from the state at this moment. Its own result as input gives nothing."""
    work = _Work(state, around, memo or Memo())
    work.run()
    return work.decision()


class _Work:
    """One evaluation: the state as decided so far, and what to tell about the way there."""

    def __init__(self, state: ClusterState, around: Surroundings, memo: Memo) -> None:
        self.before = state
        self.around = around
        self.memo = memo
        self.cluster = state.cluster
        self.earlier = {key_of(host): host for host in state.hosts}
        self.hosts = dict(self.earlier)
        self.findings = state.findings
        self.changes: list[Change] = []
        self.taken: list[Taken] = []
        self.deadlines: dict[HostKey, datetime | None] = {}
        self.cluster_deadline: datetime | None = None

    @property
    def states(self) -> tuple[HostState, ...]:
        return tuple(self.hosts.values())

    def run(self) -> None:
        for _ in range(MAX_ROUNDS):
            moved = self.derive()
            if self.deal_roles():
                # Roles decide whether masters take workloads: hosts are judged once that is known.
                self.derive()
                moved = True
            moved |= self.judge_hosts()
            moved |= self.judge_cluster()
            if not moved:
                return
        raise RuntimeError(f"cluster {self.cluster.id} does not come to rest")

    def derive(self) -> bool:
        """What is computed rather than decided: networks, groups, role suggestions, percentages."""
        before = self.cluster
        hosts = self.states
        records = tuple(host.host for host in hosts)
        cluster = with_networks(before, hosts, memo=self.memo.connectivity)
        cluster, told = with_lease_timer(cluster, self.around)
        self.changes.extend(told)
        forced = headcount.masters_must_be_schedulable(cluster, records)
        progress = progress_of(cluster, records, self.around.policy)
        if forced != cluster.schedulable_masters_forced or progress != cluster.progress:
            cluster = replace(cluster, schedulable_masters_forced=forced, progress=progress)
        moved = cluster != before
        # An equal cluster stays the same object, so that memos need not look inside it.
        self.cluster = cluster if moved else before
        return moved

    def deal_roles(self) -> bool:
        if not self.around.policy.auto_assign_roles or self.cluster.status not in ROLES_DEALT_IN:
            return False
        context = context_of(self.cluster, self.states, self.around.policy)
        dealt = suggested_roles(self.cluster, self.states, context)
        news = {key: role for key, role in dealt.items() if self.hosts[key].host.suggested_role is not role}
        for key, role in news.items():
            state = self.hosts[key]
            self.hosts[key] = replace(state, host=replace(state.host, suggested_role=role))
            self.changes.append(_role_change(state, role))
        return bool(news)

    def judge_hosts(self) -> bool:
        context = self.memo.shared_context(context_of(self.cluster, self.states, self.around.policy))
        records = tuple(host.host for host in self.hosts.values())
        survives = headcount.enough(self.cluster, records, headcount.INSTALLED)
        goes_on = may_go_on(self.cluster, records)
        moved = False
        for key, state in self.hosts.items():
            silent = silence_of(state, self.around)
            known = self.memo.hosts.get(key)
            heard = is_heard(silent, self.around.now)
            read, guarded = self._read_by_rules(state, context, heard=heard), self._read_by_guards(survives, goes_on)
            same = known is not None and known.read == read
            if known is not None and same and known.guarded == guarded and not self._passed(known.deadline):
                self._remember(key, state, known)
                self.deadlines[key] = sooner(known.deadline, silent, now=self.around.now)
                continue
            judged = judge_host(
                state,
                cluster=self.cluster,
                context=context,
                infra_env=self.before.infra_envs.get(state.host.infra_env_id),
                around=self.around,
                cluster_survives=survives,
                may_go_on=goes_on,
                findings=known.findings if known is not None and same else None,
            )
            self.changes.extend(judged.changes)
            self.taken.extend(judged.taken)
            self.deadlines[key] = sooner(judged.deadline, silent, now=self.around.now)
            settled = replace(state, host=judged.host, findings=judged.findings)
            if judged.host != state.host:
                moved = True
                read = self._read_by_rules(settled, context, heard=heard)
            self.memo.hosts[key] = Judged(read, guarded, judged.findings, judged.deadline)
            self.hosts[key] = settled
        return moved

    def _read_by_rules(self, state: HostState, context: HostContext, *, heard: bool) -> tuple[object, ...]:
        infra_env = self.before.infra_envs.get(state.host.infra_env_id)
        return (*read_by_rules(state, context=context), infra_env, heard or state.presence.checked_in_at)

    def _read_by_guards(self, survives: bool, goes_on: bool) -> tuple[object, ...]:
        """The cluster's status and what may become of it; a cluster that moves does not make its hosts other hosts."""
        return (self.cluster.status, self.cluster.soft_timeouts, survives, goes_on)

    def _remember(self, key: HostKey, state: HostState, known: Judged) -> None:
        """The state may be older than the memory: what was decided last time need not have been written."""
        if known.findings is state.findings:
            return
        if known.findings == state.findings:
            self.memo.hosts[key] = replace(known, findings=state.findings)
        else:
            self.hosts[key] = replace(state, findings=known.findings)

    def _passed(self, deadline: datetime | None) -> bool:
        return deadline is not None and self.around.now >= deadline

    def judge_cluster(self) -> bool:
        self.findings = self._cluster_findings()
        situation = ClusterSituation(
            cluster=self.cluster,
            hosts=self.states,
            policy=self.around.policy,
            now=self.around.now,
            findings=self.findings,
            holds=conditions(self.findings, ignored=self.cluster.ignored_cluster_validations),
            required=REQUIRED | _blocking_operators(self.findings),
            listening_since=self.around.listening_since,
        )
        row = step(REFRESH_TABLE, self.cluster.status, ClusterTrigger.REFRESH, situation)
        move = take(row, situation)
        cluster = move.cluster
        if row.target is ClusterStatus.INSTALLING and cluster.is_single_node:
            cluster = with_single_node_vips(cluster, self.states)
        if cluster == self.cluster:
            upcoming = moments(REFRESH_TABLE, cluster.status, ClusterTrigger.REFRESH, situation)
            self.cluster_deadline = min((at for at in upcoming if at > self.around.now), default=None)
            return False
        self.changes.extend(move.changes)
        self.taken.append(move.taken)
        self.cluster = cluster
        return True

    def _cluster_findings(self) -> tuple[Finding, ...]:
        if self.cluster.status not in JUDGED_IN:
            return self.findings
        facts = ClusterFacts(
            cluster=self.cluster,
            hosts=self.states,
            infra_envs=self.before.infra_envs,
            policy=self.around.policy,
            now=self.around.now,
        )
        disabled = self.around.policy.disabled_cluster_validations
        if self.cluster.ignored_cluster_validations:
            disabled = frozenset[str]()
        return cluster_rules.judge(facts, disabled=disabled) + operator_cluster_findings(facts, disabled=disabled)

    def decision(self) -> Decision:
        hosts = {key: host.host for key, host in self.hosts.items() if _differ(host.host, self.earlier[key].host)}
        judged = {key: host.findings for key, host in self.hosts.items() if host.findings != self.earlier[key].findings}
        for key, findings in judged.items():
            self.changes.extend(finding_changes(self.earlier[key], self.hosts[key].host, findings))
        self.changes.extend(_finding_changes(self.cluster, before=self.before.findings, after=self.findings))
        plans = self._plans()
        for key, plan in plans.items():
            self.changes.extend(upgrade_changes(self.earlier[key], plan, agent_image=self.around.policy.agent_image))
        deadlines = (*self.deadlines.values(), self.cluster_deadline, lease_limit(self.cluster, self.around))
        return Decision(
            cluster=None if self.cluster == self.before.cluster else self.cluster,
            hosts=hosts,
            cluster_findings=None if self.findings == self.before.findings else self.findings,
            host_findings=judged,
            plans=plans,
            changes=tuple(self.changes),
            taken=tuple(self.taken),
            next_deadline=min((at for at in deadlines if at is not None), default=None),
        )

    def _plans(self) -> dict[HostKey, StepPlan]:
        state = replace(self.before, cluster=self.cluster, hosts=self.states, findings=self.findings)
        neighbourhood = neighbourhood_of(state)
        shared = (self.cluster, neighbourhood.digest, neighbourhood.forming, self.around.inputs, self.around.policy)
        plans: dict[HostKey, StepPlan] = {}
        for key, host in self.hosts.items():
            infra_env = self.before.infra_envs.get(host.host.infra_env_id)
            hurry = neighbourhood.hurry(host.host.id, usual=self.around.policy.poll_seconds)
            facts = (host.host, host.reports, host.presence.agent_version, infra_env, hurry, *shared)
            plan = self.memo.plan(key, facts, partial(self._plan, state, host, neighbourhood))
            if _differ(plan, self.earlier[key].plan):
                plans[key] = plan
        return plans

    def _plan(self, state: ClusterState, host: HostState, neighbourhood: Neighbourhood) -> StepPlan:
        return plan_steps(
            state,
            host,
            policy=self.around.policy,
            inputs=self.around.inputs,
            neighbourhood=neighbourhood,
            inline_peers=len(self.hosts) <= PEERS_IN_PLAN,
        )


def _differ(first: object, second: object) -> bool:
    """Most of five hundred hosts are the very same objects: that is seen without looking inside."""
    return first is not second and first != second


def _blocking_operators(findings: Iterable[Finding]) -> frozenset[str]:
    return frozenset(finding.id for finding in findings if finding.category == "operators") - INFORMATIONAL


def _role_change(state: HostState, role: HostRole) -> Change:
    who = Identity(state.host, state.reports)
    event = HostRoleUpdated(
        host_id=who.host_id,
        infra_env_id=who.infra_env_id,
        cluster_id=who.cluster_id,
        host_name=who.host_name,
        suggested_role=role.value,
    )
    before = state.host.suggested_role or ""
    return Change(event=event, before={"suggested_role": before}, after={"suggested_role": role.value})


def _finding_changes(cluster: Cluster, *, before: tuple[Finding, ...], after: tuple[Finding, ...]) -> Iterable[Change]:
    """Edges worth an event: a check that begins to fail, or that is mended."""
    if before is after:
        return
    known = {finding.id: finding for finding in before}
    for finding in after:
        old = known.get(finding.id)
        if old is None or old.status is finding.status:
            continue
        states = {
            "before": {"status": old.status.value, "message": old.message},
            "after": {"status": finding.status.value, "message": finding.message},
        }
        if finding.status is Status.FAILURE:
            event = ClusterValidationFailed(
                cluster_id=cluster.id,
                validation_id=finding.id,
                validation_msg=finding.message,
                failure_message=finding.message,
            )
        elif old.status is Status.FAILURE and finding.status is Status.SUCCESS:
            event = ClusterValidationFixed(
                cluster_id=cluster.id, validation_id=finding.id, validation_msg=finding.message
            )
        else:
            continue
        yield Change(event=event, before=states["before"], after=states["after"])
