"""Everything that stands between a cluster and its installation, gathered by cause instead of by host."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from msgspec import Struct

from firstlight.core.clusters.rules import blocking as cluster_blocking
from firstlight.core.commands.retries import INSTALLATION, retry_finding
from firstlight.core.hosts.rules import blocking as host_blocking
from firstlight.core.hosts.rules.shown import shown_findings
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import hostname_of
from firstlight.core.model.policy import Policy
from firstlight.core.rules import Evidence, Finding, Status
from firstlight.server.usecases.deciding import load_cluster
from firstlight.server.usecases.next_checks import NextCheck, next_check
from firstlight.server.usecases.reading_findings import ReadyFix, ready_fix
from firstlight.server.usecases.world import World

Scope = Literal["cluster", "host"]
MOST_CASES: Final = 100
"""Hosts listed per problem; the count tells of all, and the table of hosts can be narrowed to the check."""
_TOLD: Final = (Status.FAILURE, Status.ERROR, Status.PENDING)
_BLOCKING_HOSTS: Final = (
    host_blocking.VALID_INVENTORY
    | host_blocking.MIN_HARDWARE
    | host_blocking.BINDABLE
    | host_blocking.REQUIRED_INPUT
    | host_blocking.SUFFICIENT
    | {"connected", "media-connected"}
)
_BLOCKING_CLUSTERS: Final = cluster_blocking.VIPS | cluster_blocking.INPUTS | cluster_blocking.REQUIRED
_BLOCKING_CATEGORIES: Final = frozenset({"operators", INSTALLATION})


class ProblemCase(Struct, frozen=True, kw_only=True):
    """One finding; the host is missing where it is about the cluster."""

    host_id: UUID | None
    infra_env_id: UUID | None
    host_name: str
    message: str
    evidence: Evidence
    measured_at: datetime | None
    next_check: NextCheck | None
    """None where nothing is measured, or the host is not heard of."""
    fixes: tuple[ReadyFix, ...]


class Problem(Struct, frozen=True, kw_only=True):
    check: str
    scope: Scope
    category: str
    status: Status
    cause: str
    blocking: bool
    """Stands in the way of an installation, unless it is waived."""
    waived: bool
    waiver_reason: str
    waivable: bool
    count: int
    cases: tuple[ProblemCase, ...]


async def problems(world: World, cluster_id: UUID) -> tuple[Problem, ...]:
    return problems_of(await load_cluster(world, cluster_id), policy=world.policy, now=world.clock.now())


def problems_of(state: ClusterState, *, policy: Policy, now: datetime) -> tuple[Problem, ...]:
    """What blocks first: failures before what is awaited, what a click mends before the rest, wide before narrow."""
    groups: dict[tuple[Scope, str, str, Status], list[ProblemCase]] = {}
    categories: dict[tuple[Scope, str], str] = {}
    for scope, finding, case in _cases(state, policy=policy, now=now):
        groups.setdefault((scope, finding.id, finding.cause, finding.status), []).append(case)
        categories[scope, finding.id] = finding.category
    found = (
        _problem(state.cluster, scope, check, cause, status, category=categories[scope, check], cases=cases)
        for (scope, check, cause, status), cases in groups.items()
    )
    return tuple(sorted(found, key=_urgency))


def _urgency(problem: Problem) -> tuple[bool, bool, int, bool, int]:
    without_fix = not any(case.fixes for case in problem.cases)
    return (problem.waived, not problem.blocking, _TOLD.index(problem.status), without_fix, -problem.count)


def _problem(
    cluster: Cluster,
    scope: Scope,
    check: str,
    cause: str,
    status: Status,
    *,
    category: str,
    cases: list[ProblemCase],
) -> Problem:
    of_hosts = scope == "host"
    ignored = cluster.ignored_host_validations if of_hosts else cluster.ignored_cluster_validations
    never = host_blocking.NOT_IGNORABLE if of_hosts else cluster_blocking.NOT_IGNORABLE
    waived = check not in never and (check in ignored or host_blocking.EVERY_CHECK in ignored)
    return Problem(
        check=check,
        scope=scope,
        category=category,
        status=status,
        cause=cause,
        blocking=category in _BLOCKING_CATEGORIES or check in (_BLOCKING_HOSTS if of_hosts else _BLOCKING_CLUSTERS),
        waived=waived,
        waiver_reason=cluster.waiver_reasons.get(check, "") if waived else "",
        waivable=check not in never and category != INSTALLATION,
        count=len(cases),
        cases=tuple(cases[:MOST_CASES]),
    )


def _cases(state: ClusterState, *, policy: Policy, now: datetime) -> Iterator[tuple[Scope, Finding, ProblemCase]]:
    ids: dict[str, UUID] = {"cluster_id": state.cluster.id}
    for finding in _telling(state.findings):
        yield "cluster", finding, _case(finding, ids, name="")
    for host in state.hosts:
        ids = {"cluster_id": state.cluster.id, "infra_env_id": host.host.infra_env_id, "host_id": host.host.id}
        name = hostname_of(host.host, host.reports)
        failed = retry_finding(state, host, policy=policy, now=now)
        for finding in (*([failed] if failed else []), *_telling(shown_findings(host.findings, host.host))):
            yield "host", finding, _case(finding, ids, name=name, again=next_check(host, finding, now=now))


def _telling(findings: Iterable[Finding]) -> Iterator[Finding]:
    return (finding for finding in findings if finding.status in _TOLD)


def _case(finding: Finding, ids: Mapping[str, UUID], *, name: str, again: NextCheck | None = None) -> ProblemCase:
    return ProblemCase(
        host_id=ids.get("host_id"),
        infra_env_id=ids.get("infra_env_id"),
        host_name=name,
        message=finding.message,
        evidence=finding.evidence,
        measured_at=finding.measured_at,
        next_check=again,
        fixes=tuple(ready_fix(fix, ids) for fix in finding.fixes),
    )
