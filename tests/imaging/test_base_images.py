"""How base images get here: downloads that break off, lie, or find the disk full; files that are here already."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from firstlight.core.errors import Error, Invalid, NotFound, Unavailable
from firstlight.core.versions.configured import configured_catalogue
from firstlight.server.imaging import downloads
from firstlight.server.imaging.base_images import Library, State, file_name
from firstlight.server.imaging.downloads import Progress, Source, download
from tests.builders.live_isos import a_live_iso
from tests.disks import tiny_disk
from tests.imaging.conftest import BUILD, Start, os_images, until

pytestmark = pytest.mark.anyio

ISO = a_live_iso()
SHA256 = hashlib.sha256(ISO).hexdigest()


@dataclass
class Mirror:
    """A server of base images that can be made to misbehave."""

    url: str = ""
    content: bytes = ISO
    etag: str = '"one"'
    breaks_after: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    chunked: bool = False
    held: asyncio.Event | None = None
    progress: Progress = field(default_factory=Progress)
    """Of whoever is downloading: breaking off waits until they have what was sent."""
    under_way: int = 0
    most_under_way: int = 0

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.ranges.append(request.headers.get("Range", ""))
        self.headers.append(dict(request.headers) | dict(request.query))
        if self.statuses:
            return web.Response(status=self.statuses.pop(0))
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self._serve(request)
        finally:
            self.under_way -= 1

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        start, wanted = 0, request.headers.get("Range", "")
        if wanted and request.headers.get("If-Range") == self.etag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        response = web.StreamResponse(status=206 if start else 200, headers={"ETag": self.etag})
        if start:
            response.headers["Content-Range"] = f"bytes {start}-{len(self.content) - 1}/{len(self.content)}"
        if self.chunked:
            response.enable_chunked_encoding()
        else:
            response.content_length = len(self.content) - start
        await response.prepare(request)
        if self.held is not None:
            await response.write(self.content[start : start + 1])
            start += 1
            await self.held.wait()
        if self.breaks_after:
            piece = self.content[start : start + self.breaks_after.pop(0)]
            await response.write(piece)
            await until(lambda: self.progress.done >= start + len(piece))
            request.transport.close()
            return response
        await response.write(self.content[start:])
        await response.write_eof()
        return response


@asynccontextmanager
async def a_mirror() -> AsyncIterator[Mirror]:
    mirror = Mirror()
    app = web.Application()
    app.router.add_get("/{name:.*}", mirror.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    mirror.url = f"http://127.0.0.1:{runner.addresses[0][1]}/rhcos-live.iso"
    try:
        yield mirror
    finally:
        await runner.cleanup()


@pytest.fixture
async def mirror(anyio_backend: str) -> AsyncIterator[Mirror]:
    async with a_mirror() as found:
        yield found


async def fetch(mirror: Mirror, target: Path, *, sha256: str = "", check: object = None) -> Progress:
    progress = mirror.progress
    source = Source(url=mirror.url, sha256=sha256, headers={"X-Key": "k"}, query={"token": "t"})
    looked = check or (lambda path: None)
    await download(source, target, check=looked, progress=progress, first_pause=0.001)  # type: ignore[arg-type]
    return progress


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_download(mirror: Mirror, tmp_path: Path) -> None:
    progress = await fetch(mirror, tmp_path / "new" / "x.iso", sha256=SHA256)
    assert (tmp_path / "new" / "x.iso").read_bytes() == ISO
    assert (progress.done, progress.total, progress.percent) == (len(ISO), len(ISO), 100)
    assert left_in(tmp_path / "new") == ["x.iso"]
    assert (mirror.headers[0]["X-Key"], mirror.headers[0]["token"]) == ("k", "t")


async def test_it_goes_on_where_it_broke_off(mirror: Mirror, tmp_path: Path) -> None:
    mirror.breaks_after = [100_000, 50_000]
    await fetch(mirror, tmp_path / "x.iso", sha256=SHA256)
    assert (tmp_path / "x.iso").read_bytes() == ISO
    assert mirror.ranges == ["", "bytes=100000-", "bytes=150000-"]


async def test_it_goes_on_after_a_restart(mirror: Mirror, tmp_path: Path) -> None:
    mirror.breaks_after = [100_000] * downloads.ATTEMPTS
    with pytest.raises(Unavailable, match="broke off"):
        await fetch(mirror, tmp_path / "x.iso")
    mirror.ranges.clear()
    await fetch(mirror, tmp_path / "x.iso", sha256=SHA256)
    assert (tmp_path / "x.iso").read_bytes() == ISO
    assert mirror.ranges == ["bytes=500000-"]


async def test_another_file_of_the_same_name_begins_anew(mirror: Mirror, tmp_path: Path) -> None:
    mirror.breaks_after = [100_000]
    mirror.content = bytes(len(ISO))
    task = asyncio.create_task(fetch(mirror, tmp_path / "x.iso", sha256=SHA256))
    while len(mirror.ranges) < 1 or mirror.breaks_after:
        await asyncio.sleep(0)
    mirror.content, mirror.etag = ISO, '"two"'
    await task
    assert (tmp_path / "x.iso").read_bytes() == ISO


async def test_servers_that_do_not_say_how_long_it_is(mirror: Mirror, tmp_path: Path) -> None:
    mirror.chunked = True
    progress = await fetch(mirror, tmp_path / "x.iso", sha256=SHA256)
    assert (tmp_path / "x.iso").read_bytes() == ISO
    assert progress.percent is None


async def test_a_server_that_recovers(mirror: Mirror, tmp_path: Path) -> None:
    mirror.statuses = [503, 429]
    await fetch(mirror, tmp_path / "x.iso", sha256=SHA256)
    assert len(mirror.ranges) == 3


async def test_a_file_that_does_not_exist_is_not_asked_for_again(mirror: Mirror, tmp_path: Path) -> None:
    mirror.statuses = [404]
    with pytest.raises(Unavailable, match="answered 404. Check the URL in OS_IMAGES"):
        await fetch(mirror, tmp_path / "x.iso")
    assert len(mirror.ranges) == 1
    assert "x.iso" not in left_in(tmp_path)


async def test_a_wrong_checksum_leaves_nothing(mirror: Mirror, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=f"Its checksum is {SHA256}, but 0000"):
        await fetch(mirror, tmp_path / "x.iso", sha256="0" * 64)
    assert left_in(tmp_path) == []


async def test_what_is_refused_leaves_nothing(mirror: Mirror, tmp_path: Path) -> None:
    def refuse(path: Path) -> None:
        raise Invalid("It is no image.")

    with pytest.raises(Invalid, match="no image"):
        await fetch(mirror, tmp_path / "x.iso", check=refuse)
    assert left_in(tmp_path) == []


async def test_no_room_is_known_before_anything_is_written(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    monkeypatch.setattr(downloads, "RESERVE", free)
    with pytest.raises(Unavailable, match="The disk is full"):
        await fetch(mirror, tmp_path / "x.iso")
    assert left_in(tmp_path) == []


async def test_a_disk_that_fills_up_in_the_middle(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(downloads, "RESERVE", 0)
    mirror.chunked = True  # nobody knows beforehand how long it will be
    folder = tmp_path / "small"
    folder.mkdir()
    with tiny_disk(folder, size=len(ISO) // 2) as (disk, enlarge):
        with pytest.raises(Unavailable, match=f"The disk is full: .* no more room in {disk}. .*FIRSTLIGHT_IMAGES_DIR"):
            await fetch(mirror, disk / "x.iso")
        assert left_in(disk) == []
        enlarge()
        await fetch(mirror, disk / "x.iso", sha256=SHA256)
        assert (disk / "x.iso").read_bytes() == ISO


async def test_callers_are_told_of_a_full_disk(
    mirror: Mirror, start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(downloads, "RESERVE", 0)
    (tmp_path / "small").mkdir()
    with tiny_disk(tmp_path / "small", size=len(ISO) // 2) as (disk, _):
        good = {"url": (tmp_path / "base.iso").as_uri(), "openshift_version": "4.17", "version": "good"}
        images = await start({"url": mirror.url}, good, folder=str(disk))
        for _ in range(2):
            got = await images.get(images.full)
            assert (got.status, "The disk is full" in got.reason) == (503, True)
        assert left_in(disk) == []
        assert (await images.get(images.full.replace("4.18", "4.17"))).status == 200


async def test_two_processes_do_not_write_into_one_file(mirror: Mirror, tmp_path: Path) -> None:
    mirror.held = asyncio.Event()
    first = asyncio.create_task(fetch(mirror, tmp_path / "x.iso"))
    while not mirror.ranges:
        await asyncio.sleep(0.005)
    with pytest.raises(Unavailable, match="Another process"):
        await fetch(mirror, tmp_path / "x.iso")
    mirror.held.set()
    await first
    assert (tmp_path / "x.iso").read_bytes() == ISO
    await fetch(mirror, tmp_path / "x.iso")
    assert len(mirror.ranges) == 1  # it is here already


# --- the library ------------------------------------------------------------------------------------------------------


def library(tmp_path: Path, *images: dict[str, str], seed: Path | None = None, parallel: int = 2) -> Library:
    catalogue = configured_catalogue(os_images=os_images(*images))
    return Library(catalogue, folder=tmp_path / "images", seed_folder=seed, parallel=parallel)


async def test_one_bad_image_harms_no_other(mirror: Mirror, tmp_path: Path) -> None:
    (tmp_path / "text.iso").write_bytes(b"<html>")
    (tmp_path / "cut.iso").write_bytes(ISO[:-4_096])
    found = library(
        tmp_path,
        {"version": "good", "url": mirror.url},
        {"version": "gone", "url": "http://127.0.0.1:9/x.iso"},
        {"version": "text", "url": (tmp_path / "text.iso").as_uri()},
        {"version": "cut", "url": str(tmp_path / "cut.iso")},
        {"version": "absent", "url": "file:///nowhere/x.iso"},
    )
    for version, words in (
        ("text", "It is not an ISO 9660 image"),
        ("cut", "It is cut off"),
        ("absent", "There is no file at file:///nowhere/x.iso"),
    ):
        with pytest.raises(Unavailable, match=words):
            await found.open(found.find(version, "x86_64"))
    base = await found.open(found.find("good", "x86_64"), patience=30)
    assert base.iso.size == len(ISO)
    states = {one.version: one.state for one in found.listing()}
    assert states == {
        "good": State.READY,
        "gone": State.MISSING,
        "text": State.FAILED,
        "cut": State.FAILED,
        "absent": State.FAILED,
    }
    await found.close()


async def test_requests_are_told_how_far_it_is(mirror: Mirror, tmp_path: Path) -> None:
    mirror.held = asyncio.Event()
    found = library(tmp_path, {"url": mirror.url})
    image = found.find("4.18", "x86_64")
    assert [one.state for one in found.listing()] == [State.MISSING]
    with pytest.raises(Unavailable, match="is being downloaded"):
        await found.open(image, patience=0.2)
    assert [one.state for one in found.listing()] == [State.DOWNLOADING]
    mirror.held.set()
    base = await found.open(image, patience=30)
    assert (await found.open(image)) is base
    assert mirror.ranges == [""]
    assert left_in(tmp_path / "images") == [file_name(image)]
    listed = found.listing()[0]
    assert (listed.state, listed.bytes_on_disk) == (State.READY, len(ISO))
    await found.close()


async def test_what_is_no_live_image_is_not_kept(mirror: Mirror, tmp_path: Path) -> None:
    mirror.content = b"<html>Sorry</html>"
    found = library(tmp_path, {"url": mirror.url})
    with pytest.raises(Unavailable, match="It is not an ISO 9660 image"):
        await found.open(found.find("4.18", "x86_64"), patience=30)
    assert left_in(tmp_path / "images") == []
    with pytest.raises(Unavailable, match="It is not an ISO 9660 image"):  # remembered: not fetched at every request
        await found.open(found.find("4.18", "x86_64"), patience=30)
    assert len(mirror.ranges) == 1
    await found.close()


async def test_downloads_wait_for_their_turn(mirror: Mirror, tmp_path: Path) -> None:
    mirror.held = asyncio.Event()
    images = [{"version": f"build-{number}", "url": mirror.url} for number in range(5)]
    found = library(tmp_path, *images, parallel=2)
    everything = asyncio.create_task(found.prefetch())
    while len(mirror.ranges) < 2:
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.05)
    assert len(mirror.ranges) == 2
    mirror.held.set()
    await everything
    assert mirror.most_under_way <= 2
    assert {one.state for one in found.listing()} == {State.READY}
    await found.close()


@pytest.mark.parametrize("name", ["rhcos-live.iso", f"rhcos-full-iso-{BUILD}-x86_64.iso"])
async def test_images_brought_along(tmp_path: Path, name: str) -> None:
    seed = tmp_path / "seed"
    seed.mkdir()
    (seed / name).write_bytes(ISO)
    found = library(tmp_path, {"url": "http://127.0.0.1:9/a/rhcos-live.iso?x=y"}, seed=seed)
    base = await found.open(found.find("4.18", "x86_64"))
    assert base.path == seed / name
    await found.close()


async def test_the_checksum_of_files_brought_along(tmp_path: Path) -> None:
    (tmp_path / "base.iso").write_bytes(ISO)
    url = (tmp_path / "base.iso").as_uri()
    good = library(tmp_path, {"url": url, "sha256": SHA256.upper()})
    assert (await good.open(good.find("4.18", "x86_64"), patience=30)).iso.size == len(ISO)
    bad = library(tmp_path, {"url": url, "sha256": "0" * 64})
    with pytest.raises(Unavailable, match="Its checksum is"):
        await bad.open(bad.find("4.18", "x86_64"), patience=30)


async def test_a_replaced_file_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "base.iso"
    path.write_bytes(ISO)
    now = [0.0]
    catalogue = configured_catalogue(os_images=os_images({"url": str(path)}))
    found = Library(catalogue, folder=tmp_path / "images", clock=lambda: now[0])
    image = found.find("4.18", "x86_64")
    first = await found.open(image)
    other = tmp_path / "other.iso"
    other.write_bytes(a_live_iso(label="rhcos-other"))
    other.rename(path)
    now[0] += 10
    second = await found.open(image)
    assert (first.iso.label, second.iso.label) == ("rhcos-418.94.202511191518-0", "rhcos-other")
    assert first.file.read_at(0, len(ISO)) == ISO  # whoever holds it still reads it
    await found.close()


def test_names_that_lead_elsewhere_stay_in_the_folder(tmp_path: Path) -> None:
    catalogue = configured_catalogue(os_images=os_images({"version": "../../x", "url": "http://host/../../etc/passwd"}))
    image = catalogue.os_images[0]
    assert "/" not in file_name(image)
    found = Library(catalogue, folder=tmp_path, seed_folder=tmp_path / "seed")
    assert all(path.parent in (tmp_path, tmp_path / "seed") for path in found._candidates(image))


def test_finding(tmp_path: Path) -> None:
    found = library(
        tmp_path,
        {"openshift_version": "4.17", "version": "417.1", "url": "/a"},
        {"openshift_version": "4.18", "version": "418.1", "url": "/b"},
        {"openshift_version": "4.18", "version": "418.1", "cpu_architecture": "aarch64", "url": "/c"},
        {"openshift_version": "4.18", "version": "ove", "url": "/d", "type": "disconnected-iso"},
    )
    assert found.find("4.17", "x86_64").url == "/a"
    assert found.find("418.1", "").url == "/b"
    assert found.find("4.18", "arm64").url == found.find("4.18", "aarch64").url == "/c"
    assert found.find("4.18", "x86_64", kind="disconnected-iso").url == "/d"
    for version, architecture in (("4.19", "x86_64"), ("", "x86_64"), ("4.17", "s390x"), ("ove", "x86_64")):
        with pytest.raises(NotFound):
            found.find(version, architecture)


@pytest.mark.parametrize("change", [{"type": "raw"}, {"sha256": "abc"}, {"sha256": "g" * 64}])
def test_entries_that_cannot_be(change: dict[str, str]) -> None:
    with pytest.raises(Error):
        configured_catalogue(os_images=os_images({"url": "/x"} | change))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(ISO[:-4_096], "It is cut off", id="truncated"),
        pytest.param(ISO[:40_000], "cut off", id="hardly-anything"),
        pytest.param(b"", "It is not an ISO 9660 image", id="empty"),
        pytest.param(b"<html>" + bytes(100_000), "It is not an ISO 9660 image", id="something-else"),
        pytest.param(a_live_iso(label="debian-12"), "debian-12", id="another-system"),
    ],
)
async def test_callers_are_told_what_is_wrong_with_an_image(
    start: Start, tmp_path: Path, content: bytes, words: str
) -> None:
    (tmp_path / "bad.iso").write_bytes(content)
    good = {"url": (tmp_path / "base.iso").as_uri(), "openshift_version": "4.17", "version": "good"}
    images = await start({"url": (tmp_path / "bad.iso").as_uri()}, good)
    for path in (images.full, images.minimal, "/boot-artifacts/kernel?version=4.18&arch=x86_64"):
        got = await images.get(path)
        assert (got.status, words in got.reason) == (503, True), got.reason
    assert (await images.get(images.full.replace("4.18", "4.17"))).status == 200


async def test_without_any_base_image_callers_are_told(start: Start) -> None:
    images = await start({"url": "file:///nowhere.iso"})
    got = await images.get(images.full)
    assert (got.status, got.headers["Retry-After"]) == (503, "15")
    assert "cannot be had" in got.reason
    assert (await images.get("/health")).status == 200
