"""Fetching with real servers: whom to trust, which way to go, how much and how long to wait for."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from firstlight.host.actions.action import Fetch, Unfetched
from firstlight.host.fetching import fetcher, without_secrets
from firstlight.host.root import Root
from tests.host.agent.authorities import authority_and_server
from tests.small_web import Web, running_web, says


@pytest.fixture
def web() -> Iterator[Web]:
    with running_web() as running:
        running.pages["/"] = says(b"hello")
        yield running


def plain(folder: Path, **environment: str) -> Fetch:
    return fetcher(root=Root(folder), environment=environment)


async def got(fetch: Fetch, url: str, *, most: int = 1000, **options: object) -> bytes:
    async with fetch(url, **options) as answer:  # pyright: ignore[reportArgumentType]
        return await answer.body(most=most)


@pytest.mark.anyio
async def test_whom_to_trust(tmp_path: Path) -> None:
    """A server of our own authority: not by the system's roots, by the authority, by everyone who does not look."""
    pem, context = authority_and_server(tmp_path)
    with running_web(context) as web:
        web.pages["/"] = says(b"hello")
        fetch, authority = plain(tmp_path), pem.read_text()
        with pytest.raises(Unfetched, match=r"could not be fetched"):
            await got(fetch, web.url)
        assert await got(fetch, web.url, authorities=authority) == b"hello"
        assert await got(fetch, web.url, authorities=authority, only_these=True) == b"hello"
        assert await got(fetch, web.url, insecure=True) == b"hello"


@pytest.mark.anyio
async def test_the_hosts_own_roots_count(tmp_path: Path) -> None:
    """What the image carries is of no matter: the authorities installed on the host do."""
    pem, context = authority_and_server(tmp_path)
    bundle = tmp_path / "etc/pki/tls/certs/ca-bundle.crt"
    bundle.parent.mkdir(parents=True)
    bundle.write_bytes(pem.read_bytes())
    with running_web(context) as web:
        web.pages["/"] = says(b"hello")
        assert await got(plain(tmp_path), web.url) == b"hello"


@pytest.mark.anyio
async def test_the_proxy_is_used_where_it_is_meant(web: Web, tmp_path: Path) -> None:
    """The request arrives at the proxy with the whole URL; the name behind it need not exist."""
    web.pages["http://hub.example.com/"] = says(b"by proxy")
    fetch = plain(tmp_path, http_proxy=web.url, NO_PROXY="127.0.0.0/8")
    assert await got(fetch, "http://hub.example.com/") == b"by proxy"
    assert await got(fetch, f"{web.url}/") == b"hello"
    assert [path for path, _ in web.seen] == ["http://hub.example.com/", "/"]


@pytest.mark.anyio
async def test_redirects_are_followed_but_not_for_ever(web: Web, tmp_path: Path) -> None:
    web.pages["/there"] = says(b"", status=302, Location="/")
    web.pages["/round"] = says(b"", status=302, Location="/round")
    assert await got(plain(tmp_path), f"{web.url}/there") == b"hello"
    with pytest.raises(Unfetched, match=r"redirects"):
        await got(plain(tmp_path), f"{web.url}/round")


@pytest.mark.anyio
async def test_a_body_has_a_limit(web: Web, tmp_path: Path) -> None:
    assert await got(plain(tmp_path), f"{web.url}/", most=5) == b"hello"
    with pytest.raises(Unfetched, match=r"longer than 4 bytes"):
        await got(plain(tmp_path), f"{web.url}/", most=4)


@pytest.mark.anyio
async def test_an_answer_that_breaks_off_and_one_that_never_comes(web: Web, tmp_path: Path) -> None:
    def short(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "100")
        request.end_headers()
        request.wfile.write(b"half")
        request.close_connection = True

    web.pages["/short"] = short
    with pytest.raises(Unfetched, match=r"broke off"):
        await got(plain(tmp_path), f"{web.url}/short")
    hold = threading.Event()
    web.pages["/never"] = lambda _: bool(hold.wait(20)) and None
    with pytest.raises(Unfetched, match=r"no answer in time"):
        await got(plain(tmp_path), f"{web.url}/never", silence_limit=0.2)
    hold.set()


@pytest.mark.anyio
@pytest.mark.parametrize("url", ["", "nonsense", "http://", "http://[::1", "gopher://x/", "http://x\x00y/"])
async def test_what_is_no_url_is_a_sentence(url: str, tmp_path: Path) -> None:
    with pytest.raises(Unfetched):
        await got(plain(tmp_path), url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:secret@host:1/path?token=x#y", "https://host:1/path"),
        ("http://[::1", "the URL"),
        ("http://host/", "http://host/"),
    ],
)
def test_secrets_of_a_url_are_not_shown(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
