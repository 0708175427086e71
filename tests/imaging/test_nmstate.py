"""nmstatectl comes out of the base image's own root file system, and only for those who need it."""

import asyncio
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
from tests.imaging.api import ID, OTHER
from tests.imaging.conftest import Images, Start

pytestmark = pytest.mark.anyio

TOOL = b"\x7fELF" + bytes(range(256)) * 300
NETWORK = gzip.compress(archive(("/etc/assisted/network/host0/ymlFile0.yml", b"{}", 0o600)), mtime=0)
CONNECTIONS = gzip.compress(archive(("/etc/assisted/network/host0/eth0.nmconnection", b"", 0o600)), mtime=0)
PXE = f"/images/{ID}/pxe-initrd?version=4.18&arch=x86_64"
KEPT = "nmstatectl-full-iso-418.94.202511191518-0-x86_64.img"
DEPLOYED = "ostree/deploy/rhcos/deploy/abc.0/usr/bin"


def an_image(folder: Path, *, kind: str, tool: bool = True) -> Path:
    """A live image whose root file system is real."""
    place = folder / "root" / DEPLOYED
    place.mkdir(parents=True)
    (place / "bash").write_bytes(b"bash")
    if tool:
        (place / "nmstatectl").write_bytes(TOOL)
    packed, root = folder / f"root.{kind}", folder / "root"
    package, command = {
        "squashfs": ("squashfs-tools", ["mksquashfs", str(root), str(packed), "-quiet", "-no-progress"]),
        "erofs": ("erofs-utils", ["mkfs.erofs", "-zlz4hc", str(packed), str(root)]),
    }[kind]
    if shutil.which(command[0]) is None:
        missing(f"{command[0]} is not installed: sudo apt-get install --no-install-recommends {package}")
    subprocess.run(command, check=True, capture_output=True)
    rootfs = cpio_member(packed.name, packed.read_bytes(), mode=0o100644, inode=1)
    return by_xorriso(folder, tree() | {"images/pxeboot/rootfs.img": rootfs})


@pytest.fixture(scope="module")
def with_tool(xorriso: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return an_image(tmp_path_factory.mktemp("squashfs"), kind="squashfs")


async def brings_it_along(images: Images) -> None:
    images.api.environments[ID].ramdisk = NETWORK
    got = await images.get(images.minimal)
    assert got.status == 200
    found = members(gzip.decompress(contents(got.body)[NMSTATE].rstrip(b"\0") + bytes(4)))
    assert found["usr/bin/nmstatectl"] == (0o100755, TOOL)
    initrd = (await images.get(PXE)).body
    assert initrd.endswith(contents(got.body)[NMSTATE])


async def test_static_network_brings_it_along(start: Start, with_tool: Path, tmp_path: Path) -> None:
    await brings_it_along(await start({"url": with_tool.as_uri()}))
    assert [path.name for path in (tmp_path / "images").iterdir()] == [KEPT]


async def test_erofs(start: Start, xorriso: str, tmp_path: Path) -> None:
    """Debian 12's dump.erofs cannot print a file yet, which is said; a newer one (1.8.5) does."""
    folder = tmp_path / "erofs"
    folder.mkdir()
    image = an_image(folder, kind="erofs")
    told = subprocess.run(["dump.erofs", "--help"], capture_output=True, text=True, check=False)
    images = await start({"url": image.as_uri()})
    if "--cat" in told.stdout + told.stderr:
        await brings_it_along(images)
        return
    images.api.environments[ID].ramdisk = NETWORK
    for path in (images.minimal, PXE):
        got = await images.get(path)
        assert (got.status, "dump.erofs is too old. Install erofs-utils 1.8.5 or newer" in got.reason) == (503, True)
    assert (await images.get(images.full)).status == 200


async def test_many_who_ask_at_once(start: Start, with_tool: Path, tmp_path: Path) -> None:
    images = await start({"url": with_tool.as_uri()})
    for environment in images.api.environments.values():
        environment.ramdisk = NETWORK
    paths = [images.minimal, images.minimal.replace(ID, OTHER), PXE, PXE.replace(ID, OTHER)] * 3
    assert {got.status for got in await asyncio.gather(*map(images.get, paths))} == {200}
    assert [path.name for path in (tmp_path / "images").iterdir()] == [KEPT]


async def test_others_do_without(start: Start, hybrid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = await start({"url": hybrid.as_uri()})
    monkeypatch.setenv("PATH", "/nowhere")
    images.api.environments[ID].ramdisk = gzip.compress(archive(("/etc/proxy.conf", b"", 0o644)))
    assert (await images.get(images.minimal)).status == 200


@pytest.mark.parametrize("version", ["4.17", "4.18"])
async def test_connections_are_enough(
    start: Start, hybrid: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """What the API sends decides, not the version in the address: that may be a build number."""
    images = await start({"url": hybrid.as_uri(), "openshift_version": version})
    monkeypatch.setenv("PATH", "/nowhere")
    images.api.environments[ID].ramdisk = CONNECTIONS
    assert (await images.get(images.minimal.replace("4.18", version))).status == 200
    assert (await images.get(PXE.replace("4.18", version))).status == 200


async def test_what_is_missing_is_said(
    start: Start, hybrid: Path, with_tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = await start({"url": hybrid.as_uri()})
    images.api.environments[ID].ramdisk = NETWORK
    got = await images.get(images.minimal)
    assert (got.status, "is neither squashfs nor erofs. Use the full image" in got.reason) == (503, True)
    images = await start({"url": with_tool.as_uri()})
    images.api.environments[ID].ramdisk = NETWORK
    monkeypatch.setenv("PATH", "/nowhere")
    for path in (images.minimal, PXE):
        got = await images.get(path)
        assert (got.status, "Install the package squashfs-tools" in got.reason) == (503, True)
    assert (await images.get(images.full)).status == 200


async def test_a_base_image_without_it(start: Start, xorriso: str, tmp_path: Path) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()
    images = await start({"url": an_image(folder, kind="squashfs", tool=False).as_uri()})
    images.api.environments[ID].ramdisk = NETWORK
    got = await images.get(PXE)
    assert (got.status, "base image 418.94.202511191518-0 has none. Use the full image" in got.reason) == (503, True)
    assert not (tmp_path / "images").exists() or [*(tmp_path / "images").iterdir()] == []
