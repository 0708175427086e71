"""The pages beside the API, the API document, and the start and end of the process."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import msgspec
import pytest
from starlette.types import Message, Receive, Scope, Send

from firstlight.core import errors
from firstlight.server.http.endpoint import full_path
from firstlight.server.http.operations import Access, Operation, operations_of
from firstlight.server.usecases.caller import Caller
from tests.http import sample
from tests.http.client import ask
from tests.http.sample import BASE, CLUSTER, OPERATIONS, World, an_app

pytestmark = pytest.mark.anyio


async def ill() -> str:
    return "The oldest due row is 400 s late."


@pytest.mark.parametrize(("path", "option", "status_when_ill"), [("/health", "health", 500), ("/ready", "ready", 503)])
async def test_checks(path: str, option: str, status_when_ill: int) -> None:
    assert (await ask(an_app(), "GET", path)).status == 200
    answer = await ask(an_app(**{option: ill}), "GET", path)
    assert (answer.status, answer.body) == (status_when_ill, b"The oldest due row is 400 s late.")


async def test_metrics() -> None:
    app = an_app()
    await ask(app, "DELETE", CLUSTER)
    answer = await ask(app, "GET", "/metrics")
    assert b'firstlight_http_requests_total{operation="v2DeregisterCluster",status="204"} 1.0' in answer.body


async def test_pages_are_only_read() -> None:
    answer = await ask(an_app(), "POST", "/health")
    assert (answer.status, answer.headers["allow"]) == (405, "GET")


async def test_other_paths_are_for_the_fallback() -> None:
    async def user_interface(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"<html>"})

    app = an_app(fallback=user_interface)
    assert (await ask(app, "GET", "/clusters")).body == b"<html>"
    assert (await ask(app, "GET", "/api/nothing")).status == 404
    assert (await ask(an_app(), "GET", "/clusters")).json() == {"code": 404, "message": "path /clusters was not found"}


@pytest.mark.parametrize("path", [f"{BASE}/openapi", f"{BASE}/v2/openapi"])
async def test_the_document_describes_every_operation(path: str) -> None:
    document = (await ask(an_app(), "GET", path)).json()
    described = {
        (verb.upper(), path): operation["operationId"]
        for path, verbs in document["paths"].items()
        for verb, operation in verbs.items()
    }
    assert described == {
        (operation.method, full_path(operation).replace(":uuid", "")): operation.id for operation in OPERATIONS
    }


async def test_the_document_resolves_within_itself() -> None:
    document = (await ask(an_app(), "GET", f"{BASE}/openapi")).json()
    text = msgspec.json.encode(document).decode()
    referred = {part.partition('"')[0] for part in text.split('"$ref":"#/components/schemas/')[1:]}
    assert referred <= set(document["components"]["schemas"])
    assert {"ClusterCreateParams", "ApiVip", "Error", "InfraError"} <= referred


async def test_one_operation_in_full() -> None:
    document = (await ask(an_app(), "GET", f"{BASE}/openapi")).json()
    operation = document["paths"][f"{BASE}/v2/clusters"]["get"]
    assert operation["summary"] == "List clusters."
    assert operation["security"] == [{"userAuth": []}]
    assert operation["parameters"] == [
        {"name": "with_hosts", "in": "query", "required": False, "schema": {"type": "boolean", "default": False}},
        {
            "name": "ams_subscription_ids",
            "in": "query",
            "required": False,
            "schema": {"type": "array", "items": {"type": "string"}, "default": []},
            "style": "form",
            "explode": False,
        },
    ]
    assert set(operation["responses"]) == {"200", "400", "401", "403", "500"}
    created = document["paths"][f"{BASE}/v2/clusters"]["post"]
    assert set(created["responses"]) == {"201", "400", "401", "403", "409", "413", "500"}
    assert created["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/ClusterCreateParams"
    }


async def test_an_upload_is_described_as_a_form() -> None:
    document = (await ask(an_app(), "GET", f"{BASE}/openapi")).json()
    operation = document["paths"][f"{BASE}/v2/clusters/{{cluster_id}}/logs"]["post"]
    form = operation["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert form["properties"] == {"upfile": {"type": "string", "format": "binary"}}
    assert "413" in operation["responses"]


async def test_the_page_needs_nothing_from_elsewhere() -> None:
    answer = await ask(an_app(), "GET", "/api/docs")
    assert answer.headers["content-type"].startswith("text/html")
    assert b"http://" not in answer.body
    assert b"https://" not in answer.body
    assert b"/api/assisted-install/v2/openapi" in answer.body


def test_a_module_of_handlers_is_collected_in_order() -> None:
    assert operations_of(sample) == OPERATIONS


async def test_the_actor_is_asked_for_before_anything_is_read() -> None:
    asked: list[tuple[Access, str]] = []

    async def authenticate(operation: Operation, path: object, headers: Mapping[str, str], query: bytes) -> Caller:
        asked.append((operation.access, headers.get("authorization", "")))
        raise errors.Unauthenticated("unauthenticated for invalid credentials")

    app = an_app(authenticate=authenticate)
    answer = await ask(app, "POST", f"{BASE}/v2/clusters", body=b"broken", headers={"authorization": "Bearer x"})
    assert answer.status == 401
    assert asked == [(Access.USER, "Bearer x")]


async def test_the_actor_reaches_the_handler() -> None:
    async def authenticate(*_: object) -> Caller:
        return Caller(name="jane", is_admin=False)

    world = World()
    body = b'{"name":"a","openshift_version":"4","pull_secret":""}'
    await ask(an_app(world, authenticate=authenticate), "POST", f"{BASE}/v2/clusters", body=body)
    assert world.calls[0].actor.name == "jane"
    assert world.calls[0].actor.request_id is not None


async def live(app: object, *, stop: str = "lifespan.shutdown") -> list[str]:
    incoming: list[Message] = [{"type": "lifespan.startup"}, {"type": stop}]
    sent: list[str] = []

    async def receive() -> Message:
        return incoming.pop(0)

    async def send(message: Message) -> None:
        sent.append(message["type"])

    await app({"type": "lifespan"}, receive, send)  # pyright: ignore
    return sent


async def test_lifespan() -> None:
    steps: list[str] = []

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        steps.append("start")
        yield
        steps.append("end")

    assert await live(an_app(lifespan=lifespan)) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert steps == ["start", "end"]


async def test_a_failed_start_is_told_to_the_server() -> None:
    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        raise RuntimeError("no database")
        yield

    with pytest.raises(RuntimeError, match="no database"):
        await live(an_app(lifespan=lifespan))


async def test_a_browser_finds_its_way() -> None:
    answer = await ask(an_app(), "GET", "/")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b'href="/api/docs"' in answer.body
