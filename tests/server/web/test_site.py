"""The built files over HTTP: which form is sent, how long it may be kept, and what is left to the API."""

from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from firstlight.server.web.site import Site
from tests.http.client import ask

pytestmark = pytest.mark.anyio

HTML = {"accept": "text/html,*/*"}


async def the_api(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"api"})


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>")
    (tmp_path / "index.html.br").write_bytes(b"smaller")
    (tmp_path / "assets" / "main-1a2b.js").write_text("plain")
    (tmp_path / "assets" / "main-1a2b.js.gz").write_bytes(b"gz")
    (tmp_path / "assets" / "main-1a2b.js.br").write_bytes(b"br")
    (tmp_path / ".sources").write_text("hidden")
    return Site(the_api, folder=tmp_path)


@pytest.mark.parametrize(
    ("accepted", "sent", "encoding"),
    [("gzip, deflate, br", b"br", "br"), ("gzip", b"gz", "gzip"), ("identity", b"plain", None), ("", b"plain", None)],
)
async def test_the_best_form_a_browser_takes(site: Site, accepted: str, sent: bytes, encoding: str | None) -> None:
    answer = await ask(site, "GET", "/assets/main-1a2b.js", headers={"accept-encoding": accepted})
    assert (answer.status, answer.body, answer.headers.get("content-encoding")) == (200, sent, encoding)
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_the_page_is_asked_for_again_and_not_sent_twice(site: Site) -> None:
    first = await ask(site, "GET", "/", headers={"accept-encoding": "br"})
    assert (first.body, first.headers["cache-control"]) == (b"smaller", "no-cache")
    again = await ask(site, "GET", "/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", ["/clusters", "/clusters/new", "/clusters/3f/hosts"])
async def test_addresses_inside_the_pages_are_the_page(site: Site, path: str) -> None:
    assert (await ask(site, "GET", path, headers=HTML)).body == b"<!doctype html>"


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/clusters", {}),
        ("GET", "/assets/gone.js", HTML),
        ("GET", "/.sources", HTML),
        ("GET", "/assets/../index.html", HTML),
        ("POST", "/", HTML),
    ],
)
async def test_everything_else_is_left_to_the_api(site: Site, method: str, path: str, headers: dict[str, str]) -> None:
    assert (await ask(site, method, path, headers=headers)).body == b"api"


async def test_nothing_inline_and_nothing_from_elsewhere(site: Site) -> None:
    policy = (await ask(site, "GET", "/")).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "http" not in policy.replace("https", "")


async def test_without_a_build_the_front_page_says_how_to_get_one(tmp_path: Path) -> None:
    site = Site(the_api, folder=tmp_path / "missing")
    answer = await ask(site, "GET", "/")
    assert answer.status == 200
    assert b"make ui" in answer.body
    assert (await ask(site, "GET", "/clusters", headers=HTML)).status == 404
