"""Every operation of the published API succeeds once and is refused in every documented way.

401 and 403 are documented for whoever switches authentication on; tests/auth/test_every_operation.py has them all.
"""

import re
from types import NoneType

import pytest
from starlette.types import ASGIApp

from firstlight.server.http import v2
from firstlight.server.http.errors import expected_refusals
from firstlight.server.http.operations import Operation, operations_of
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN
from tests.clients.operation_calls import PATH, REFUSED, SUCCESS, UNUSED, Ask
from tests.clients.sending import send
from tests.http.published_operations import PUBLISHED

pytestmark = pytest.mark.anyio

OPERATIONS = {operation.id: operation for operation in operations_of(*v2.MODULES)}
OURS = {"V2PutClusterManifest"}
"""Operations beside the published ones: a widespread client sends PUT where the API has PATCH."""
NOT_ASKED = {401, 403}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE")


def documented(operation: Operation) -> set[int]:
    statuses = {*operation.errors, *expected_refusals(operation)}
    return {status for status in statuses if 400 <= status < 500} - NOT_ASKED


CASES = [
    (name, status)
    for name, operation in OPERATIONS.items()
    for status in sorted(documented(operation))
    if (name, status) not in UNUSED
]


def test_every_published_operation_is_served_and_called() -> None:
    published = {(method, path, name, status) for method, path, name, status in PUBLISHED}
    served = {(one.method, one.path, name, one.success) for name, one in OPERATIONS.items() if name not in OURS}
    assert served == published
    assert set(SUCCESS) == set(OPERATIONS)


def test_nothing_is_excused_that_is_not_documented() -> None:
    for name, status in (*REFUSED, *UNUSED):
        assert status in documented(OPERATIONS[name]), (name, status)
    assert not set(REFUSED) & set(UNUSED)


@pytest.mark.parametrize("name", OPERATIONS)
async def test_success(world: World, app: ASGIApp, name: str) -> None:
    operation = OPERATIONS[name]
    asked = SUCCESS[name]
    await asked.scene(world)
    answer = await send(app, operation, asked)
    # A minimal image without static network has no initrd of its own: 204 is its other success.
    expected = 204 if name == "DownloadMinimalInitrd" else operation.success
    assert answer.status == expected, answer.body[:500]


@pytest.mark.parametrize(("name", "status"), CASES)
async def test_refusal(world: World, app: ASGIApp, name: str, status: int) -> None:
    operation = OPERATIONS[name]
    asked = REFUSED.get((name, status)) or usual(operation, status)
    await asked.scene(world)
    method = "" if status != 405 else next(one for one in METHODS if one not in methods_of(operation.path))
    answer = await send(app, operation, asked, method=method)
    assert answer.status == status, answer.body[:500]
    if answer.body:
        document = answer.json()
        assert int(document["code"]) == status
        assert document.get("reason") or document.get("message")


@pytest.mark.parametrize(("name", "status"), UNUSED)
def test_a_refusal_that_is_published_but_never_given_has_a_reason(name: str, status: int) -> None:
    assert len(UNUSED[name, status]) > 20


def methods_of(path: str) -> set[str]:
    def shape(one: str) -> str:
        return re.sub(r"{.*?}", "{}", one)

    return {one.method for one in OPERATIONS.values() if shape(one.path) == shape(path)}


def usual(operation: Operation, status: int) -> Ask:
    """What is refused alike everywhere: unknown things, malformed requests, wrong methods, too much."""
    success = SUCCESS[operation.id]
    match status:
        case 404:
            assert ":uuid" in operation.path, "what is not found here?"
            unknown = {
                name: UNKNOWN for name, value in PATH.items() if name.endswith("_id") and name != "validation_id"
            }
            return Ask(success.body, success.query, success.scene, unknown, success.content_type)
        case 400 if operation.body is not NoneType:
            return Ask(b'{"', success.query, success.scene)
        case 400 if ":uuid" in operation.path:
            return Ask(success.body, success.query, success.scene, dict.fromkeys(PATH, "no-id"), success.content_type)
        case 405:
            return Ask()
        case 413:
            return Ask(b" " * (operation.body_cap + 1), success.query, content_type=success.content_type)
        case _:
            raise AssertionError(f"Say how {operation.id} is refused with {status}.")
