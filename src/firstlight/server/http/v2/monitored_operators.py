"""Operators a cluster waits for, as its controller asks and reports."""

from typing import Final

from msgspec import Struct

from firstlight.core import wire
from firstlight.core.errors import NotFound
from firstlight.core.model.cluster_status import OperatorStatus
from firstlight.core.operators.bundles import bundles_of
from firstlight.core.wire.views.clusters import view_operator
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty
from firstlight.server.http.v2.clusters import CLUSTER
from firstlight.server.usecases import cluster_actions, cluster_views
from firstlight.server.usecases.world import World

OPERATORS: Final = CLUSTER + "/monitored-operators"


class OperatorQuery(Struct, frozen=True):
    operator_name: str | None = None


@operation(
    "GET",
    OPERATORS,
    id="V2ListOfClusterOperators",
    access=Access.AGENT,
    query=OperatorQuery,
    answer=tuple[wire.MonitoredOperator, ...],
    errors=(401, 403, 404, 405, 500),
)
async def list_operators(world: World, call: Call[None, OperatorQuery]) -> tuple[wire.MonitoredOperator, ...]:
    """The operators of a cluster, or one of them."""
    cluster = await cluster_views.cluster_of(world, call.uuid("cluster_id"))
    name = call.query.operator_name
    found = [operator for operator in cluster.operators if name in (None, operator.name)]
    if name is not None and not found:
        raise NotFound(f"Cluster {cluster.name} does not wait for an operator called {name[:80]}.")
    bundles = {operator.name: bundles_of(operator.name) for operator in found}
    return tuple(view_operator(operator, cluster.id, bundles) for operator in found)


@operation(
    "PUT",
    OPERATORS,
    id="v2ReportMonitoredOperatorStatus",
    access=Access.AGENT,
    body=wire.OperatorMonitorReport,
    body_name="reportParams",
    errors=(400, 401, 403, 404, 405, 409, 500, 503),
)
async def report_operator(world: World, call: Call[wire.OperatorMonitorReport, NoQuery]) -> Empty:
    """How one operator is doing."""
    report = call.body
    await cluster_actions.report_operator(
        world,
        call.uuid("cluster_id"),
        name=report.name or "",
        status=None if report.status is None else OperatorStatus(report.status),
        info=report.status_info or "",
        version=report.version or "",
        caller=call.actor,
    )
    return Empty()
