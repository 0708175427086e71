"""The machine's file tree as collectors see it: `/` on the host, `/proc/1/root` from our container, a folder in tests.

Reading never raises: what is missing, forbidden or unreadable is None or empty, because a machine that lacks a file is
a fact and no fault. Reads are bounded.
"""

import os
from pathlib import Path
from typing import Final

READ_LIMIT: Final = 8 * 2**20
PAGE: Final = 4096


class Root:
    """A prefix before every path; symbolic links stay inside it as far as they are relative to it."""

    def __init__(self, prefix: Path = Path("/")) -> None:
        self.prefix = prefix
        self._before = str(prefix).rstrip("/")

    def path(self, name: str) -> Path:
        return self.prefix / name.lstrip("/")

    def _full(self, name: str) -> str:
        """The same as text: an inventory may read tens of thousands of files, and path objects cost more than that."""
        return f"{self._before}/{name.lstrip('/')}"

    def bytes(self, name: str, *, most: int = READ_LIMIT) -> bytes | None:
        try:
            handle = os.open(self._full(name), os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        try:
            return _read(handle, most=most)
        except OSError:
            return None
        finally:
            os.close(handle)

    def text(self, name: str, *, most: int = READ_LIMIT) -> str | None:
        data = self.bytes(name, most=most)
        return None if data is None else data.decode("utf-8", "replace")

    def line(self, name: str) -> str | None:
        """A one-value file of sysfs, trimmed."""
        text = self.text(name, most=65_536)
        return None if text is None else text.strip()

    def number(self, name: str) -> int | None:
        try:
            return int(self.line(name) or "")
        except ValueError:
            return None

    def names(self, folder: str) -> tuple[str, ...]:
        """Entries of a folder in order of their names; none if there is no such folder."""
        try:
            with os.scandir(self._full(folder)) as entries:
                return tuple(sorted(entry.name for entry in entries))
        except (OSError, ValueError):
            return ()

    def link(self, name: str) -> str | None:
        """Where a symbolic link points, as written."""
        try:
            return os.readlink(self._full(name))  # noqa: PTH115 - see `_full`
        except (OSError, ValueError):
            return None

    def exists(self, name: str) -> bool:
        try:
            return self.path(name).exists()
        except (OSError, ValueError):
            return False

    def is_folder(self, name: str) -> bool:
        try:
            return self.path(name).is_dir()
        except (OSError, ValueError):
            return False


def _read(handle: int, *, most: int) -> bytes:
    """To the end, or `most` bytes. Nearly every file is smaller than a page; what is not is taken in growing pieces."""
    size = PAGE
    whole = os.read(handle, min(most, size))
    while len(whole) < most and (piece := os.read(handle, min(most - len(whole), size))):
        whole += piece
        size *= 2
    return whole
