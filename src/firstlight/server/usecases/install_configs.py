"""install-config as it would be now, and what users override in it."""

from datetime import datetime
from uuid import UUID

from firstlight.core.commands import installation_files
from firstlight.core.decision import Decision
from firstlight.core.install.install_config import render_install_config
from firstlight.core.model.cluster import ClusterState
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import change_cluster, load_cluster
from firstlight.server.usecases.generated_files import inputs_of
from firstlight.server.usecases.world import World


async def current(world: World, cluster_id: UUID) -> str:
    state = await load_cluster(world, cluster_id)
    return render_install_config(await inputs_of(world, state))


async def override(world: World, cluster_id: UUID, text: str, *, caller: Caller) -> None:
    def command(state: ClusterState, now: datetime) -> Decision:
        return installation_files.override_install_config(state, text, policy=world.policy, now=now)

    await change_cluster(world, cluster_id, command, caller=caller)
