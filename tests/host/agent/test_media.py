"""The discovery medium: gone only if its device says so."""

from pathlib import Path

import pytest

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
