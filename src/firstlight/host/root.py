"""The machine's file tree as collectors see it: `/` on the host, `/proc/1/root` from our container, a folder in tests.

Reading never raises: what is missing, forbidden or unreadable is None or empty, because a machine that lacks a file is
a fact and no fault. Reads are bounded.
"""

from pathlib import Path
from typing import Final

READ_LIMIT: Final = 8 * 2**20


class Root:
    """A prefix before every path; symbolic links stay inside it as far as they are relative to it."""

    def __init__(self, prefix: Path = Path("/")) -> None:
        self.prefix = prefix

    def path(self, name: str) -> Path:
        return self.prefix / name.lstrip("/")

    def bytes(self, name: str, *, most: int = READ_LIMIT) -> bytes | None:
        try:
            with self.path(name).open("rb") as file:
                return file.read(most)
        except (OSError, ValueError):
            return None

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
            return tuple(sorted(entry.name for entry in self.path(folder).iterdir()))
        except OSError:
            return ()

    def link(self, name: str) -> str | None:
        """Where a symbolic link points, as written."""
        try:
            return str(self.path(name).readlink())
        except OSError:
            return None

    def exists(self, name: str) -> bool:
        try:
            return self.path(name).exists()
        except OSError:
            return False

    def is_folder(self, name: str) -> bool:
        try:
            return self.path(name).is_dir()
        except OSError:
            return False
