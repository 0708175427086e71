"""Failed hosts of an installation that still goes on: tried again, or replaced by another machine."""

from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import operation
from firstlight.server.usecases import retrying
from firstlight.server.usecases.retrying import TriedHost
from firstlight.server.usecases.world import World

HOST: Final = "/v1/infra-envs/{infra_env_id:uuid}/hosts/{host_id:uuid}"


class Replacement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The machine that takes the place; it belongs to no cluster yet."""

    host_id: UUID
    infra_env_id: UUID | None = None
    """Where it registered; the failed host's infra-env without."""
    keep_name: bool = True
    """Whether it takes the failed host's name as well."""


@operation("POST", HOST + "/actions/retry", id="retryHost", success=202, answer=TriedHost, errors=(404, 409))
async def retry_host(world: World, call: Call[None, NoQuery]) -> TriedHost:
    """Try a failed host again while the rest of its cluster goes on installing."""
    return await retrying.retry(world, (call.uuid("infra_env_id"), call.uuid("host_id")), caller=call.actor)


@operation(
    "POST",
    HOST + "/actions/replace",
    id="replaceHost",
    body=Replacement,
    body_name="replacement",
    success=202,
    answer=TriedHost,
    errors=(400, 404, 409),
)
async def replace_host(world: World, call: Call[Replacement, NoQuery]) -> TriedHost:
    """Give the place of a failed host to another machine."""
    key, wanted = (call.uuid("infra_env_id"), call.uuid("host_id")), call.body
    replacement = (wanted.infra_env_id or key[0], wanted.host_id)
    return await retrying.replace_by(world, key, replacement=replacement, keep_name=wanted.keep_name, caller=call.actor)
