"""Findings and lasting operations in full: cause, evidence, when measured, and requests that mend."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.ports.rows import OperationRow
from firstlight.server.usecases import reading_findings
from firstlight.server.usecases.reading_findings import ShownFinding
from firstlight.server.usecases.world import World


class FindingsQuery(Struct, frozen=True, kw_only=True):
    status: tuple[Literal["success", "failure", "pending", "error", "disabled"], ...] = ()


class LastingOperation(Struct, frozen=True, kw_only=True):
    id: UUID
    kind: str
    attempt: int
    state: str
    progress: str
    created_at: datetime
    updated_at: datetime
    heartbeat_at: datetime | None


@operation(
    "GET",
    "/v1/clusters/{cluster_id:uuid}/findings",
    id="listClusterFindings",
    access=Access.READ,
    query=FindingsQuery,
    answer=tuple[ShownFinding, ...],
    errors=(404,),
    etag=True,
)
async def list_cluster_findings(world: World, call: Call[None, FindingsQuery]) -> tuple[ShownFinding, ...]:
    """List what was found about a cluster."""
    return await reading_findings.cluster_findings(world, call.uuid("cluster_id"), statuses=call.query.status)


@operation(
    "GET",
    "/v1/infra-envs/{infra_env_id:uuid}/hosts/{host_id:uuid}/findings",
    id="listHostFindings",
    access=Access.READ,
    query=FindingsQuery,
    answer=tuple[ShownFinding, ...],
    errors=(404,),
    etag=True,
)
async def list_host_findings(world: World, call: Call[None, FindingsQuery]) -> tuple[ShownFinding, ...]:
    """List what was found about a host."""
    key = (call.uuid("infra_env_id"), call.uuid("host_id"))
    return await reading_findings.host_findings(world, key, statuses=call.query.status)


@operation(
    "GET",
    "/v1/clusters/{cluster_id:uuid}/operations",
    id="listClusterOperations",
    access=Access.READ,
    answer=tuple[LastingOperation, ...],
    errors=(404,),
    etag=True,
)
async def list_cluster_operations(world: World, call: Call[None, NoQuery]) -> tuple[LastingOperation, ...]:
    """List lasting work for a cluster, with how far it is."""
    found = await reading_findings.cluster_operations(world, call.uuid("cluster_id"))
    return tuple(_view(row) for row in found)


def _view(row: OperationRow) -> LastingOperation:
    return LastingOperation(
        id=row.id,
        kind=row.kind,
        attempt=row.attempt,
        state=row.state,
        progress=row.progress,
        created_at=row.created_at,
        updated_at=row.updated_at,
        heartbeat_at=row.heartbeat_at,
    )
