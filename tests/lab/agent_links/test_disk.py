"""A real fio on a real loop device, and a mounted one that must stay as it is."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from firstlight.host.actions.registry import ACTIONS
from firstlight.host.collect.lab import Lab, LabDisk
from tests.agent_sites import a_site, output_of, text
from tests.namespaces import network_or_skip, program_or_skip


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    network_or_skip()
    program_or_skip("losetup", package="mount")
    program_or_skip("fio", package="fio")
    image = tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(64 * 2**20)
    made = subprocess.run(["losetup", "--find", "--show", image], check=True, capture_output=True, text=True)
    device = made.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@pytest.mark.anyio
async def test_a_disk_is_measured(loop: str) -> None:
    lab = Lab(disks=(LabDisk(device=loop),))
    done = await ACTIONS["installation-disk-speed-check"].run((text({"path": loop}), "120.00"), a_site(lab=lab))
    reply = output_of(done)
    assert reply["path"] == loop
    assert 0 <= reply.get("io_sync_duration", 0) < 60_000
    assert any(Path(loop).read_bytes()[: 22 * 2**20])


@pytest.mark.anyio
async def test_a_mounted_disk_is_left_alone(loop: str, tmp_path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", loop], check=True)
    point = tmp_path / "mounted"
    point.mkdir()
    subprocess.run(["mount", loop, point], check=True)
    lab = Lab(disks=(LabDisk(device=loop),))
    try:
        done = await ACTIONS["installation-disk-speed-check"].run((text({"path": loop}),), a_site(lab=lab))
    finally:
        subprocess.run(["umount", point], check=True)
    assert done.exit_code == -1
    assert f"mounted at {point}" in done.error
    subprocess.run(["fsck.ext4", "-fn", loop], check=True, capture_output=True)


@pytest.mark.anyio
async def test_data_on_a_disk_that_is_not_chosen_is_left_alone(loop: str) -> None:
    subprocess.run(["mkfs.ext4", "-q", loop], check=True)
    lab = Lab(disks=(LabDisk(device=loop),))
    request = text({"path": loop, "installation_disk": False})
    done = await ACTIONS["installation-disk-speed-check"].run((request,), a_site(lab=lab))
    assert "carries an ext file system" in done.error
    subprocess.run(["fsck.ext4", "-fn", loop], check=True, capture_output=True)
