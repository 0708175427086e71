"""Parts of images over HTTP: any of them is the same part of the whole, and conditions are kept."""

import asyncio
import random
import re
from email import message_from_bytes

import pytest

from tests.imaging.api import ID
from tests.imaging.conftest import Images, until

pytestmark = pytest.mark.anyio


async def test_any_range_is_that_part_of_the_whole(images: Images) -> None:
    images.api.environments[ID].kernel_arguments = [{"operation": "append", "value": "p1"}]
    whole = (await images.get(images.full)).body
    size, chance = len(whole), random.Random(4)
    edges = sorted(
        {0, 1, size - 1, size, *(find for find in (whole.find(b"\x1f\x8b"), whole.find(b" p1\n")) if find > 0)}
    )
    pairs = [(a, b) for a in edges for b in edges if a < b]
    pairs += [tuple(sorted(chance.sample(range(size + 1), 2))) for _ in range(150)]
    for start, stop in pairs:
        got = await images.get(images.full, Range=f"bytes={start}-{stop - 1}")
        assert (got.status, got.body) == (206, whole[start:stop])
        assert got.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{size}"
    assert (await images.get(images.full, Range="bytes=-7")).body == whole[-7:]
    assert (await images.get(images.full, Range=f"bytes={size - 9}-")).body == whole[-9:]
    assert len(images.api.calls) == 2  # however many Ranges, the API was asked once


async def test_several_ranges_at_once(images: Images) -> None:
    whole = (await images.get(images.full)).body
    got = await images.get(images.full, Range="bytes=0-9,32768-40000, -5")
    assert got.status == 206
    assert int(got.headers["Content-Length"]) == len(got.body)
    parts = message_from_bytes(b"Content-Type: " + got.headers["Content-Type"].encode() + b"\r\n\r\n" + got.body)
    ranges = [part["Content-Range"] for part in parts.get_payload()]
    size = len(whole)
    assert ranges == [f"bytes 0-9/{size}", f"bytes 32768-40000/{size}", f"bytes {size - 5}-{size - 1}/{size}"]
    boundary = re.search(r"boundary=(\w+)", got.headers["Content-Type"])[1].encode()
    bodies = [piece.partition(b"\r\n\r\n")[2] for piece in got.body.split(b"--" + boundary)[1:-1]]
    assert [body.removesuffix(b"\r\n") for body in bodies] == [whole[:10], whole[32768:40001], whole[-5:]]


async def test_ranges_that_cannot_be(images: Images) -> None:
    size = len(images.base)
    got = await images.get(images.full, Range=f"bytes={size}-")
    assert (got.status, got.headers["Content-Range"]) == (416, f"bytes */{size}")
    for header in ("bytes=5-3", "lines=1-2", "bytes=x"):
        assert (await images.get(images.full, Range=header)).status == 200


async def test_conditions(images: Images) -> None:
    first = await images.get(images.full)
    tag, modified = first.headers["ETag"], first.headers["Last-Modified"]
    before, after = "Thu, 01 Jan 2026 00:00:00 GMT", "Sat, 03 Jan 2026 00:00:00 GMT"
    for headers, status in (
        ({"If_None_Match": tag}, 304),
        ({"If_None_Match": f'"other", W/{tag}'}, 304),
        ({"If_None_Match": "*"}, 304),
        ({"If_None_Match": '"other"'}, 200),
        ({"If_None_Match": '"other"', "If_Modified_Since": after}, 200),
        ({"If_Modified_Since": modified}, 304),
        ({"If_Modified_Since": after}, 304),
        ({"If_Modified_Since": before}, 200),
        ({"If_Modified_Since": "yesterday"}, 200),
        ({"If_Match": tag}, 200),
        ({"If_Match": "*"}, 200),
        ({"If_Match": '"other"'}, 412),
        ({"If_Match": f"W/{tag}"}, 412),
        ({"If_Unmodified_Since": before}, 412),
        ({"If_Unmodified_Since": modified}, 200),
        ({"Range": "bytes=0-9", "If_Range": tag}, 206),
        ({"Range": "bytes=0-9", "If_Range": modified}, 206),
        ({"Range": "bytes=0-9", "If_Range": '"other"'}, 200),
        ({"Range": "bytes=0-9", "If_Range": f"W/{tag}"}, 200),
        ({"Range": "bytes=0-9", "If_Range": before}, 200),
        ({"Range": "bytes=0-9", "If_Range": after}, 200),
    ):
        got = await images.get(images.full, **headers)
        assert (headers, got.status) == (headers, status)
        assert got.headers["ETag"] == tag
        assert len(got.body) == {200: len(images.base), 206: 10}.get(status, 0)


