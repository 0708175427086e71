"""Archives, read back the way the kernel reads them."""

import gzip

import pytest

from firstlight.core.images.cpio import archive, ignition_archive


def members(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Name → mode and contents, read as the format is described."""
    found: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        name = data[at + 110 : at + 110 + fields[11] - 1].decode()
        at += -(-(110 + fields[11]) // 4) * 4
        if name == "TRAILER!!!":
            return found
        found[name] = (fields[1], data[at : at + fields[6]])
        at += -(-fields[6] // 4) * 4


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 1_000])
def test_the_ignition_archive(size: int) -> None:
    packed = ignition_archive(b"x" * size)
    assert len(packed) % 4 == 0
    assert packed == ignition_archive(b"x" * size)
    assert packed[4:8] == bytes(4)  # no time in it
    assert members(gzip.decompress(packed)) == {"config.ign": (0o100644, b"x" * size)}


def test_folders_come_before_what_lies_in_them() -> None:
    found = members(archive(("usr/bin/tool", b"#!", 0o755), ("usr/lib/x", b"", 0o600)))
    assert list(found) == ["usr", "usr/bin", "usr/bin/tool", "usr/lib", "usr/lib/x"]
    assert found["usr/bin"][0] == 0o040755
    assert found["usr/bin/tool"] == (0o100755, b"#!")
