"""Writing newc cpio archives, the only kind the kernel unpacks into its first root file system."""

import gzip
from typing import Final

TRAILER: Final = "TRAILER!!!"
MEMBER: Final = "config.ign"
"""Where the first boot of a live system looks for its Ignition config."""
ARCHIVE_LIMIT: Final = 262_144
"""Bytes reserved for that archive in every CoreOS live image."""
FOLDER: Final = 0o040755
FILE: Final = 0o100000


def ignition_archive(document: bytes) -> bytes:
    """The archive a live image takes its config from, padded to a multiple of four; equal documents, equal bytes."""
    return padded(gzip.compress(archive((MEMBER, document, 0o644)), mtime=0))


def archive(*files: tuple[str, bytes, int]) -> bytes:
    """An uncompressed archive of (name, contents, permissions), each file after the folders it lies in."""
    parts: list[bytes] = []
    made: set[str] = set()
    for name, content, permissions in files:
        steps = name.split("/")[:-1]
        for depth in range(1, len(steps) + 1):
            above = "/".join(steps[:depth])
            if above and above not in made:
                made.add(above)
                parts.append(cpio_member(above, b"", mode=FOLDER, inode=len(parts) + 1))
        parts.append(cpio_member(name, content, mode=FILE | permissions, inode=len(parts) + 1))
    return b"".join((*parts, cpio_member(TRAILER, b"", mode=0, inode=0)))


def cpio_member(name: str, content: bytes, *, mode: int, inode: int) -> bytes:
    encoded = name.encode() + b"\0"
    # inode, mode, uid, gid, links, mtime, size, four device numbers, name size, checksum
    fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return padded(header + encoded) + padded(content)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
