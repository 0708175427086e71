"""Infra-envs: register, list, show, change, forget."""

from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta, Struct

from firstlight.core import wire
from firstlight.core.wire.dates import zulu
from firstlight.core.wire.infra_env_wishes import infra_env_wish
from firstlight.core.wire.views import view_infra_env
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty
from firstlight.server.usecases import infra_envs
from firstlight.server.usecases.infra_envs import Registration
from firstlight.server.usecases.world import World

INFRA_ENVS: Final = "/v2/infra-envs"
INFRA_ENV: Final = INFRA_ENVS + "/{infra_env_id:uuid}"
DONE: Final = Empty()

Text = Annotated[str, Meta(max_length=4096)]


class ListQuery(Struct, frozen=True):
    cluster_id: UUID | None = None
    owner: Text | None = None


@operation(
    "POST",
    INFRA_ENVS,
    id="RegisterInfraEnv",
    body=wire.InfraEnvCreateParams,
    body_name="infraenvCreateParams",
    success=201,
    answer=wire.InfraEnv,
    errors=(400, 401, 403, 404, 405, 409, 500, 501),
)
async def register_infra_env(world: World, call: Call[wire.InfraEnvCreateParams, NoQuery]) -> wire.InfraEnv:
    """Make an infra-env; its discovery image can be downloaded at once."""
    params = call.body
    asked = Registration(name=params.name, cluster_id=params.cluster_id, cpu_architecture=params.cpu_architecture or "")
    return view_infra_env(await infra_envs.register(world, asked, infra_env_wish(params), caller=call.actor))


@operation(
    "GET",
    INFRA_ENVS,
    id="ListInfraEnvs",
    access=Access.READ | Access.WATCHER,
    query=ListQuery,
    answer=tuple[wire.InfraEnv, ...],
    errors=(401, 403, 405, 500, 501, 503),
    etag=True,
)
async def list_infra_envs(world: World, call: Call[None, ListQuery]) -> tuple[wire.InfraEnv, ...]:
    """All infra-envs, or those of one cluster or owner."""
    found = await infra_envs.list_infra_envs(world, cluster_id=call.query.cluster_id, owner=call.query.owner)
    return tuple(view_infra_env(infra_env) for infra_env in found)


@operation(
    "GET",
    INFRA_ENV,
    id="GetInfraEnv",
    access=Access.READ | Access.AGENT | Access.URL | Access.IMAGE | Access.IMAGE_URL,
    answer=wire.InfraEnv,
    errors=(401, 403, 404, 405, 500, 501, 503),
    etag=True,
)
async def get_infra_env(world: World, call: Call[None, NoQuery]) -> wire.InfraEnv:
    """One infra-env."""
    return view_infra_env(await infra_envs.get(world, call.uuid("infra_env_id")))


@operation(
    "PATCH",
    INFRA_ENV,
    id="UpdateInfraEnv",
    body=wire.InfraEnvUpdateParams,
    body_name="infraEnvUpdateParams",
    success=201,
    answer=wire.InfraEnv,
    errors=(400, 401, 403, 404, 405, 409, 500, 501),
)
async def update_infra_env(world: World, call: Call[wire.InfraEnvUpdateParams, NoQuery]) -> wire.InfraEnv:
    """Change an infra-env; machines that boot from now on get the new image."""
    wish = infra_env_wish(call.body)
    return view_infra_env(await infra_envs.update(world, call.uuid("infra_env_id"), wish, caller=call.actor))


@operation("DELETE", INFRA_ENV, id="DeregisterInfraEnv", success=204, errors=(400, 401, 403, 404, 405, 409, 500, 501))
async def deregister_infra_env(world: World, call: Call[None, NoQuery]) -> Empty:
    """Forget an infra-env that has no hosts."""
    await infra_envs.deregister(world, call.uuid("infra_env_id"), caller=call.actor)
    return DONE


@operation(
    "GET",
    INFRA_ENV + "/downloads/image-url",
    id="GetInfraEnvDownloadURL",
    answer=wire.PresignedUrl,
    errors=(400, 401, 403, 404, 405, 500, 501, 503),
)
async def get_image_url(world: World, call: Call[None, NoQuery]) -> wire.PresignedUrl:
    """A fresh URL of the discovery image."""
    infra_env = await infra_envs.fresh_image_url(world, call.uuid("infra_env_id"))
    return wire.PresignedUrl(url=infra_env.download_url, expires_at=zulu(infra_env.expires_at))


@operation(
    "POST",
    INFRA_ENV + "/regenerate-signing-key",
    id="RegenerateInfraEnvSigningKey",
    success=204,
    errors=(401, 403, 404, 405, 500),
)
async def regenerate_signing_key(world: World, call: Call[None, NoQuery]) -> Empty:
    """Make image tokens given out so far void."""
    await infra_envs.new_signing_key(world, call.uuid("infra_env_id"), caller=call.actor)
    return DONE
