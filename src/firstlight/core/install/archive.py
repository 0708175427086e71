"""The archive a live image takes its Ignition config from: one file in a gzip-compressed newc cpio."""

import gzip
from typing import Final

MEMBER: Final = "config.ign"
ARCHIVE_LIMIT: Final = 262_144
"""Bytes reserved for the archive in every CoreOS live image."""


def ignition_archive(document: bytes) -> bytes:
    """The archive, padded to a multiple of four; equal documents give equal bytes."""
    plain = cpio_member(MEMBER, document, mode=0o100644, inode=1) + cpio_member("TRAILER!!!", b"", mode=0, inode=0)
    return padded(gzip.compress(plain, mtime=0))


def cpio_member(name: str, content: bytes, *, mode: int, inode: int) -> bytes:
    encoded = name.encode() + b"\0"
    # inode, mode, uid, gid, links, mtime, size, four device numbers, name size, checksum
    fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return padded(header + encoded) + padded(content)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
