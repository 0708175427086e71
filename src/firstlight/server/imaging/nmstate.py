"""nmstatectl out of a base image's own root file system: from 4.18 on, minimal images set up their network with it."""

import gzip
import os
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Final

from firstlight.core.errors import Unavailable
from firstlight.core.images.cpio import archive, padded
from firstlight.core.versions.numbers import at_least
from firstlight.server.imaging.base_images import Base, file_name

FROM: Final = "4.18"
FILE_SYSTEM: Final = 124
"""Where in rootfs.img its file system begins: one cpio header and the name of the only large member."""
PATH: Final = "usr/bin/nmstatectl"
SECONDS: Final = 300
LARGEST: Final = 256 * 1024 * 1024
_NETWORK: Final = b"/etc/assisted/network/"
_LOOKED_AT: Final = 64 * 1024 * 1024


def needed(base: Base, ramdisk: bytes) -> bool:
    """Does this ramdisk bring static network to a system that expects nmstatectl beside it?"""
    return at_least(base.image.openshift_version, FROM) and _NETWORK in _unpacked(ramdisk)


def nmstate_archive(base: Base, folder: Path) -> Path:
    """The archive with nmstatectl, made at the first call and kept. Blocks. Unavailable when it cannot be had."""
    target = folder / file_name(base.image).replace("rhcos-", "nmstatectl-").replace(".iso", ".img")
    if target.exists():
        return target
    content = padded(gzip.compress(archive((PATH, _extracted(base), 0o755)), compresslevel=6, mtime=0))
    folder.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.rename(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Unavailable(f"nmstatectl cannot be stored: {error.strerror or error}.") from None
    return target


def _extracted(base: Base) -> bytes:
    tool = shutil.which("unsquashfs")
    if tool is None:
        raise Unavailable(
            "Static network in this image needs nmstatectl out of the base image, and for that unsquashfs."
            " Install the package squashfs-tools, or use the full image."
        )
    if base.iso.rootfs is None:
        raise Unavailable("The base image has no root file system to take nmstatectl from.")
    begin = base.iso.rootfs.offset + FILE_SYSTEM
    if base.read(begin, 4) != b"hsqs":
        raise Unavailable("The root file system of the base image is not squashfs, so nmstatectl cannot be taken out.")
    offset = ["-o", str(begin)]
    listed = _run([tool, *offset, "-lc", "-d", "", str(base.path)])
    paths = [line for line in listed.decode("utf-8", "replace").splitlines() if line.endswith(f"/{PATH}")]
    if not paths:
        raise Unavailable("The base image has no nmstatectl.")
    return _run([tool, *offset, "-cat", str(base.path), paths[0].lstrip("/")])


def _run(command: list[str]) -> bytes:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        raise Unavailable("The root file system of the base image cannot be read.") from None
    if len(done.stdout) > LARGEST:
        raise Unavailable("nmstatectl in the base image is impossibly large.")
    return done.stdout


def _unpacked(ramdisk: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=47).decompress(ramdisk, _LOOKED_AT)
    except zlib.error:
        return ramdisk
