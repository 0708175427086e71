"""What users do to clusters, and what the in-cluster controller reports about them."""

from typing import Final

from firstlight.core import wire
from firstlight.core.errors import Invalid
from firstlight.core.model.cluster_status import FinalizingStage
from firstlight.core.model.host_status import LogsState
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty
from firstlight.server.http.v2.clusters import CLUSTER, answer
from firstlight.server.usecases import cluster_actions
from firstlight.server.usecases.world import World

ACTIONS: Final = CLUSTER + "/actions"
OPERATORS_REPORT: Final = "CLUSTER_OPERATORS_REPORT"


@operation(
    "POST",
    ACTIONS + "/install",
    id="v2InstallCluster",
    success=202,
    answer=wire.Cluster,
    errors=(400, 401, 403, 404, 405, 409, 500),
)
async def install_cluster(world: World, call: Call[None, NoQuery]) -> wire.Cluster:
    """Start the installation."""
    return await answer(world, await cluster_actions.install(world, call.uuid("cluster_id"), caller=call.actor))


@operation(
    "POST",
    ACTIONS + "/cancel",
    id="V2CancelInstallation",
    success=202,
    answer=wire.Cluster,
    errors=(401, 403, 404, 405, 409, 500),
)
async def cancel_installation(world: World, call: Call[None, NoQuery]) -> wire.Cluster:
    """Stop the installation."""
    return await answer(world, await cluster_actions.cancel(world, call.uuid("cluster_id"), caller=call.actor))


@operation(
    "POST",
    ACTIONS + "/reset",
    id="v2ResetCluster",
    success=202,
    answer=wire.Cluster,
    errors=(401, 403, 404, 405, 409, 500),
)
async def reset_cluster(world: World, call: Call[None, NoQuery]) -> wire.Cluster:
    """Go back to before the installation."""
    return await answer(world, await cluster_actions.reset(world, call.uuid("cluster_id"), caller=call.actor))


@operation(
    "POST",
    ACTIONS + "/allow-add-hosts",
    id="TransformClusterToAddingHosts",
    success=202,
    answer=wire.Cluster,
    errors=(400, 401, 403, 404, 405, 409, 500),
)
async def allow_add_hosts(world: World, call: Call[None, NoQuery]) -> wire.Cluster:
    """Let an installed cluster grow."""
    state = await cluster_actions.allow_adding_hosts(world, call.uuid("cluster_id"), caller=call.actor)
    return await answer(world, state)


@operation(
    "POST",
    ACTIONS + "/allow-add-workers",
    id="TransformClusterToDay2",
    success=202,
    answer=wire.Cluster,
    errors=(400, 401, 403, 404, 405, 409, 500),
)
async def allow_add_workers(world: World, call: Call[None, NoQuery]) -> wire.Cluster:
    """Let an installed cluster grow: the older name."""
    state = await cluster_actions.allow_adding_hosts(world, call.uuid("cluster_id"), caller=call.actor)
    return await answer(world, state)


@operation(
    "POST",
    ACTIONS + "/complete-installation",
    id="v2CompleteInstallation",
    access=Access.AGENT,
    body=wire.CompletionParams,
    body_name="completionParams",
    success=202,
    answer=wire.Cluster,
    errors=(400, 401, 403, 404, 405, 409, 500, 503),
    headers=("discovery_agent_version",),
)
async def complete_installation(world: World, call: Call[wire.CompletionParams, NoQuery]) -> wire.Cluster:
    """The controller's word that the installation ended; the state follows from what was reported before."""
    report = None if call.body.is_success else (call.body.data or {}).get(OPERATORS_REPORT)
    state = await cluster_actions.complete(
        world, call.uuid("cluster_id"), operators=None if report is None else bytes(report), caller=call.actor
    )
    return await answer(world, state)


@operation(
    "PUT",
    CLUSTER + "/progress",
    id="v2UpdateClusterFinalizingProgress",
    access=Access.AGENT,
    body=wire.ClusterFinalizingProgress,
    body_name="finalizingProgress",
    errors=(400, 401, 403, 404, 405, 500, 503),
)
async def update_finalizing_progress(world: World, call: Call[wire.ClusterFinalizingProgress, NoQuery]) -> Empty:
    """The finalizing stage the controller reached."""
    if call.body.finalizing_stage is None:
        raise Invalid("The report names no finalizing stage. Set finalizing_stage.")
    await cluster_actions.report_finalizing(
        world, call.uuid("cluster_id"), stage=FinalizingStage(call.body.finalizing_stage), caller=call.actor
    )
    return Empty()


@operation(
    "PUT",
    CLUSTER + "/logs-progress",
    id="v2UpdateClusterLogsProgress",
    access=Access.AGENT,
    body=wire.LogsProgressParams,
    body_name="logsProgressParams",
    success=204,
    errors=(400, 401, 403, 404, 405, 409, 500, 503),
)
async def update_logs_progress(world: World, call: Call[wire.LogsProgressParams, NoQuery]) -> Empty:
    """How far the controller is with its logs."""
    await cluster_actions.report_logs(
        world, call.uuid("cluster_id"), logs=LogsState(call.body.logs_state), caller=call.actor
    )
    return Empty()
