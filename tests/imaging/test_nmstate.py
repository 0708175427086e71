"""nmstatectl comes out of the base image's own root file system, and only for those who need it."""

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from firstlight.core.images.cpio import archive, cpio_member
from firstlight.core.images.minimal_iso import NMSTATE
from tests.builders.live_isos import by_xorriso, tree
from tests.conftest import missing
from tests.core.images.test_cpio import members
from tests.core.images.test_minimal_iso import contents
from tests.imaging.api import ID
from tests.imaging.conftest import Start

pytestmark = pytest.mark.anyio

TOOL = b"\x7fELF" + bytes(range(256)) * 300
NETWORK = gzip.compress(archive(("/etc/assisted/network/host0/ymlFile0.yml", b"{}", 0o600)), mtime=0)
PXE = f"/images/{ID}/pxe-initrd?version=4.18&arch=x86_64"


@pytest.fixture(scope="module")
def with_tool(xorriso: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("mksquashfs") is None:
        missing("mksquashfs is not installed: sudo apt-get install --no-install-recommends squashfs-tools")
    folder = tmp_path_factory.mktemp("rootfs")
    place = folder / "root/ostree/deploy/rhcos/deploy/abc.0/usr/bin"
    place.mkdir(parents=True)
    (place / "nmstatectl").write_bytes(TOOL)
    packed = folder / "root.squashfs"
    subprocess.run(
        ["mksquashfs", str(folder / "root"), str(packed), "-quiet", "-no-progress"], check=True, capture_output=True
    )
    rootfs = cpio_member("root.squashfs", packed.read_bytes(), mode=0o100644, inode=1)
    assert rootfs[124:128] == b"hsqs"
    return by_xorriso(folder, tree() | {"images/pxeboot/rootfs.img": rootfs})


async def test_static_network_brings_it_along(start: Start, with_tool: Path, tmp_path: Path) -> None:
    images = await start({"url": with_tool.as_uri()})
    images.api.environments[ID].ramdisk = NETWORK
    got = await images.get(images.minimal)
    assert got.status == 200
    found = members(gzip.decompress(contents(got.body)[NMSTATE].rstrip(b"\0") + bytes(4)))
    assert found["usr/bin/nmstatectl"] == (0o100755, TOOL)
    initrd = (await images.get(PXE)).body
    assert initrd.endswith(contents(got.body)[NMSTATE])
    kept = [path.name for path in (tmp_path / "images").iterdir()]
    assert kept == ["nmstatectl-full-iso-418.94.202511191518-0-x86_64.img"]


async def test_others_do_without(start: Start, hybrid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = await start({"url": hybrid.as_uri()})
    monkeypatch.setenv("PATH", "/nowhere")
    images.api.environments[ID].ramdisk = gzip.compress(archive(("/etc/proxy.conf", b"", 0o644)))
    assert (await images.get(images.minimal)).status == 200


async def test_before_4_18_keyfiles_are_enough(start: Start, hybrid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = await start({"url": hybrid.as_uri(), "openshift_version": "4.17"})
    monkeypatch.setenv("PATH", "/nowhere")
    images.api.environments[ID].ramdisk = NETWORK
    assert (await images.get(images.minimal.replace("4.18", "4.17"))).status == 200


async def test_what_is_missing_is_said(start: Start, hybrid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = await start({"url": hybrid.as_uri()})
    images.api.environments[ID].ramdisk = NETWORK
    got = await images.get(images.minimal)
    assert (got.status, "is not squashfs" in got.reason) == (503, True)
    monkeypatch.setenv("PATH", "/nowhere")
    for path in (images.minimal, PXE):
        got = await images.get(path)
        assert (got.status, "Install the package squashfs-tools" in got.reason) == (503, True)
    assert (await images.get(images.full)).status == 200
