"""The small ramdisk beside a minimal image: static network and proxy must be known before the rest is fetched."""

import gzip
from collections.abc import Iterator, Sequence
from typing import Final

from firstlight.core.images.cpio import cpio_member
from firstlight.core.install.inputs import HostFile, ProxySettings
from firstlight.core.install.static_network import StaticNetwork
from firstlight.core.install.static_network_files import UNIT_NAME, initramfs_unit
from firstlight.core.install.unit_files import environment_line

UNITS: Final = "/etc/systemd/system"
PROXY_PATH: Final = f"{UNITS}/coreos-livepxe-rootfs.service.d/10-proxy.conf"
FOLDER: Final = 0o040755
FILE: Final = 0o100000
LINK: Final = 0o120777


def minimal_ramdisk(network: StaticNetwork | None, *, proxy: ProxySettings, delay_seconds: int = 0) -> bytes:
    """A gzip-compressed cpio archive; nothing at all when there is nothing to tell. Equal inputs give equal bytes."""
    files = [*(network_members(network, delay_seconds=delay_seconds) if network else ())]
    if proxy.is_set:
        lines = "".join(environment_line(name, value) for name, value in proxy.environment)
        files.append(HostFile(path=PROXY_PATH, content=f"[Service]\n{lines}".encode(), mode=0o664))
    if not files:
        return b""
    links = {f"{UNITS}/initrd.target.wants/{UNIT_NAME}": f"{UNITS}/{UNIT_NAME}"} if network else {}
    return gzip.compress(b"".join(members(files, links)), mtime=0)


def network_members(network: StaticNetwork, *, delay_seconds: int) -> Iterator[HostFile]:
    yield from network.files
    yield from network.scripts
    unit = initramfs_unit(network.applied_by, delay_seconds=delay_seconds)
    yield HostFile(path=f"{UNITS}/{UNIT_NAME}", content=unit.encode(), mode=0o644)


def members(files: Sequence[HostFile], links: dict[str, str]) -> Iterator[bytes]:
    """Every folder before what lies in it: the kernel unpacks in order and makes no folders of its own."""
    made: set[str] = set()
    inode = 0
    nodes = [(one.path, one.content, FILE | one.mode) for one in files]
    nodes += [(path, target.encode(), LINK) for path, target in links.items()]
    for path, content, mode in nodes:
        for folder in folders_above(path):
            if folder not in made:
                made.add(folder)
                inode += 1
                yield cpio_member(folder, b"", mode=FOLDER, inode=inode)
        inode += 1
        yield cpio_member(path, content, mode=mode, inode=inode)
    yield cpio_member("TRAILER!!!", b"", mode=0, inode=0)


def folders_above(path: str) -> list[str]:
    parts = path.strip("/").split("/")
    return ["/" + "/".join(parts[:depth]) for depth in range(1, len(parts))]
