"""nmstatectl out of a base image's own root file system: from 4.18 on, minimal images set up their network with it."""

import gzip
import os
import re
import shutil
import subprocess
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from firstlight.core.errors import Unavailable
from firstlight.core.images.cpio import archive, padded
from firstlight.server.imaging.base_images import Base, file_name

FILE_SYSTEM: Final = 124
"""Where in rootfs.img its file system begins: one cpio header and the name of the only large member."""
SQUASHFS: Final = b"hsqs"
EROFS: Final = bytes.fromhex("e2e1f5e0")
EROFS_SUPERBLOCK: Final = 1_024
PATH: Final = "usr/bin/nmstatectl"
DEPLOYMENTS: Final = "/ostree/deploy"
SECONDS: Final = 300
LARGEST: Final = 256 * 1024 * 1024
OTHERWISE: Final = "Use the full image, which brings the static network along."
_DESCRIBED: Final = re.compile(rb"/etc/assisted/network/host\d+/ymlFile")
_LOOKED_AT: Final = 64 * 1024 * 1024
_one_at_a_time: Final = threading.Lock()


def needed(ramdisk: bytes) -> bool:
    """Does this ramdisk bring descriptions, which nothing but nmstatectl can apply? Connections do without."""
    return _DESCRIBED.search(_unpacked(ramdisk)) is not None


def nmstate_archive(base: Base, folder: Path) -> Path:
    """The archive with nmstatectl, made at the first call and kept. Blocks. Unavailable when it cannot be had."""
    target = folder / file_name(base.image).replace("rhcos-", "nmstatectl-").replace(".iso", ".img")
    with _one_at_a_time:
        if not target.exists():
            _store(target, padded(gzip.compress(archive((PATH, _extracted(base), 0o755)), compresslevel=6, mtime=0)))
    return target


def _store(target: Path, content: bytes) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.rename(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _cannot_be_had(f"it cannot be stored in {target.parent}: {error.strerror or error}") from None


def _extracted(base: Base) -> bytes:
    if base.iso.rootfs is None:
        raise _cannot_be_had("the base image has no root file system")
    begin = base.iso.rootfs.offset + FILE_SYSTEM
    if base.read(begin, len(SQUASHFS)) == SQUASHFS:
        found = _from_squashfs(base.path, begin)
    elif base.read(begin + EROFS_SUPERBLOCK, len(EROFS)) == EROFS:
        found = _from_erofs(base.path, begin)
    else:
        raise _cannot_be_had("the root file system of the base image is neither squashfs nor erofs")
    if not found:
        raise _cannot_be_had(f"the base image {base.image.version} has none")
    return found


def _from_squashfs(image: Path, begin: int) -> bytes:
    tool = shutil.which("unsquashfs")
    if tool is None:
        raise _cannot_be_had("unsquashfs is missing. Install the package squashfs-tools")
    offset = ["-o", str(begin)]
    listed = _run([tool, *offset, "-lc", "-d", "", str(image)]).decode("utf-8", "replace").splitlines()
    path = next((line for line in listed if line.endswith(f"/{PATH}")), None)
    return b"" if path is None else _run([tool, *offset, "-cat", str(image), path.lstrip("/")])


def _from_erofs(image: Path, begin: int) -> bytes:
    tool = shutil.which("dump.erofs")
    if tool is None or b"--cat" not in _run([tool, "--help"], words_on_either=True):
        state = "is missing" if tool is None else "is too old"
        raise _cannot_be_had(f"dump.erofs {state}. Install erofs-utils 1.8.5 or newer")

    def dump(what: str, path: str) -> bytes:
        return _run([tool, f"--offset={begin}", what, f"--path={path}", str(image)])

    def folders(path: str) -> Iterator[str]:
        """Below this one; the program's list has number, kind and name on a line, and kind 2 is a folder."""
        for line in dump("--ls", path).decode("utf-8", "replace").splitlines():
            words = line.split(maxsplit=2)
            if len(words) == 3 and words[0].isdigit() and words[1] == "2" and words[2] not in (".", ".."):
                yield f"{path}/{words[2]}"

    for system in folders(DEPLOYMENTS):
        for deployed in folders(f"{system}/deploy"):
            if content := dump("--cat", f"{deployed}/{PATH}"):
                return content
    return dump("--cat", f"/{PATH}")


def _run(command: list[str], *, words_on_either: bool = False) -> bytes:
    kept = subprocess.STDOUT if words_on_either else subprocess.PIPE
    try:
        done = subprocess.run(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=kept,
            timeout=SECONDS,
            check=not words_on_either,
        )
    except (OSError, subprocess.SubprocessError):
        raise _cannot_be_had("the root file system of the base image cannot be read") from None
    if len(done.stdout) > LARGEST:
        raise _cannot_be_had("the one in the base image is impossibly large")
    return done.stdout


def _cannot_be_had(reason: str) -> Unavailable:
    return Unavailable(
        f"Static network in this image needs nmstatectl out of the base image, but {reason}. {OTHERWISE}",
        code="nmstatectl-missing",
    )


def _unpacked(ramdisk: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=47).decompress(ramdisk, _LOOKED_AT)
    except zlib.error:
        return ramdisk
