"""What every place for blobs promises, tried on each with the same tests."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from firstlight.core.errors import Invalid, NotFound, TooLarge
from firstlight.server.ports.blobs import MAX_KEY_BYTES, MAX_SEGMENT_BYTES, RESERVED, Blobs

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    for piece in data:
        yield piece


async def collected(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in stream])


async def keys(blobs: Blobs, prefix: str) -> list[str]:
    return [blob.key for blob in await blobs.list_under(prefix)]


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 400], ids=["empty", "one-byte", "100-kib"])
async def test_what_was_put_comes_back(blobs: Blobs, data: bytes) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    await blobs.put("clusters/1/a.txt", data)
    assert await blobs.get("clusters/1/a.txt") == data
    found = await blobs.head("clusters/1/a.txt")
    assert (found.key, found.size) == ("clusters/1/a.txt", len(data))
    assert before <= found.modified <= datetime.now(UTC) + timedelta(seconds=2)


async def test_put_replaces(blobs: Blobs) -> None:
    await blobs.put("a", b"a long first text")
    await blobs.put("a", b"short")
    assert await blobs.get("a") == b"short"


@pytest.mark.parametrize(
    "name", ["x y", " ", "ünï", "%41", "#?&+=;:@,!", "'\"<>|*`$^~{}[]()", "...", "-rf", "a" * MAX_SEGMENT_BYTES]
)
async def test_odd_names_are_just_names(blobs: Blobs, name: str) -> None:
    key = f"manifests/{name}"
    await blobs.put(key, name.encode())
    assert await blobs.get(key) == name.encode()
    assert await keys(blobs, "manifests") == [key]
    await blobs.delete(key)
    assert await keys(blobs, "") == []


async def test_the_longest_key_is_accepted_and_one_more_byte_is_not(blobs: Blobs) -> None:
    key = "/".join(["d" * 200] * 4) + "/" + "e" * (MAX_KEY_BYTES - 804)
    assert len(key) == MAX_KEY_BYTES
    await blobs.put(key, b"deep")
    assert await blobs.get(key) == b"deep"
    with pytest.raises(Invalid, match="too long"):
        await blobs.put(key + "e", b"")


HOSTILE = [
    "", "/", "/etc/passwd", "..", "../x", "a/../b", "a/..", ".", "./a", "a/./b", "a//b", "a/", "a\0b", "a\nb", "a\\b",
    "\x7f", "\ud800", "x" * (MAX_SEGMENT_BYTES + 1), "ü" * 128, f"{RESERVED}/a", RESERVED,
]  # fmt: skip
CALLS: dict[str, Callable[[Blobs, str], Awaitable[object]]] = {
    "put": lambda blobs, key: blobs.put(key, b"x"),
    "put_stream": lambda blobs, key: blobs.put_stream(key, pieces(b"x"), max_bytes=10),
    "get": lambda blobs, key: blobs.get(key),
    "get_range": lambda blobs, key: blobs.get_range(key, start=0, length=1),
    "stream": lambda blobs, key: collected(blobs.stream(key)),
    "head": lambda blobs, key: blobs.head(key),
    "delete": lambda blobs, key: blobs.delete(key),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
async def test_hostile_keys_are_refused(blobs: Blobs, call: Callable[[Blobs, str], Awaitable[object]]) -> None:
    for key in HOSTILE:
        with pytest.raises(Invalid):
            await call(blobs, key)
    assert await keys(blobs, "") == []


@pytest.mark.parametrize("call", [CALLS[name] for name in ("get", "get_range", "stream", "head")])
@pytest.mark.parametrize("key", ["nothing", "folder", "folder/blob/below"])
async def test_missing_blobs_are_not_found(
    blobs: Blobs, call: Callable[[Blobs, str], Awaitable[object]], key: str
) -> None:
    await blobs.put("folder/blob", b"")
    with pytest.raises(NotFound, match=key):
        await call(blobs, key)


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, 4, b"0123"),
        (3, 4, b"3456"),
        (6, 4, b"6789"),
        (7, 4, b"789"),
        (9, 4, b"9"),
        (10, 4, b""),
        (11, 4, b""),
        (2, 0, b""),
    ],
)
async def test_ranges_end_with_the_blob(blobs: Blobs, start: int, length: int, expected: bytes) -> None:
    await blobs.put("a", b"0123456789")
    assert await blobs.get_range("a", start=start, length=length) == expected
    assert await collected(blobs.stream("a", start=start)) == b"0123456789"[start:]


async def test_a_long_stream_goes_in_and_out_in_pieces(blobs: Blobs) -> None:
    parts = [bytes([number]) * MIB for number in range(18)]
    size = await blobs.put_stream("big", pieces(*parts), max_bytes=18 * MIB)
    assert size == 18 * MIB
    count, at = 0, 0
    async for piece in blobs.stream("big"):
        assert piece == b"".join(parts)[at : at + len(piece)]
        count, at = count + 1, at + len(piece)
    assert at == size
    assert count > 1


async def test_a_stream_may_have_exactly_the_allowed_size(blobs: Blobs) -> None:
    assert await blobs.put_stream("a", pieces(b"123", b"", b"45"), max_bytes=5) == 5
    assert await blobs.get("a") == b"12345"
    with pytest.raises(TooLarge, match="5 bytes"):
        await blobs.put_stream("a", pieces(b"abc", b"def"), max_bytes=5)
    assert await blobs.get("a") == b"12345"


@pytest.mark.parametrize("size", [10, 12 * MIB], ids=["small", "multipart"])
async def test_a_stream_that_breaks_leaves_nothing(blobs: Blobs, size: int) -> None:
    async def broken() -> AsyncIterator[bytes]:
        for _ in range(10):
            yield b"x" * (size // 10)
        raise ConnectionResetError("the client went away")

    with pytest.raises(ConnectionResetError):
        await blobs.put_stream("a/b", broken(), max_bytes=100 * MIB)
    assert await keys(blobs, "") == []


async def test_a_prefix_is_a_path_not_a_string(blobs: Blobs) -> None:
    for key in ("a/b/1", "a/b/c/2", "a/bc/3", "a/b.txt", "ab/4", "a0/5"):
        await blobs.put(key, key.encode())
    assert await keys(blobs, "a/b") == ["a/b/1", "a/b/c/2"]
    assert await keys(blobs, "a/b/") == ["a/b/1", "a/b/c/2"]
    assert await keys(blobs, "a") == ["a/b.txt", "a/b/1", "a/b/c/2", "a/bc/3"]
    assert await keys(blobs, "a/b/1") == []
    assert await keys(blobs, "none") == []
    assert len(await keys(blobs, "")) == 6
    with pytest.raises(Invalid):
        await blobs.list_under("a/../b")

    assert await blobs.delete_under("a/b") == 2
    assert await blobs.delete_under("a/b") == 0
    assert await keys(blobs, "") == ["a/b.txt", "a/bc/3", "a0/5", "ab/4"]
    with pytest.raises(Invalid):
        await blobs.delete_under("..")


async def test_delete_takes_one_and_forgives_none(blobs: Blobs) -> None:
    await blobs.put("a/1", b"")
    await blobs.put("a/2", b"")
    await blobs.delete("a/1")
    await blobs.delete("a/1")
    await blobs.delete("a")
    assert await keys(blobs, "") == ["a/2"]
