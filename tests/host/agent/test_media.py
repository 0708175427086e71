"""The discovery medium: gone only if its device says so."""

import asyncio
from pathlib import Path

import pytest

from firstlight.host.agent import media
from firstlight.host.agent.media import MediaCheck, medium_in
from firstlight.host.root import Root

MOUNTED = "sysfs /sys sysfs rw 0 0\n/dev/sr0 /run/media/iso iso9660 ro 0 0\n"


@pytest.mark.parametrize(
    ("mounts", "device"),
    [
        (MOUNTED, "/dev/sr0"),
        ("/dev/sr0 /run/media/iso/deeper iso9660 ro 0 0\n", None),
        ("overlay /run/media/iso overlay rw 0 0\n", None),
        ("", None),
        ("one\n\n \n", None),
    ],
)
def test_which_device_it_is(mounts: str, device: str | None) -> None:
    assert medium_in(mounts) == device


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("content", "mount_point", "gone"),
    [
        (b"CD", True, False),
        (b"C", True, True),
        (None, True, True),
        (None, False, False),
    ],
)
async def test_reading_two_bytes(tmp_path: Path, content: bytes | None, mount_point: bool, gone: bool) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/mounts").write_text(MOUNTED)
    if mount_point:
        (tmp_path / "run/media/iso").mkdir(parents=True)
    if content is not None:
        (tmp_path / "dev/sr0").write_bytes(content)
    assert await MediaCheck(Root(tmp_path)).is_gone() is gone


@pytest.mark.anyio
async def test_a_medium_that_hangs_holds_one_thread_and_may_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dev", "proc", "run/media/iso"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "proc/mounts").write_text(MOUNTED)
    (tmp_path / "dev/sr0").write_bytes(b"CD")
    answers = asyncio.Event()
    reads: list[str] = []

    async def hanging(read: object, path: str) -> bool:
        reads.append(path)
        await answers.wait()
        return True

    monkeypatch.setattr(media.asyncio, "to_thread", hanging)
    monkeypatch.setattr(media, "READ_SECONDS", 0.05)
    check = MediaCheck(Root(tmp_path))
    assert await asyncio.gather(*(check.is_gone() for _ in range(20))) == [True] * 20
    assert len(reads) == 1, "whoever asks while one hangs waits for the same one"
    answers.set()
    monkeypatch.setattr(media, "READ_SECONDS", 60)
    assert not await check.is_gone()
    assert not await check.is_gone()
    assert len(reads) == 2
