"""What the store's tests write: a cluster that is wholly there, and short ways to say the usual."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from firstlight.core.decision import HostKey
from firstlight.core.events.event import Severity
from firstlight.core.events.recorded import Recorded
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.plan import Step, StepPlan, StepType
from firstlight.core.model.reports import REPORT_FIELDS, ReportKind, Reports
from firstlight.core.rules import Finding, Fix, Status
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import cluster_subject, host_subject
from firstlight.server.ports.writes import (
    PutCluster,
    PutFindings,
    PutHost,
    PutInfraEnv,
    PutPlan,
    PutPresence,
    PutReport,
    Write,
)
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import a_presence, host_state, some_reports
from tests.builders.moments import EARLIER, NOW


def key_of(host: Host) -> HostKey:
    return (host.infra_env_id, host.id)


def some_findings(word: str = "ok") -> tuple[Finding, ...]:
    fix = Fix(title="Say it", method="PATCH", path="/v2/clusters/{cluster_id}", body={"name": word})
    return (
        Finding(id="has-inventory", category="hardware", status=Status.SUCCESS, message=word),
        Finding(
            id="ntp-synced",
            category="network",
            status=Status.FAILURE,
            message="No.",
            cause="no-source",
            evidence={"sources": ["a", "b"], "offset": 1.5, "tries": 3, "seen": False, "who": None},
            measured_at=EARLIER,
            fixes=(fix,),
        ),
    )


def a_plan(word: str = "x") -> StepPlan:
    return StepPlan(steps=(Step(StepType.INVENTORY), Step(StepType.NTP, (word,))), next_instruction_seconds=13)


def report_writes(key: HostKey, reports: Reports) -> Iterator[PutReport]:
    for kind, field in REPORT_FIELDS.items():
        value = getattr(reports, field)
        if value is not None:
            facts = msgspec.json.encode(value)
            yield PutReport(
                key=key,
                kind=kind,
                digest=f"{hash(facts):x}",
                facts=facts,
                raw=b"raw " + kind.encode(),
                measured_at=reports.measured_at[kind],
            )


def a_report(key: HostKey, kind: ReportKind, value: object, *, digest: str, measured_at: datetime = NOW) -> PutReport:
    facts = msgspec.json.encode(value)
    return PutReport(key=key, kind=kind, digest=digest, facts=facts, raw=facts, measured_at=measured_at)


def a_check_in(key: HostKey, *, at: datetime = NOW, offset: float | None = 0.25, version: str = "1") -> PutPresence:
    return PutPresence(key=key, checked_in_at=at, clock_offset_seconds=offset, agent_version=version)


def whole_host(number: int, **changes: Any) -> HostState:
    reports = some_reports(number)
    reports = replace(reports, measured_at=dict.fromkeys(reports_given(reports), EARLIER))
    state = host_state(number, reports=reports, presence=a_presence(clock_offset_seconds=-1.5), **changes)
    return replace(state, findings=some_findings(f"host {number}"), plan=a_plan(str(number)))


def reports_given(reports: Reports) -> list[ReportKind]:
    return [kind for kind, field in REPORT_FIELDS.items() if getattr(reports, field) is not None]


def host_writes(state: HostState) -> Iterator[Write]:
    key = key_of(state.host)
    yield PutHost(host=state.host)
    yield from report_writes(key, state.reports)
    yield PutFindings(subject=host_subject(key), findings=state.findings)
    if state.plan is not None:
        yield PutPlan(key=key, plan=state.plan)
    heard = state.presence
    if heard.checked_in_at is not None:
        yield PutPresence(
            key=key,
            checked_in_at=heard.checked_in_at,
            clock_offset_seconds=heard.clock_offset_seconds,
            agent_version=heard.agent_version,
        )


def whole_cluster(numbers: Sequence[int] = (1, 2, 3), **changes: Any) -> ClusterState:
    infra_env = an_infra_env()
    return ClusterState(
        cluster=a_cluster(**changes),
        hosts=tuple(whole_host(number) for number in numbers),
        infra_envs={infra_env.id: infra_env},
        findings=some_findings("cluster"),
    )


def cluster_writes(state: ClusterState) -> Iterator[Write]:
    yield PutCluster(cluster=state.cluster, expect_revision=None)
    for infra_env in state.infra_envs.values():
        yield PutInfraEnv(infra_env=infra_env, expect_revision=None)
    for host in state.hosts:
        yield from host_writes(host)
    yield PutFindings(subject=cluster_subject(state.cluster.id), findings=state.findings)


async def stored_cluster(store: Store, numbers: Sequence[int] = (1, 2, 3), **changes: Any) -> ClusterState:
    """Written and read back."""
    state = whole_cluster(numbers, **changes)
    await store.commit(*cluster_writes(state))
    found = await store.cluster_state(state.cluster.id)
    assert found is not None
    return found


def an_event(message: str = "It happened", **changes: Any) -> Recorded:
    event = Recorded(event_time=NOW, name="it_happened", severity=Severity.INFO, message=message)
    return replace(event, **changes)


def an_id(number: int) -> UUID:
    return UUID(int=number)
