"""An installed disk as its image shows it: partitions, the boot partition's files, the loader of UEFI."""

import gzip
import lzma
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.building import run, tool
from lab.root_tree import root_tree

SECTOR = 512
HEADER = 110
PROFILES = "etc/coreos-firstboot-network/"
_LINE = re.compile(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s+\S+ \S+\s+[0-9A-F]{4}\s+(\S+)$", re.MULTILINE)


def unpacked(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Names and contents of an archive in the initramfs's own format."""
    at = 0
    while archive[at : at + 6] == b"070701":
        size, name_size = (int(archive[at + 6 + 8 * field : at + 14 + 8 * field], 16) for field in (6, 11))
        name = archive[at + HEADER : at + HEADER + name_size - 1].decode()
        begin = _aligned(at + HEADER + name_size)
        if name == "TRAILER!!!":
            return
        yield name.lstrip("/"), archive[begin : begin + size]
        at = _aligned(begin + size)


def _aligned(place: int) -> int:
    return (place + 3) // 4 * 4


@dataclass(frozen=True, slots=True)
class InstalledDisk:
    image: Path

    @property
    def partitions(self) -> dict[str, int]:
        """Name → where it begins, in bytes, in order of their numbers."""
        printed = run([tool("sgdisk", package="gdisk"), "--print", self.image])
        return {name: int(start) * SECTOR for _, start, _, name in _LINE.findall(printed)}

    def on_boot(self, path: str) -> bytes:
        """A file of the boot partition; empty if there is none."""
        return self._debugfs(f"cat {path}")

    def listed_on_boot(self, folder: str) -> list[str]:
        printed = self._debugfs(f"ls -p {folder}").decode()
        names = [line.split("/")[5] for line in printed.splitlines() if line.count("/") > 5]
        return sorted(name for name in names if name not in (".", "..") and name)

    def mode_on_boot(self, path: str) -> int:
        found = re.search(r"Mode:\s+(\d+)", self._debugfs(f"stat {path}").decode())
        return int(found[1], 8) if found else 0

    def on_esp(self, path: str) -> bytes:
        where = f"{self.image}@@{self.partitions['EFI-SYSTEM']}"
        command = [tool("mtype", package="mtools"), "-i", where, f"::{path}"]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def profiles(self) -> dict[str, bytes]:
        """Network profiles that coreos-installer appended to the initramfs of the boot entry."""
        after = self.on_boot("/initrd.img")[len((root_tree() / "initrd.img").read_bytes()) :].lstrip(b"\0")
        if not after:
            return {}
        archive = lzma.decompress(after) if after.startswith(b"\xfd7zXZ") else gzip.decompress(after)
        return {
            name.removeprefix(PROFILES): content for name, content in unpacked(archive) if name.startswith(PROFILES)
        }

    def _debugfs(self, request: str) -> bytes:
        where = f"{self.image}?offset={self.partitions['boot']}"
        command = [tool("debugfs", package="e2fsprogs"), "-R", request, where]
        return subprocess.run(command, check=True, capture_output=True).stdout
