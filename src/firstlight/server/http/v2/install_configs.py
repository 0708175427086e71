"""install-config and the user's override of it: JSON inside a JSON string, both ways."""

from typing import Final

from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty
from firstlight.server.usecases import install_configs
from firstlight.server.usecases.world import World

INSTALL_CONFIG: Final = "/v2/clusters/{cluster_id:uuid}/install-config"


@operation(
    "GET",
    INSTALL_CONFIG,
    id="v2GetClusterInstallConfig",
    access=Access.READ,
    answer=str,
    errors=(400, 401, 403, 404, 405, 500),
)
async def get_install_config(world: World, call: Call[None, NoQuery]) -> str:
    """The install-config the cluster would be installed with now."""
    return await install_configs.current(world, call.uuid("cluster_id"))


@operation(
    "PATCH",
    INSTALL_CONFIG,
    id="v2UpdateClusterInstallConfig",
    body=str,
    body_name="installConfigParams",
    success=201,
    errors=(400, 401, 403, 404, 405, 500),
)
async def update_install_config(world: World, call: Call[str, NoQuery]) -> Empty:
    """Override parts of the install-config."""
    await install_configs.override(world, call.uuid("cluster_id"), call.body, caller=call.actor)
    return Empty()
