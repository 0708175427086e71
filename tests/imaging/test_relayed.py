"""What the API tells of base images: the image service's own list, downloads as they go on, and getting more."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from firstlight.core.errors import Unavailable
from firstlight.server.base_images.image_service import LARGEST_ANSWER, ImageService, image_service_of
from firstlight.server.http import v1
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.settings import Settings
from tests.builders.live_isos import a_live_iso
from tests.http.client import Answer, ask
from tests.imaging.conftest import BUILD, Start
from tests.small_web import running_web, says
from tests.worlds import a_world

pytestmark = pytest.mark.anyio

LIST = "/api/firstlight/v1/base-images"
ISO = a_live_iso()
Asking = Callable[..., Awaitable[Answer]]


def asking(world: Any, url: str) -> Asking:
    object.__setattr__(world, "base_images", ImageService(url))
    app = build_app(world, operations=operations_of(*v1.MODULES))

    async def asked(method: str, path: str, body: dict[str, str] | None = None, *, query: str = "") -> Answer:
        sent = {} if body is None else {"body": json.dumps(body).encode()}
        return await ask(app, method, path, query=query, headers={"content-type": "application/json"}, **sent)

    return asked


async def test_an_image_is_fetched_and_seen_to_come(start: Start, tmp_path: Path) -> None:
    half, rest = threading.Event(), threading.Event()

    def slowly(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(ISO)))
        request.end_headers()
        request.wfile.write(ISO[: len(ISO) // 2])
        half.set()
        rest.wait(60)
        request.wfile.write(ISO[len(ISO) // 2 :])

    with running_web() as web:
        web.pages["/live.iso"] = slowly
        other = {"url": f"{web.url}/none.iso", "version": "417.1", "openshift_version": "4.17"}
        images = await start({"url": f"{web.url}/live.iso"}, other)
        async with a_world(tmp_path) as world:
            asked = asking(world, images.url)
            first = (await asked("GET", LIST)).json()
            assert [one["state"] for one in first["images"]] == ["missing", "missing"]
            assert "path" not in first["images"][0], "where files lie is nobody's business"

            wish = {"version": BUILD, "cpu_architecture": "x86_64"}
            assert (await asked("POST", f"{LIST}/actions/fetch", wish)).status == 202
            await asyncio.to_thread(half.wait, 60)
            # Whoever knows the list hears of the next one without asking all the time.
            second = (await asked("GET", LIST, query=f"state={first['state']}&wait=30")).json()
            assert second["state"] != first["state"]
            assert second["images"][0]["state"] == "downloading"
            rest.set()
            known = second
            while known["images"][0]["state"] == "downloading":
                known = (await asked("GET", LIST, query=f"state={known['state']}&wait=30")).json()
            assert known["images"][0]["state"] == "ready"
            assert known["bytes_on_disk"] == len(ISO)

            # One that cannot be had says why, and so does one nobody configured.
            refused = await asked("POST", f"{LIST}/actions/fetch", {"version": "417.1", "cpu_architecture": "x86_64"})
            assert refused.status == 503
            assert "404" in refused.json()["reason"]
            unknown = await asked("POST", f"{LIST}/actions/fetch", {"version": "9.9", "cpu_architecture": "x86_64"})
            assert unknown.status == 404


async def test_a_list_that_comes_in_pieces_is_read_whole(anyio_backend: str) -> None:
    one = {"openshift_version": "4.17", "version": "417.1", "cpu_architecture": "x86_64", "type": "", "state": "ready"}
    body = json.dumps([one] * 2_000).encode()

    def in_pieces(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        for start in range(0, len(body), 16_384):
            request.wfile.write(body[start : start + 16_384])

    with running_web() as web:
        web.pages["/base-images"] = in_pieces
        assert len(await ImageService(web.url).listing()) == 2_000


@pytest.mark.parametrize("length", [LARGEST_ANSWER, LARGEST_ANSWER + 1])
async def test_a_list_without_end_is_given_up(length: int, anyio_backend: str) -> None:
    with running_web() as web:
        web.pages["/base-images"] = says(b"[]".ljust(length))
        if length > LARGEST_ANSWER:
            with pytest.raises(Unavailable, match="cannot be read"):
                await ImageService(web.url).listing()
        else:
            assert await ImageService(web.url).listing() == ()


async def test_a_silent_image_service_is_told(tmp_path: Path, anyio_backend: str) -> None:
    async with a_world(tmp_path) as world:
        app = build_app(world, operations=operations_of(*v1.MODULES))
        assert "FIRSTLIGHT_IMAGE_SERVICE_BASE_URL" in (await ask(app, "GET", LIST)).json()["trouble"]
        asked = asking(world, "http://127.0.0.1:9")
        found = (await asked("GET", LIST)).json()
        assert found["images"] == []
        assert "does not answer" in found["trouble"]


@pytest.mark.parametrize(
    ("changes", "url"),
    [
        ({}, "http://127.0.0.1:8888"),
        ({"images_listen": "0.0.0.0:9"}, "http://127.0.0.1:9"),
        ({"images_listen": "[::]:9"}, "http://[::1]:9"),
        ({"images_listen": ":9"}, "http://127.0.0.1:9"),
        ({"enable_image_service": False}, None),
        ({"enable_image_service": False, "image_service_base_url": "https://a.example/"}, "https://a.example"),
    ],
)
def test_which_image_service_is_asked(changes: dict[str, Any], url: str | None, tmp_path: Path) -> None:
    found = image_service_of(Settings(data_dir=tmp_path, **changes))
    assert (found and found._url) == url
