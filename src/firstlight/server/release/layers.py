"""Files inside image layers: the newest layer that says something about a path decides.

Reading is blocking and belongs on a thread. A layer is untrusted: names are compared, never used as places to write to.
"""

import errno
import lzma
import posixpath
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from firstlight.core.errors import Invalid, TooLarge, Unavailable

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
WHITEOUT: Final = ".wh."
OPAQUE: Final = ".wh..wh..opq"


class Found(Struct, frozen=True, kw_only=True):
    """What one layer says about a path."""

    link: str = ""
    """Where a symbolic or hard link leads, from the image's root; empty for a regular file."""
    hidden: bool = False
    """The layer removes the path, or replaces it by something that is no file: older layers do not count."""


def take(path: str, layer: Path, *, to: Path, most: int) -> Found | None:
    """What a layer says about a path, and None if nothing. A regular file is written to `to`."""
    path = posixpath.normpath(path.lstrip("/"))
    above = tuple(_above(path))
    hidden = None
    try:
        with tarfile.open(layer, "r:*") as archive:
            for entry in archive:
                name = posixpath.normpath(entry.name.lstrip("/"))
                if name == path:
                    return _entry(archive, entry, path=path, to=to, most=most)
                if name in above and entry.issym():
                    rest = posixpath.relpath(path, name)
                    return Found(link=posixpath.join(_target(name, entry.linkname), rest))
                if _hides(name, path, above):
                    hidden = Found(hidden=True)
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError) as problem:
        if isinstance(problem, OSError) and problem.errno in FULL:
            raise Unavailable(f"/{path} of an image cannot be stored: {problem.strerror}. Make room.") from problem
        raise Invalid(f"An image layer cannot be read: {problem}.") from problem
    return hidden


def _entry(archive: tarfile.TarFile, entry: tarfile.TarInfo, *, path: str, to: Path, most: int) -> Found:
    if entry.issym():
        return Found(link=_target(path, entry.linkname))
    if entry.islnk():
        return Found(link=posixpath.normpath(entry.linkname.lstrip("/")))
    source = archive.extractfile(entry) if entry.isfile() else None
    if source is None:
        return Found(hidden=True)
    if entry.size > most:
        raise TooLarge(f"/{path} has {entry.size} bytes in the image; at most {most} are expected.")
    with to.open("wb") as file:
        shutil.copyfileobj(source, file, 2**20)
    return Found()


def _target(name: str, link: str) -> str:
    """A link's target from the image's root; it cannot leave the image."""
    joined = link if link.startswith("/") else posixpath.join("/", posixpath.dirname(name), link)
    return posixpath.normpath(joined).lstrip("/")


def _above(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _hides(name: str, path: str, above: tuple[str, ...]) -> bool:
    folder, base = posixpath.split(name)
    if base == OPAQUE:
        return folder in above
    if not base.startswith(WHITEOUT):
        return False
    removed = posixpath.join(folder, base.removeprefix(WHITEOUT))
    return removed == path or removed in above
