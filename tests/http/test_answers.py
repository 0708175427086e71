"""How answers are sent: error documents, files, compression, ETags, CORS, streams."""

import gzip

import anyio
import msgspec
import pytest
from prometheus_client import CollectorRegistry
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from firstlight.core.errors import Conflict, Error, NotFound
from firstlight.server.http.errors import answer_to
from firstlight.server.ports.database import LostRace
from firstlight.server.usecases.deciding import busy
from tests.http.client import ask
from tests.http.sample import BASE, CLUSTER, World, an_app

pytestmark = pytest.mark.anyio
OPERATORS = f"{BASE}/v2/supported-operators"
FILES = f"{CLUSTER}/downloads/files"
LIST = f"{BASE}/v2/clusters"


@pytest.mark.parametrize(
    ("failure", "status", "reason"),
    [
        ("missing", 404, "Cluster x does not exist."),
        ("busy", 409, "Cluster x is installing."),
        ("wrong", 400, "The VIP is not in any machine network."),
        ("file", 422, "The file name has a space."),
        ("big", 413, "The manifest is too large."),
        ("later", 503, "The image service is not reachable yet."),
    ],
)
async def test_what_the_service_decides_is_document_a(failure: str, status: int, reason: str) -> None:
    answer = await ask(an_app(), "GET", f"{OPERATORS}/{failure}")
    expected = {"code": str(status), "href": "", "id": status, "kind": "Error", "reason": reason}
    assert (answer.status, answer.json()) == (status, expected)


@pytest.mark.parametrize(
    ("failure", "status", "message"),
    [
        ("nobody", 401, "unauthenticated for invalid credentials"),
        ("refused", 403, "The role read-only-admin may not do this."),
        ("hidden", 404, "Object Not Found"),
    ],
)
async def test_refused_credentials_are_document_c(failure: str, status: int, message: str) -> None:
    answer = await ask(an_app(), "GET", f"{OPERATORS}/{failure}")
    assert (answer.status, answer.json()) == (status, {"code": status, "message": message})


async def test_an_unknown_operator_is_not_found_without_words() -> None:
    answer = await ask(an_app(), "GET", f"{OPERATORS}/unknown")
    assert (answer.status, answer.body) == (404, b"")


async def test_an_unforeseen_error_is_named_by_its_request_id_alone() -> None:
    registry = CollectorRegistry()
    with capture_logs(processors=[merge_contextvars]) as logs:
        answer = await ask(an_app(registry=registry), "GET", f"{OPERATORS}/bug")
    error = answer.json()
    assert (answer.status, error["code"], error["kind"]) == (500, "500", "Error")
    assert answer.headers["x-request-id"] in error["reason"]
    assert "secret-of-the-house" not in answer.body.decode()
    assert registry.get_sample_value("firstlight_http_unexpected_errors_total") == 1
    failure = next(entry for entry in logs if entry["event"] == "request failed unexpectedly")
    assert failure["request_id"] == answer.headers["x-request-id"]
    assert failure["exc_info"]


@pytest.mark.parametrize(("method", "path", "status"), [("DELETE", CLUSTER, 204)])
async def test_no_content(method: str, path: str, status: int) -> None:
    answer = await ask(an_app(), method, path)
    assert (answer.status, answer.body) == (status, b"")
    assert answer.headers.keys() == {"x-request-id"}


async def test_an_answer_from_a_cache_is_sent_as_it_is() -> None:
    answer = await ask(an_app(), "GET", f"{CLUSTER}/install-config")
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b'"cached"', "application/json")


async def test_headers_beside_the_value() -> None:
    assert (await ask(an_app(), "GET", LIST)).headers["event-count"] == "1"


async def test_a_file() -> None:
    answer = await ask(an_app(), "GET", FILES, query="file_name=kubeconfig")
    assert (answer.status, answer.body) == (200, b"apiVersion: v1")
    assert answer.headers["content-disposition"] == 'attachment; filename="kubeconfig"'
    assert answer.headers["content-length"] == "14"
    assert answer.headers["last-modified"] == "Sun, 15 Nov 2026 04:05:06 GMT"
    assert answer.headers["content-type"] == "application/octet-stream"


async def test_an_odd_file_name_stays_in_its_quotes() -> None:
    answer = await ask(an_app(), "GET", FILES, query="file_name=odd")
    assert answer.headers["content-disposition"] == 'attachment; filename="a_____.txt"'


async def test_a_streamed_file() -> None:
    answer = await ask(an_app(), "GET", FILES, query="file_name=stream", receive=staying)
    assert (answer.status, answer.body, answer.headers["content-length"]) == (200, b"first second", "12")


async def test_a_file_that_cannot_be_sent_is_still_a_json_error() -> None:
    answer = await ask(an_app(), "GET", FILES, query="file_name=broken")
    assert (answer.status, answer.json()["reason"]) == (409, "The file is not there yet.")


async def test_a_stream_that_breaks_midway_cuts_the_connection() -> None:
    with pytest.raises(RuntimeError, match="too late"):
        await ask(an_app(), "GET", FILES, query="file_name=late", receive=staying)


async def staying() -> dict[str, object]:
    """A caller who sends nothing more and does not leave."""
    await anyio.sleep_forever()
    raise AssertionError


