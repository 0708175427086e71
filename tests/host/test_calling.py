"""Calls of all programs of the host: what is told of them when they fail, and what never is."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx2
import pytest

from firstlight.host.calling import Api, Refused, Unreachable, reason_in, service
from firstlight.host.fetching import RoutedTransport, trust
from firstlight.host.forms import bytes_form, file_form
from firstlight.host.root import Root
from tests.host.agent.scripted import Said, document, scripted

SECRET = "sesame-sesame"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def reach(url: str, folder: Path, *, proxies: Mapping[str, str] | None = None, token: str = SECRET) -> Api:
    return service(
        url,
        root=Root(folder),
        ca_certificate=None,
        insecure=False,
        proxies=proxies or {},
        headers={"X-Secret-Key": token},
    )


@pytest.mark.anyio
@pytest.mark.parametrize("token", [f"{SECRET}\r\nX-Other: 1", f"{SECRET}é", f"{SECRET}\x00"])
async def test_a_token_that_cannot_be_sent_is_not_told(tmp_path: Path, token: str) -> None:
    async with scripted(lambda asked: document({})) as server, reach(server.url, tmp_path, token=token) as api:
        with pytest.raises(Unreachable) as failure:
            await api.ask("GET", "/x")
    assert SECRET not in str(failure.value)
    assert server.asked == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    "proxy",
    [
        f"http://name:{SECRET}@127.0.0.1:1",
        f"ftp://name:{SECRET}@127.0.0.1:1",
        f"http://name:{SECRET}@127.0.0.1:port",
        f"http://name:{SECRET}@[::",
    ],
)
async def test_the_password_of_a_proxy_is_not_told(tmp_path: Path, proxy: str) -> None:
    async with reach("http://service.invalid", tmp_path, proxies={"http_proxy": proxy}) as api:
        with pytest.raises(Unreachable) as failure:
            await api.ask("GET", "/x")
    assert SECRET not in str(failure.value) + failure.value.words


@pytest.mark.anyio
async def test_each_call_has_a_number_of_its_own_and_fresh_headers(tmp_path: Path) -> None:
    tokens = iter(["first", "second"])
    async with scripted(lambda asked: document({})) as server:
        async with reach(server.url, tmp_path) as api:
            await api.ask("GET", "/x")
            await api.ask("POST", "/x", document={})
        assert len({asked.headers["x-request-id"] for asked in server.asked}) == 2
        renewed = Api(
            server.url,
            transport=lambda: RoutedTransport(trust(root=Root(tmp_path)), environment={}),
            headers=lambda: {"Authorization": f"Bearer {next(tokens)}"},
        )
        async with renewed as api:
            await api.ask("GET", "/x")
            await api.ask("GET", "/x")
        assert [asked.headers["authorization"] for asked in server.asked[2:]] == ["Bearer first", "Bearer second"]


@pytest.mark.anyio
async def test_who_it_was_stands_in_front(tmp_path: Path) -> None:
    class Other(Refused):
        pass

    async with scripted(lambda asked: Said(404, b'{"reason": "NotFound", "message": "no such node"}')) as server:
        api = Api(
            server.url,
            transport=lambda: RoutedTransport(trust(root=Root(tmp_path)), environment={}),
            headers=dict,
            who="the API server",
            refusal=Other,
        )
        async with api:
            with pytest.raises(Other, match="^the API server answered 404: no such node$"):
                await api.ask("GET", "/x")
        url = server.url
    gone = Api(url, transport=lambda: RoutedTransport(trust(root=Root(tmp_path)), environment={}), headers=dict)
    async with gone:
        with pytest.raises(Unreachable, match="^the service cannot be reached: ") as failure:
            await gone.ask("GET", "/x")
    assert not failure.value.words.startswith("the service")


class _Unclosable(httpx2.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"{}"

    async def aclose(self) -> None:
        raise httpx2.CloseError("the connection is gone already")


class _Gone(httpx2.AsyncBaseTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=_Unclosable(), request=request)


@pytest.mark.anyio
async def test_a_connection_that_cannot_be_closed_was_not_there() -> None:
    async with Api("http://service.invalid", transport=_Gone, headers=dict) as api:
        with pytest.raises(Unreachable, match="gone already"):
            await api.ask("GET", "/x")
        with pytest.raises(Unreachable, match="gone already"):
            async with api.stream("GET", "/x"):
                pass


@pytest.mark.anyio
async def test_an_answer_may_be_as_long_as_allowed_and_no_longer(tmp_path: Path) -> None:
    async with scripted(lambda asked: Said(200, b"12345")) as server:
        for largest, fits in ((5, True), (4, False)):
            api = Api(
                server.url,
                transport=lambda: RoutedTransport(trust(root=Root(tmp_path)), environment={}),
                headers=dict,
                largest=largest,
            )
            async with api:
                if fits:
                    assert await api.ask("GET", "/x") == b"12345"
                else:
                    with pytest.raises(Unreachable, match="longer than 4 bytes"):
                        await api.ask("GET", "/x")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"reason": "R"}', "R"),
        (b'{"reason": null, "message": "M"}', "M"),
        (b'{"reason": "NotFound", "message": "M"}', "M"),
        (b"{}", ""),
    ],
)
def test_reasons_of_services_and_of_api_servers(body: bytes, reason: str) -> None:
    assert reason_in(body) == reason


@pytest.mark.anyio
async def test_both_forms_are_the_same_form(tmp_path: Path) -> None:
    file = tmp_path / "archive"
    file.write_bytes(b"x" * 300_000)
    streamed, headers = file_form(file, file_name="a.tar.gz")
    whole, announced = bytes_form(b"x" * 300_000, file_name="a.tar.gz")
    sent = b"".join([piece async for piece in streamed])
    assert int(headers["Content-Length"]) == len(sent) == len(whole) == int(announced["Content-Length"])
    boundary, other = (one["Content-Type"].partition("boundary=")[2].encode() for one in (headers, announced))
    assert sent.replace(boundary, b"-") == whole.replace(other, b"-")
    assert b'name="upfile"; filename="a.tar.gz"' in sent
