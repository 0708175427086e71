"""Every operation asks for the credentials that it is published with, and for no others."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from firstlight.server.auth.tokens import Role
from firstlight.server.http import v1, v2
from firstlight.server.http.endpoint import full_path
from firstlight.server.http.operations import Access, Operation, operations_of
from firstlight.server.http.reply import Stream
from tests.auth.locked import ADMIN, Locked, locked, tokens_of
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.http.client import Answer, ask
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio
OPERATIONS = {one.id: one for one in operations_of(*v2.MODULES, *v1.MODULES)}
CLOSED = [name for name, one in OPERATIONS.items() if one.access is not Access.PUBLIC]
PEOPLE = Access.USER | Access.READ_ONLY | Access.OWNER
PATH = {"cluster_id": str(CLUSTER_ID), "infra_env_id": str(INFRA_ENV_ID), "host_id": str(host_id(1))}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Locked]:
    async with locked(tmp_path) as service:
        await put_cluster(service.world)
        yield service


async def send(service: Locked, operation: Operation, *, query: str = "", **headers: str) -> Answer:
    path = re.sub(r"{(\w+)(:uuid)?}", lambda found: PATH.get(found[1], "x"), full_path(operation))
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    # Streams never end, unless only their beginning is asked for. A body that fits nothing ends every other operation
    # right after the credentials were looked at.
    method = "HEAD" if operation.answer is Stream else operation.method
    async with asyncio.timeout(60):
        return await ask(service.app, method, path, query=query, body=b"[", headers=sent)


def refused(answer: Answer, status: int) -> None:
    assert answer.status == status, (answer.headers, answer.body[:300])
    document = answer.json()
    assert set(document) == {"code", "message"}
    assert document["code"] == status
    assert ("www-authenticate" in answer.headers) is (status == 401)


async def test_without_a_credential_or_with_the_wrong_one(service: Locked) -> None:
    """Nothing of this gets anywhere, so one world is enough for all of them."""
    wrong = {"Authorization": "Bearer nonsense", "X_Secret_Key": "nonsense", "Image_Token": "a.b.c"}
    for operation in map(OPERATIONS.__getitem__, CLOSED):
        refused(await send(service, operation), 401)
        refused(await send(service, operation, query="signature=x"), 401)
        refused(await send(service, operation, **wrong), 401)
        # Genuine tokens, shown for what they are not.
        if operation.access & PEOPLE:
            refused(await send(service, operation, Authorization=f"Bearer {service.agent()}"), 403)
        else:
            refused(await send(service, operation, X_Secret_Key=service.person()), 403)


@pytest.mark.parametrize("name", CLOSED)
async def test_each_kind_opens_what_it_is_for(service: Locked, name: str) -> None:
    operation = OPERATIONS[name]
    access = operation.access
    shown = {
        Access.AGENT: {"X_Secret_Key": service.agent()},
        Access.WATCHER: {"Watcher_Authorization": service.tokens.watcher("w", expires_at=None)},
    }
    opened = [{"Authorization": ADMIN}, {"Authorization": f"bearer {service.person()}"}] if access & PEOPLE else []
    opened += [headers for flag, headers in shown.items() if flag in access]
    for headers in opened:
        assert (await send(service, operation, **headers)).status not in (401, 403), headers
    for flag, headers in shown.items():
        if flag not in access:
            assert (await send(service, operation, **headers)).status == 401
    looking = await send(service, operation, Authorization=service.person(Role.READ_ONLY))
    if access & PEOPLE:
        assert (looking.status == 403) is (Access.READ_ONLY not in access)


async def test_nobody_needs_a_token_to_log_in_or_out(service: Locked) -> None:
    assert {name for name, one in OPERATIONS.items() if one.access is Access.PUBLIC} == {"logIn", "logOut"}
    for path in ("/health", "/ready", "/metrics", "/api/docs", "/api/assisted-install/openapi"):
        assert (await ask(service.app, "GET", path)).status == 200


async def test_another_service_s_tokens_are_worth_nothing(service: Locked) -> None:
    from tests.auth.locked import FOREIGN_KEYS

    foreign = tokens_of(FOREIGN_KEYS)
    person = foreign.person("eve", role=Role.ADMIN, expires_at=None)
    refused(await send(service, OPERATIONS["v2ListClusters"], Authorization=person), 401)
    agent = foreign.agent(INFRA_ENV_ID, issued_at=NOW)
    refused(await send(service, OPERATIONS["v2GetNextSteps"], X_Secret_Key=agent), 401)
    refused(await send(service, OPERATIONS["GetInfraEnv"], query=f"api_key={agent}"), 401)
