"""What only a folder can suffer: a full disk, leftovers of a killed service, wrong rights."""

import os
import resource
import stat
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firstlight.core.errors import Invalid, Unavailable
from firstlight.server.blobs.connect import open_blobs
from firstlight.server.blobs.folder import FolderBlobs
from firstlight.server.ports.blobs import RESERVED

pytestmark = pytest.mark.anyio


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """The kernel then refuses to let any file of this process grow, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_keeps_the_old_blob_and_leaves_no_rest(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    await blobs.put("logs/a", b"old")

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(8):
            yield bytes(64 * 1024)

    with no_file_beyond(100_000):
        with pytest.raises(Unavailable, match="no space left"):
            await blobs.put("logs/a", bytes(200_000))
        with pytest.raises(Unavailable, match="no space left"):
            await blobs.put_stream("logs/b", chunks(), max_bytes=10_000_000)
        assert files(tmp_path) == ["logs/a"]
        assert await blobs.get("logs/a") == b"old"
    await blobs.put("logs/a", bytes(200_000))
    assert files(tmp_path) == ["logs/a"]


async def test_leftovers_of_a_killed_service_go_after_a_day(tmp_path: Path) -> None:
    FolderBlobs(tmp_path)
    old, young = tmp_path / RESERVED / "old", tmp_path / RESERVED / "young"
    for path, age in ((old, 24 * 3600 + 60), (young, 24 * 3600 - 60)):
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
    blobs = FolderBlobs(tmp_path)
    assert not old.exists()
    assert young.exists()
    assert await blobs.list_under("") == []


async def test_a_name_is_a_file_or_a_folder(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    await blobs.put("a/b", b"1")
    for key in ("a", "a/b/c"):
        with pytest.raises(Invalid, match="Choose another"):
            await blobs.put(key, b"2")
    assert files(tmp_path) == ["a/b"]


async def test_files_are_private_and_empty_folders_vanish(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    await blobs.put("a/b/c", b"1")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a/b/c").stat().st_mode) & 0o077 == 0
    await blobs.delete("a/b/c")
    assert files(tmp_path) == []
    assert not (tmp_path / "a").exists()


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises((Unavailable, Invalid)):
        open_blobs(str(tmp_path / "file" / "blobs"))


@pytest.mark.parametrize("url", ["", "http://x/y", "file://other-host/x", "s3://"])
async def test_unknown_places_are_refused(url: str) -> None:
    with pytest.raises(Invalid, match="s3://bucket"):
        open_blobs(url)


async def test_urls_and_paths_name_the_same_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    await open_blobs(folder.as_uri()).put("x", b"1")
    assert await open_blobs(str(folder)).get("x") == b"1"
