"""Image URLs that end: nobody begins under one, whoever is reading reads on."""

import time
from pathlib import Path

import pytest

from firstlight.server.auth.compact import sign_hs256
from firstlight.server.imaging.answers import Request
from firstlight.server.imaging.pins import GOING_ON_SECONDS, Pins
from tests.imaging.api import ID
from tests.imaging.conftest import Images, Start

pytestmark = pytest.mark.anyio


def url(ends_at: float, form: str = "bytoken") -> str:
    token = sign_hs256({"exp": int(ends_at), "sub": ID}, b"any")
    return f"/{form}/{token}/4.18/x86_64/full.iso"


class Moment:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def at(images: Images) -> Moment:
    """The image service's idea of the time."""
    moment = Moment()
    images.service._now = moment
    return moment


async def test_the_last_second(images: Images, at: Moment) -> None:
    for form in ("bytoken", "byapikey"):
        path = url(at.now + 60, form)
        assert (await images.get(path)).status == 200
    at.now = int(at.now) + 59
    assert (await images.get(path)).status == 200
    at.now += 1
    got = await images.get(path)
    assert (got.status, "new one" in got.reason) == (401, True)
    assert (await images.ask("HEAD", path)).status == 401
    long = path.split("/")[2]
    assert (await images.get(f"/images/{ID}?version=4.18&type=full-iso&image_token={long}")).status == 401
    assert (await images.get(f"/images/{ID}/pxe-initrd?version=4.18&api_key={long}")).status == 401


async def test_whoever_reads_pieces_reads_on(images: Images, at: Moment) -> None:
    path, never = url(at.now + 60), url(at.now + 61)
    whole = (await images.get(path)).body
    assert (await images.get(path, Range="bytes=0-99")).body == whole[:100]
    at.now += 3_600
    got = await images.get(path, Range="bytes=100-199")
    assert (got.status, got.body) == (206, whole[100:200])
    # Others, who have only heard of the address, and whoever wants all of it again, are too late.
    assert (await images.get(never, Range="bytes=0-99")).status == 401
    assert (await images.get(path)).status == 401
    stranger = Request(b"GET", path.encode(), {b"range": "bytes=0-99"}, "192.0.2.66")
    answer = images.service.quick(stranger)
    assert answer is not None
    assert answer.status == 401


async def test_reading_on_has_an_end(images: Images) -> None:
    seconds = [0.0]
    pins = Pins(lambda: seconds[0])
    image = next(iter([made[3] for made in images.service._images.values()]), None)
    if image is None:
        await images.get(images.full)
        image = next(iter(images.service._images.values()))[3]
    pins.choose("a", b"/x", image)
    seconds[0] += GOING_ON_SECONDS
    assert pins.reading("a", b"/x") is image
    seconds[0] += GOING_ON_SECONDS + 1
    assert pins.reading("a", b"/x") is None
    assert pins.reading("b", b"/x") is None


@pytest.mark.parametrize("token", ["x", "a.b", "a.b.c", "e30.e30.e30", "%00", "x" * 5_000])
async def test_what_is_no_token(start: Start, tmp_path: Path, token: str) -> None:
    images = await start()
    assert (await images.get(f"/bytoken/{token}/4.18/x86_64/full.iso")).status in (401, 404)