# --- changes in the middle --------------------------------------------------------------------------------------------


async def test_a_change_is_noticed_at_once(images: Images) -> None:
    first = await images.get(images.full)
    images.api.change(ignition=b'{"ignition": {"version": "3.1.0"}}')
    await until(lambda: not images.service.environments.fresh(next(iter(images.service.environments._kept))))
    second = await images.get(images.full)
    assert second.headers["ETag"] != first.headers["ETag"]
    assert second.headers["Last-Modified"] != first.headers["Last-Modified"]
    calls = len(images.api.calls)
    assert (await images.get(images.full)).body == second.body
    assert len(images.api.calls) == calls


async def test_what_happens_to_hosts_changes_no_image(images: Images) -> None:
    await images.get(images.full)
    images.api.tell({"infra_env_id": ID, "host_id": ID})
    images.api.tell({"infra_env_id": "5b1e4a3c-0000-4000-8000-0000000000bb"})
    images.api.tell({"cluster_id": ID})
    await asyncio.sleep(0.1)
    calls = len(images.api.calls)
    await images.get(images.full)
    assert len(images.api.calls) == calls


async def test_a_change_that_changes_no_byte_changes_no_tag(images: Images) -> None:
    first = await images.get(images.full)
    images.api.tell({"infra_env_id": ID})
    await until(lambda: not images.service.environments.fresh(next(iter(images.service.environments._kept))))
    second = await images.get(images.full)
    assert (second.headers["ETag"], second.body) == (first.headers["ETag"], first.body)


async def test_a_started_download_ends_as_it_began(images: Images) -> None:
    expected = (await images.get(images.full)).body
    port = int(images.url.rpartition(":")[2])
    source, sink = await asyncio.open_connection("127.0.0.1", port, limit=4_096)
    sink.write(f"GET {images.full} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    await source.readuntil(b"\r\n\r\n")
    begun = await source.readexactly(2_000)
    images.api.change(ignition=b'{"ignition": {"version": "3.1.0"}}')
    await until(lambda: not images.service.environments.fresh(next(iter(images.service.environments._kept))))
    assert (await images.get(images.full)).body != expected
    assert begun + await source.read(len(expected)) + await _rest(source) == expected
    sink.close()


async def test_who_reads_in_pieces_goes_on_with_the_same_file(images: Images) -> None:
    """Virtual media name no version; a piece of the new file among those of the old would destroy both."""
    old = (await images.get(images.full)).body
    middle = len(old) // 2
    pieces = [(await images.get(images.full, Range=f"bytes=0-{middle - 1}")).body]
    images.api.change(ignition=b'{"ignition": {"version": "3.1.0"}}')
    await until(lambda: not images.service.environments.fresh(next(iter(images.service.environments._kept))))
    pieces.append((await images.get(images.full, Range=f"bytes={middle}-")).body)
    assert b"".join(pieces) == old
    new = await images.get(images.full)
    assert new.body != old
    named = await images.get(images.full, Range="bytes=0-9", If_Range=new.headers["ETag"])
    assert (named.status, named.headers["ETag"]) == (206, new.headers["ETag"])


async def _rest(source: asyncio.StreamReader) -> bytes:
    return await source.read(-1)
