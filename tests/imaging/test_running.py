"""The image service as a process: beside another one, and with its end."""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import aiohttp
import pytest

from firstlight.core.errors import Unavailable
from firstlight.server.imaging.options import options_of
from firstlight.server.imaging.running import start_beside
from firstlight.server.settings import Settings
from tests.builders.live_isos import a_live_iso
from tests.imaging.api import ID, running_api
from tests.imaging.conftest import os_images
from tests.services import free_port

pytestmark = pytest.mark.anyio


def settings(tmp_path: Path, api: str, port: int) -> Settings:
    (tmp_path / "base.iso").write_bytes(a_live_iso())
    return Settings(
        images_listen=f"127.0.0.1:{port}",
        data_dir=tmp_path,
        images_api_url=api,
        FIRSTLIGHT_OS_IMAGES=os_images({"url": (tmp_path / "base.iso").as_uri()}),
    )


async def test_beside_another_process(tmp_path: Path) -> None:
    port = free_port()
    async with running_api() as api, aiohttp.ClientSession() as session:
        async with start_beside(settings(tmp_path, api.url, port)):
            url = f"http://127.0.0.1:{port}"
            async with session.get(f"{url}/byid/{ID}/4.18/x86_64/full.iso") as response:
                assert response.status == 200
                assert len(await response.read()) == (tmp_path / "base.iso").stat().st_size
            child = _children()[0]
            assert os.getpgid(child) != os.getpgid(0), "an interrupt at the terminal must not reach it first"
            os.kill(child, signal.SIGKILL)
            # Whoever comes now waits until the next process is up.
            async with session.get(f"{url}/live") as response:
                assert response.status == 200
            assert _children()[0] != child
        assert _children() == []
        with pytest.raises(aiohttp.ClientConnectionError):
            await session.get(f"{url}/live")


async def test_a_port_that_is_taken_is_known_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        beside = start_beside(settings(tmp_path, "http://127.0.0.1:9", taken.getsockname()[1]))
        with pytest.raises(Unavailable, match="FIRSTLIGHT_IMAGES_LISTEN"):
            await beside.__aenter__()


async def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    port = free_port()
    code = (
        "import asyncio, sys\n"
        "from firstlight.server.imaging.running import start_beside\n"
        "from firstlight.server.settings import Settings\n"
        "async def main():\n"
        "    async with start_beside(Settings()):\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    environment = {**os.environ, "FIRSTLIGHT_IMAGES_LISTEN": f"127.0.0.1:{port}", "FIRSTLIGHT_DATA_DIR": str(tmp_path)}
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code, env=environment)
    async with aiohttp.ClientSession() as session:
        async with asyncio.timeout(60):
            while True:
                try:
                    async with session.get(f"http://127.0.0.1:{port}/live"):
                        break
                except aiohttp.ClientConnectionError:
                    await asyncio.sleep(0.05)
        parent.kill()
        await parent.wait()
        async with asyncio.timeout(60):
            while True:
                try:
                    async with session.get(f"http://127.0.0.1:{port}/live"):
                        await asyncio.sleep(0.05)
                except aiohttp.ClientConnectionError:
                    break


def test_options_come_from_the_settings(tmp_path: Path) -> None:
    options = options_of(
        Settings(
            listen="0.0.0.0:8090",
            images_listen="[::1]:8888",
            data_dir=tmp_path,
            FIRSTLIGHT_OS_IMAGES_REQUEST_HEADERS='{"Authorization": "Bearer x"}',
            FIRSTLIGHT_IMAGE_SERVICE_BASE_URL="http://10.0.0.1:8888/",
        )
    )
    assert options.api_url == "http://127.0.0.1:8090"
    assert options.address == ("::1", 8888)
    assert options.base_url == "http://10.0.0.1:8888"
    assert options.folder == str(tmp_path / "images")
    assert options.request_headers == {"Authorization": "Bearer x"}


def _children() -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        found += [int(pid) for pid in path.read_text().split()]
    return [pid for pid in found if b"firstlight.server.imaging" in Path(f"/proc/{pid}/cmdline").read_bytes()]
