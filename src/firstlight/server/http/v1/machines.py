"""What people in front of machines need: a host by the code on its console, and an agent's log as it grows."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from firstlight.server.http.call import Call
from firstlight.server.http.operations import Access, operation
from firstlight.server.usecases import finding_hosts, live_logs
from firstlight.server.usecases.finding_hosts import FoundHosts
from firstlight.server.usecases.live_logs import LARGEST_POST, LARGEST_READ, LONGEST_WAIT, LogPart, LogTaken
from firstlight.server.usecases.world import World

LOG: Final = "/v1/infra-envs/{infra_env_id:uuid}/hosts/{host_id:uuid}/log"
Offset = Annotated[int, Meta(ge=0, lt=10**15)]


class CodeQuery(Struct, frozen=True, kw_only=True):
    code: str


class PlaceQuery(Struct, frozen=True, kw_only=True):
    offset: Offset | None = None


class PartQuery(Struct, frozen=True, kw_only=True):
    offset: Offset | None = None
    limit: Annotated[int, Meta(ge=1, le=LARGEST_READ)] = 64 * 1024
    wait: Annotated[int, Meta(ge=0, le=LONGEST_WAIT)] = 0
    """Seconds to wait for something new where there is nothing yet."""


@operation(
    "GET", "/v1/hosts", id="findHostsByCode", access=Access.READ, query=CodeQuery, answer=FoundHosts, errors=(400,)
)
async def find_hosts_by_code(world: World, call: Call[None, CodeQuery]) -> FoundHosts:
    """Find the host whose console shows this code."""
    return await finding_hosts.hosts_by_code(world, call.query.code, caller=call.actor)


@operation(
    "POST",
    LOG,
    id="addToHostLog",
    access=Access.AGENT,
    body_cap=LARGEST_POST,
    query=PlaceQuery,
    answer=LogTaken,
    errors=(400, 404, 413),
)
async def add_to_host_log(world: World, call: Call[None, PlaceQuery]) -> LogTaken:
    """Add to the log of a host's agent, from a place on or at the end; answers how far it goes now."""
    data = b"".join([piece async for piece in call.stream()])
    key = (call.uuid("infra_env_id"), call.uuid("host_id"))
    return await live_logs.take(world, key, data, offset=call.query.offset)


@operation("GET", LOG, id="readHostLog", access=Access.READ, query=PartQuery, answer=LogPart, errors=(400, 404))
async def read_host_log(world: World, call: Call[None, PartQuery]) -> LogPart:
    """Read the log of a host's agent, from a place on or its last part; `wait` for more, some seconds long."""
    key, asked = (call.uuid("infra_env_id"), call.uuid("host_id")), call.query
    return await live_logs.follow(world, key, offset=asked.offset, limit=asked.limit, seconds=asked.wait)
