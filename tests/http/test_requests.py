"""How requests are read, row by row of the published wire rules."""

import json
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstlight.server.http.operations import JSON_BODY_CAP
from tests.http.client import ask
from tests.http.sample import BASE, CLUSTER, ID, UPLOAD_CAP, World, an_app

pytestmark = pytest.mark.anyio
CREATE = {"name": "ostest", "openshift_version": "4.18", "pull_secret": "{}"}


def refused(message: str) -> dict[str, object]:
    return {"code": 400, "message": message}


@pytest.mark.parametrize(
    "path", [f"{BASE}/v2/clusters", f"{BASE}/v2/clusters/", f"{BASE}//v2///clusters//", f"/{BASE}/v2/clusters"]
)
async def test_untidy_slashes_are_served_in_place(path: str) -> None:
    answer = await ask(an_app(), "POST", path, body=json.dumps(CREATE).encode())
    assert (answer.status, answer.json()) == (201, {"domain": "ostest"})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"x":1}', 'parsing newClusterParams body from "" failed, because json: unknown field "x"'),
        (b"", "newClusterParams in body is required"),
        (b"  \n", "newClusterParams in body is required"),
        (b"{}", "name in body is required"),
        (b'{"name":1}', "name in body must be of type string, not integer"),
        (b"{", 'parsing newClusterParams body from "" failed, because Input data was truncated'),
        (b"[" * 50_000, 'parsing newClusterParams body from "" failed, because the document is nested too deeply'),
    ],
)
async def test_schema_failures(body: bytes, message: str) -> None:
    answer = await ask(an_app(), "POST", f"{BASE}/v2/clusters", body=body)
    assert (answer.status, answer.json()) == (400, refused(message))
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "body",
    [
        b'{"NAME":"ostest","Openshift_Version":"4.18","PULL_SECRET":"{}"}',
        b'{"name":"ostest","openshift_version":"4.18","pull_secret":"{}","tags":null,"platform":null}',
        b'{"name":"ostest","openshift_version":"4.18","pull_secret":"{}"} and more',
    ],
)
async def test_tolerance(body: bytes) -> None:
    answer = await ask(an_app(), "POST", f"{BASE}/v2/clusters", body=body)
    assert (answer.status, answer.json()) == (201, {"domain": "ostest"})


async def test_unknown_fields_may_be_let_through() -> None:
    app = an_app(ignore_unknown_fields=True)
    body = json.dumps({**CREATE, "x": 1, "platform": {"type": "none", "y": 2}}).encode()
    assert (await ask(app, "POST", f"{BASE}/v2/clusters", body=body)).status == 201


