"""The Ignition of an installed host."""

from typing import Final

from firstlight.core import wire
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Download, Empty
from firstlight.server.http.v2.downloads import sent
from firstlight.server.usecases import host_ignition
from firstlight.server.usecases.world import World

IGNITION: Final = "/v2/infra-envs/{infra_env_id:uuid}/hosts/{host_id:uuid}/ignition"
# The published path is singular, and installers use it.
DOWNLOAD: Final = "/v2/infra-env/{infra_env_id:uuid}/hosts/{host_id:uuid}/downloads/ignition"


@operation(
    "GET",
    IGNITION,
    id="v2GetHostIgnition",
    answer=wire.HostIgnitionParams,
    errors=(401, 403, 404, 405, 409, 500, 501, 503),
)
async def get_host_ignition(world: World, call: Call[None, NoQuery]) -> wire.HostIgnitionParams:
    """The config a host is installed with, as text."""
    key = (call.uuid("infra_env_id"), call.uuid("host_id"))
    return wire.HostIgnitionParams(config=await host_ignition.ignition_text(world, key))


@operation(
    "PATCH",
    IGNITION,
    id="v2UpdateHostIgnition",
    body=wire.HostIgnitionParams,
    body_name="hostIgnitionParams",
    success=201,
    errors=(400, 401, 403, 404, 405, 500, 501),
)
async def update_host_ignition(world: World, call: Call[wire.HostIgnitionParams, NoQuery]) -> Empty:
    """Override parts of the config a host is installed with."""
    key = (call.uuid("infra_env_id"), call.uuid("host_id"))
    await host_ignition.override_ignition(world, key, call.body.config or "", caller=call.actor)
    return Empty()


@operation(
    "GET",
    DOWNLOAD,
    id="v2DownloadHostIgnition",
    access=Access.READ | Access.AGENT,
    answer=Download,
    errors=(401, 403, 404, 405, 409, 500, 503),
)
async def download_host_ignition(world: World, call: Call[None, NoQuery]) -> Download:
    """The config a host is installed with, as a file."""
    key = (call.uuid("infra_env_id"), call.uuid("host_id"))
    return sent(world, await host_ignition.ignition_file(world, key))