async def test_a_stream_ends_when_the_caller_leaves() -> None:
    world = World()
    enough = anyio.Event()
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)
        if len(sent) == 3:
            enough.set()

    scope = {"type": "http", "method": "GET", "path": "/api/firstlight/v1/events", "query_string": b"", "headers": []}
    await an_app(world)(scope, receive, send)  # pyright: ignore[reportArgumentType]
    assert sent[0]["status"] == 200
    assert {message["type"] for message in sent[1:]} == {"http.response.body"}
    assert world.stream_ended


@pytest.mark.parametrize(
    ("accept", "hosts", "compressed"),
    [
        ("gzip", "true", True),
        ("br, GZIP;q=0.5", "true", True),
        ("*", "true", True),
        ("gzip;q=0", "true", False),
        ("identity", "true", False),
        ("", "true", False),
        ("gzip", "false", False),
    ],
)
async def test_large_answers_are_compressed_for_those_who_can_read_it(
    accept: str, hosts: str, compressed: bool
) -> None:
    answer = await ask(an_app(), "GET", LIST, query=f"with_hosts={hosts}", headers={"accept-encoding": accept})
    assert ("content-encoding" in answer.headers) is compressed
    body = gzip.decompress(answer.body) if compressed else answer.body
    assert body.startswith(b'["cluster"')
    assert int(answer.headers["content-length"]) == len(answer.body)


async def test_an_unchanged_answer_is_not_sent_again() -> None:
    app = an_app()
    tag = (await ask(app, "GET", LIST)).headers["etag"]
    again = await ask(app, "GET", LIST, headers={"if-none-match": f'"other", {tag}'})
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    changed = await ask(app, "GET", LIST, query="with_hosts=true", headers={"if-none-match": tag})
    assert changed.status == 200
    assert "etag" not in (await ask(app, "GET", f"{CLUSTER}/install-config")).headers


ORIGIN = "https://console.example.com"


@pytest.mark.parametrize(
    ("allowed", "shared"),
    [
        ([ORIGIN], True),
        (["console.example.com"], True),
        (["*.example.com"], True),
        (["https://other.example.com"], False),
        (["example.com"], False),
        ([], False),
    ],
)
async def test_only_allowed_origins_may_read(allowed: list[str], shared: bool) -> None:
    answer = await ask(an_app(allowed_domains=allowed), "GET", LIST, headers={"origin": ORIGIN})
    assert (answer.headers.get("access-control-allow-origin") == ORIGIN) is shared
    exposed = answer.headers.get("access-control-expose-headers", "")
    assert all((name in exposed) is shared for name in ("Event-Count", "Severity-Count-Error"))


async def test_a_preflight_is_answered_for_ten_minutes() -> None:
    headers = {"origin": ORIGIN, "access-control-request-method": "PATCH"}
    answer = await ask(an_app(allowed_domains=[ORIGIN]), "OPTIONS", LIST, headers=headers)
    assert (answer.status, answer.headers["access-control-max-age"]) == (204, "600")
    assert "PATCH" in answer.headers["access-control-allow-methods"]
    assert (await ask(an_app(), "OPTIONS", LIST, headers=headers)).status == 405


async def test_the_log_has_no_secrets() -> None:
    with capture_logs() as logs:
        await ask(
            an_app(),
            "PUT",
            f"{CLUSTER}/ui-settings",
            query="api_key=hush-1&image_token=hush-2",
            body=b'"hush-3"',
            headers={"authorization": "Bearer hush-4", "x-secret-key": "hush-5"},
        )
    assert [entry["operation"] for entry in logs] == ["V2UpdateClusterUISettings"]
    assert logs[0]["status"] == 200
    assert "hush" not in str(logs)


async def test_requests_are_counted_by_operation() -> None:
    registry = CollectorRegistry()
    app = an_app(registry=registry)
    await ask(app, "DELETE", CLUSTER)
    await ask(app, "DELETE", f"{BASE}/v2/clusters/x")
    for status in ("204", "400"):
        labels = {"operation": "v2DeregisterCluster", "status": status}
        assert registry.get_sample_value("firstlight_http_requests_total", labels) == 1
    labels = {"operation": "v2DeregisterCluster"}
    assert registry.get_sample_value("firstlight_http_request_seconds_count", labels) == 2


@pytest.mark.parametrize(
    ("path", "query", "kind"),
    [
        (f"{BASE.rpartition('/')[0]}/firstlight/v1/events", "", "text/event-stream"),
        (FILES, "file_name=stream", "application/octet-stream"),
    ],
    ids=["endless", "file"],
)
async def test_whoever_asks_for_the_head_does_not_wait_for_the_end(path: str, query: str, kind: str) -> None:
    with anyio.fail_after(60):
        answer = await ask(an_app(), "HEAD", path, query=query)
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == kind
    assert answer.headers.get("content-length") == ("12" if query else None)


@pytest.mark.parametrize(
    ("error", "to_person", "to_machine"),
    [
        (busy("Cluster x"), 409, 503),
        (LostRace(None, "Somebody was faster."), 409, 503),
        (Conflict("Cluster x is installing.", code="wrong-state"), 409, 409),
        (NotFound("There is no cluster x."), 404, 404),
    ],
    ids=["busy", "race", "state", "missing"],
)
async def test_machines_are_asked_to_come_again_where_people_see_a_conflict(
    error: Error, to_person: int, to_machine: int
) -> None:
    assert answer_to(error).status == to_person
    told = answer_to(error, to_machine=True)
    assert told.status == to_machine
    assert msgspec.json.decode(told.encoded())["code"] == str(to_machine)