@pytest.mark.parametrize("body", [b"", b"{}", b'{"anything":1}', b"not json", b"\xff"])
@pytest.mark.parametrize(("method", "path", "status"), [("POST", "/actions/install", 202), ("DELETE", "", 204)])
async def test_operations_without_body_ignore_one(method: str, path: str, status: int, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = await ask(an_app(), method, CLUSTER + path, body=body, headers=headers)
    assert answer.status == status


@pytest.mark.parametrize("text", ["AI_UI:{}", "", 'quote " and \\ and ü'])
async def test_string_bodies_come_back_byte_for_byte(text: str) -> None:
    answer = await ask(an_app(), "PUT", f"{CLUSTER}/ui-settings", body=json.dumps(text).encode())
    assert (answer.status, answer.json()) == (200, text)


async def test_a_string_body_must_be_a_string() -> None:
    answer = await ask(an_app(), "PUT", f"{CLUSTER}/ui-settings", body=b'{"a":1}')
    reason = 'parsing body body from "" failed, because the value in body must be of type string, not object'
    assert (answer.status, answer.json()) == (400, refused(reason))


async def test_a_bad_uuid_in_the_path() -> None:
    answer = await ask(an_app(), "DELETE", f"{BASE}/v2/clusters/x")
    assert (answer.status, answer.json()) == (400, refused('cluster_id in path must be of type uuid: "x"'))


async def test_an_unknown_path() -> None:
    answer = await ask(an_app(), "GET", f"{BASE}/v2/nothing")
    assert (answer.status, answer.json()) == (404, {"code": 404, "message": f"path {BASE}/v2/nothing was not found"})


async def test_a_wrong_method() -> None:
    answer = await ask(an_app(), "PATCH", f"{BASE}/v2/clusters")
    message = "method PATCH is not allowed, but [GET,POST] are"
    assert (answer.status, answer.json()) == (405, {"code": 405, "message": message})
    assert answer.headers["allow"] == "GET, POST"


async def test_comma_separated_lists_and_defaults_reach_the_handler() -> None:
    answer = await ask(an_app(), "GET", f"{BASE}/v2/clusters", query="with_hosts=true&ams_subscription_ids=a,b")
    assert len(answer.json()) == 800
    answer = await ask(an_app(), "GET", f"{BASE}/v2/clusters", query="with_hosts=")
    assert len(answer.json()) == 1


@pytest.mark.parametrize(
    ("kind", "status"),
    [("application/json", 201), ("application/json; charset=utf-8", 201), ("", 201), ("text/plain", 400)],
)
async def test_bodies_must_not_claim_to_be_something_else(kind: str, status: int) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = await ask(an_app(), "POST", f"{BASE}/v2/clusters", body=json.dumps(CREATE).encode(), headers=headers)
    assert answer.status == status


@pytest.mark.parametrize(("size", "status"), [(JSON_BODY_CAP, 201), (JSON_BODY_CAP + 1, 413)])
@pytest.mark.parametrize("announced", [True, False])
async def test_the_body_cap(size: int, status: int, announced: bool) -> None:
    start = json.dumps(CREATE).encode()
    body = start + b" " * (size - len(start))
    pieces = [body[index : index + 1_000_000] for index in range(0, len(body), 1_000_000)]
    headers = {"content-length": str(len(body))} if announced else {}
    answer = await ask(an_app(), "POST", f"{BASE}/v2/clusters", body=pieces, headers=headers)
    assert answer.status == status
    if status == 413:
        error = answer.json()
        assert (error["code"], error["id"], error["kind"], error["href"]) == ("413", 413, "Error", "")
        assert str(JSON_BODY_CAP) in error["reason"]


async def test_no_more_than_the_cap_is_read() -> None:
    """An endless body is refused after the cap, not collected."""
    received = 0

    async def endless() -> dict[str, object]:
        nonlocal received
        received += 65_536
        return {"type": "http.request", "body": b" " * 65_536, "more_body": True}

    answer = await ask(an_app(), "POST", f"{BASE}/v2/clusters", receive=endless)
    assert answer.status == 413
    assert received <= JSON_BODY_CAP + 65_536


async def test_a_caller_who_leaves_early_gets_no_answer() -> None:
    world = World()

    async def leaving() -> dict[str, object]:
        return {"type": "http.disconnect"}

    with pytest.raises(IndexError):
        await ask(an_app(world), "POST", f"{BASE}/v2/clusters", receive=leaving)
    assert world.calls == []


GIVEN_ID = "0e8b0a36-1d5c-4f8e-9a67-1f2e3d4c5b6a"


@pytest.mark.parametrize("given_id", [GIVEN_ID, GIVEN_ID.replace("-", "")])
async def test_the_callers_request_id_is_kept(given_id: str) -> None:
    world = World()
    headers = {"x-request-id": given_id}
    answer = await ask(an_app(world), "POST", f"{BASE}/v2/clusters", body=json.dumps(CREATE).encode(), headers=headers)
    assert answer.headers["x-request-id"] == GIVEN_ID
    assert world.calls[0].request_id == UUID(GIVEN_ID)


@pytest.mark.parametrize("given_id", ["", "x\ny", "a" * 5_000])
async def test_another_request_id_is_replaced(given_id: str) -> None:
    answer = await ask(an_app(), "DELETE", CLUSTER, headers={"x-request-id": given_id})
    assert UUID(answer.headers["x-request-id"]).version == 4


def multipart(*fields: tuple[str, bytes]) -> bytes:
    parts = (
        f'--sep\r\nContent-Disposition: form-data; name="{name}"; filename="f"\r\n\r\n'.encode() + content + b"\r\n"
        for name, content in fields
    )
    return b"".join(parts) + b"--sep--\r\n"


FORM = {"content-type": "multipart/form-data; boundary=sep"}


@pytest.mark.parametrize("step", [1, 7, 4_000])
async def test_an_upload_arrives_whole_however_it_is_cut(step: int) -> None:
    world = World()
    body = multipart(("other", b"ignored"), ("upfile", b"--se\r\n--log\x00\xff"), ("third", b"x"))
    pieces = [body[index : index + step] for index in range(0, len(body), step)]
    answer = await ask(an_app(world), "POST", f"{CLUSTER}/logs", body=pieces, headers=FORM)
    assert (answer.status, world.uploaded) == (204, b"--se\r\n--log\x00\xff")


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        pytest.param(FORM, multipart(("other", b"x")), 400, id="no-such-field"),
        pytest.param(FORM, b"garbage", 400, id="no-multipart"),
        pytest.param(FORM, b"", 400, id="empty"),
        pytest.param(FORM, multipart(("upfile", b"x"))[:-20], 400, id="cut-off"),
        pytest.param({}, multipart(("upfile", b"x")), 400, id="no-content-type"),
        pytest.param({"content-type": "multipart/form-data"}, b"", 400, id="no-boundary"),
        pytest.param(FORM, multipart(("upfile", b"x" * UPLOAD_CAP)), 413, id="too-large"),
    ],
)
async def test_bad_uploads(headers: dict[str, str], body: bytes, status: int) -> None:
    answer = await ask(an_app(), "POST", f"{CLUSTER}/logs", body=body, headers=headers)
    assert (answer.status, answer.json()["code"]) == (status, str(status))


FUZZED = an_app(allowed_domains=["*"])
paths = st.sampled_from(
    [
        "/v2/clusters",
        f"/v2/clusters/{ID}/ui-settings",
        f"/v2/clusters/{ID}/logs",
        f"/v2/clusters/{ID}",
        "/v2/clusters/x",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "BREW"]),
    path=paths | st.text(max_size=20),
    body=st.binary(max_size=80) | st.text(max_size=80).map(str.encode),
    query=st.text(max_size=30),
    headers=st.dictionaries(
        st.sampled_from(
            ["content-type", "content-length", "accept-encoding", "if-none-match", "x-request-id", "origin"]
        ),
        st.text(alphabet=st.characters(max_codepoint=126), max_size=30),
    ),
)
async def test_nothing_a_caller_sends_is_our_fault(
    method: str, path: str, body: bytes, query: str, headers: dict[str, str]
) -> None:
    answer = await ask(FUZZED, method, BASE + path, query=query, body=body, headers=headers)
    assert answer.status < 500
