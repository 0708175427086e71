"""Every field of every body holds what nobody expects: a clear refusal or a success, and the engine goes on."""

import json
from types import NoneType
from typing import Any

import msgspec
import pytest
from starlette.types import ASGIApp

from firstlight.server.http import v2
from firstlight.server.http.errors import expected_refusals
from firstlight.server.http.operations import Operation, operations_of
from firstlight.server.ports.rows import ClusterQuery
from firstlight.server.usecases.settling import settle_cluster
from firstlight.server.usecases.world import World
from tests.clients.operation_calls import SUCCESS, Ask
from tests.clients.sending import send

pytestmark = pytest.mark.anyio

OPERATIONS = {operation.id: operation for operation in operations_of(*v2.MODULES) if operation.body is not NoneType}
HOSTILE: tuple[Any, ...] = (
    None,
    "",
    " ",
    "\0",
    "\ud800",
    "☃" * 40,
    "x" * 70_000,
    "9" * 400,
    "../../etc/passwd",
    "::/0",
    "192.0.2.0/99",
    "4.18",
    "api..example.com",
    "[" * 2_000,
    '{"a": NaN}',
    "null",
    "- &a [*a]",
    "{{ name }}\n---\n",
    "0001-01-01T00:00:00.000Z",
    -1,
    0,
    2**64,
    1e300,
    True,
    [],
    {},
    [None],
    [{}],
    [[]],
    [""],
    ["x", "x"],
    {"": None},
    [{"ip": "::ffff:192.0.2.1"}, {"ip": "fe80::1%eth0"}],
    [{"cidr": "0.0.0.0/0", "host_prefix": 0}],
    [{"name": "lso", "properties": "{"}],
    {"type": "external", "external": {"platform_name": "\n"}},
    {"enable_on": "all", "mode": "tang", "tang_servers": "[{}]"},
)


def statuses(operation: Operation) -> set[int]:
    return {operation.success, *operation.errors, *expected_refusals(operation)} - {500}


def bodies(operation: Operation) -> list[bytes]:
    """The body that succeeds with one field changed at a time, or changed as a whole."""
    good = SUCCESS[operation.id].body
    whole = [json.dumps(value).encode() for value in HOSTILE]
    if not isinstance(good, dict):
        return whole
    fields = [field.encode_name for field in msgspec.structs.fields(operation.body)]
    return [*whole, *(json.dumps(good | {name: value}).encode() for name in fields for value in HOSTILE)]


@pytest.mark.parametrize("name", OPERATIONS)
async def test_any_field(world: World, app: ASGIApp, name: str) -> None:
    operation, good = OPERATIONS[name], SUCCESS[name]
    await good.scene(world)
    for body in bodies(operation):
        answer = await send(app, operation, Ask(body, good.query, path=good.path))
        assert answer.status in statuses(operation), (body[:300], answer.status, answer.body[:300])
    for found in await world.store.clusters(ClusterQuery()):
        await settle_cluster(world, found.cluster.id)
