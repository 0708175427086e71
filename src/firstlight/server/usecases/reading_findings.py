"""Findings for people and programs: what was judged, on what evidence, and requests that mend it, ready to send."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta, Struct
from msgspec.structs import replace

from firstlight.core.commands.retries import retry_finding
from firstlight.core.decision import HostKey
from firstlight.core.errors import NotFound
from firstlight.core.hosts.rules.shown import shown_findings
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostStatus
from firstlight.core.rules import Evidence, Finding, Fix, Status
from firstlight.server.ports.rows import OperationRow
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.usecases.deciding import no_such_host
from firstlight.server.usecases.next_checks import NextCheck, next_check
from firstlight.server.usecases.world import World

BASES: Final = {"/v1/": "/api/firstlight", "/v2/": "/api/assisted-install"}
"""Where the paths of fixes begin."""


JsonValue = Annotated[object, Meta(extra_json_schema={"description": "Any JSON."})]


class ReadyFix(Struct, frozen=True, kw_only=True):
    """A request that mends the finding, to be sent as it is."""

    title: str
    method: str
    path: str
    body: dict[str, JsonValue] | None


class ShownFinding(Struct, frozen=True, kw_only=True):
    id: str
    category: str
    status: Status
    message: str
    cause: str
    evidence: Evidence
    measured_at: datetime | None
    fixes: tuple[ReadyFix, ...]
    next_check: NextCheck | None = None
    """None where nothing is measured, or the host is not heard of."""


async def cluster_findings(world: World, cluster_id: UUID, *, statuses: Iterable[str]) -> tuple[ShownFinding, ...]:
    await require_cluster(world, cluster_id)
    found = await world.store.findings(cluster_subject(cluster_id))
    shown = (finding for finding in found if finding.status is not Status.SUPPRESSED)
    return tuple(_shown(finding, {"cluster_id": cluster_id}) for finding in _chosen(shown, statuses))


async def host_findings(world: World, key: HostKey, *, statuses: Iterable[str]) -> tuple[ShownFinding, ...]:
    state = await world.store.host(key)
    if state is None:
        raise no_such_host(key)
    ids = {"infra_env_id": key[0], "host_id": key[1]}
    if state.host.cluster_id is not None:
        ids["cluster_id"] = state.host.cluster_id
    shown = shown_findings(state.findings, state.host)
    chosen = _chosen((*await _about_installation(world, state), *shown), statuses)
    now = world.clock.now()
    return tuple(replace(_shown(one, ids), next_check=next_check(state, one, now=now)) for one in chosen)


async def _about_installation(world: World, state: HostState) -> tuple[Finding, ...]:
    """What no check tells: that it failed to install, and whether it can be tried again."""
    if state.host.status is not HostStatus.ERROR or state.host.cluster_id is None:
        return ()
    cluster = await world.store.cluster_state(state.host.cluster_id)
    found = cluster and retry_finding(cluster, state, policy=world.policy, now=world.clock.now())
    return (found,) if found else ()


async def cluster_operations(world: World, cluster_id: UUID) -> tuple[OperationRow, ...]:
    await require_cluster(world, cluster_id)
    return tuple(await world.store.operations(cluster_subject(cluster_id)))


async def require_cluster(world: World, cluster_id: UUID) -> None:
    if await world.store.cluster(cluster_id) is None:
        raise NotFound(f"There is no cluster {cluster_id}.")


def _chosen(findings: Iterable[Finding], statuses: Iterable[str]) -> Iterator[Finding]:
    wanted = frozenset(statuses)
    return (finding for finding in findings if not wanted or finding.status in wanted)


def _shown(finding: Finding, ids: Mapping[str, UUID]) -> ShownFinding:
    return ShownFinding(
        id=finding.id,
        category=finding.category,
        status=finding.status,
        message=finding.message,
        cause=finding.cause,
        evidence=finding.evidence,
        measured_at=finding.measured_at,
        fixes=tuple(ready_fix(fix, ids) for fix in finding.fixes),
    )


def ready_fix(fix: Fix, ids: Mapping[str, UUID]) -> ReadyFix:
    path = fix.path
    for name, value in ids.items():
        path = path.replace(f"{{{name}}}", str(value))
    return ReadyFix(title=fix.title, method=fix.method, path=BASES[path[:4]] + path, body=fix.body)
