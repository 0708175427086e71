"""An image service on a free port, beside a stand-in for the API, over a small image in CoreOS layout."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from firstlight.server.imaging.options import Options
from firstlight.server.imaging.running import serving
from firstlight.server.imaging.service import ImageService
from tests.builders.live_isos import a_live_iso, by_xorriso, tree
from tests.imaging.api import ID, StandIn, running_api

BUILD = "418.94.202511191518-0"


def os_images(*images: dict[str, str]) -> str:
    usual = {"openshift_version": "4.18", "cpu_architecture": "x86_64", "version": BUILD}
    return json.dumps([usual | one for one in images])


@dataclass
class Images:
    url: str
    service: ImageService
    api: StandIn
    session: aiohttp.ClientSession
    base: bytes

    @property
    def full(self) -> str:
        return f"/byid/{ID}/4.18/x86_64/full.iso"

    @property
    def minimal(self) -> str:
        return f"/byid/{ID}/4.18/x86_64/minimal.iso"

    async def get(self, path: str, **headers: str) -> "Got":
        return await self.ask("GET", path, **headers)

    async def ask(self, method: str, path: str, **headers: str) -> "Got":
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(method, self.url + path, headers=sent) as response:
            return Got(response.status, await response.read(), response.headers)


@dataclass
class Got:
    status: int
    body: bytes
    headers: Any

    @property
    def reason(self) -> str:
        document = json.loads(self.body)
        return document.get("reason") or document["message"]


Start = Callable[..., Any]


async def until(true: Callable[[], object], *, seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.005)


@pytest.fixture(scope="session")
def hybrid(xorriso: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return by_xorriso(tmp_path_factory.mktemp("iso"), tree())


@pytest.fixture
async def start(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Start]:
    """Start a service with other options, or with other images than the usual one."""
    async with AsyncExitStack() as stack:

        async def begin(*images: dict[str, str], streams: bool = True, **changes: Any) -> Images:
            api = await stack.enter_async_context(running_api())
            api.streams = streams
            base = a_live_iso()
            (tmp_path / "base.iso").write_bytes(base)
            listening = socket.create_server(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            options = Options(
                listen="127.0.0.1:0",
                api_url=api.url,
                base_url=url,
                folder=str(tmp_path / "images"),
                os_images=os_images(*(images or ({"url": (tmp_path / "base.iso").as_uri()},))),
            )
            options = msgspec.structs.replace(options, **changes)
            service = await stack.enter_async_context(serving(options, listening))
            session = await stack.enter_async_context(aiohttp.ClientSession(auto_decompress=False))
            await until(lambda: service.environments.watched or not streams)
            return Images(url, service, api, session, base)

        yield begin


@pytest.fixture
async def images(start: Start) -> Images:
    return await start()
