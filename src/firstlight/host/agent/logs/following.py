"""The installer's log as it grows, line by line into the agent's own: so that somebody far away sees the disk written.

The file comes when the installer does; it may be rotated, cut, or written faster than anybody reads. Only its end is
looked at, a bounded part at a time, and what was passed over is said.
"""

import asyncio
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from firstlight.host.agent.logs.masking import Masker
from firstlight.host.agent.logs.writing import LONGEST_LINE, Tail

INSTALLER_LOG: Final = "/var/log/assisted-installer.log"
MARK: Final = "installer | "
LOOK_SECONDS: Final = 1.0
MOST_AT_ONCE: Final = 64 * 1024
BACKLOG: Final = 192 * 1024
"""Further behind than this, what is older is passed over: the agent's own lines must stay readable."""
OLD_BYTES: Final = 16 * 1024
"""Shown of a file that was there before us."""
_ENDS: Final = re.compile(rb"[\r\n]+")


class Followed:
    """One file that is read from where it was left. Never raises for what happens to the file."""

    def __init__(self, path: Path, *, secrets: tuple[str, ...] = (), most_old: int = OLD_BYTES) -> None:
        self._path = path
        self._secrets = secrets
        self._masker = Masker(also=secrets)
        self._inode = 0
        self._place = 0
        self._rest = b""
        self._skip_first = False
        state = _regular(path)
        if state is not None:
            self._inode = state.st_ino
            self._place = max(0, state.st_size - most_old)
            self._skip_first = self._place > 0

    def news(self) -> list[str]:
        """Whole lines that came since the last look, masked; about `MOST_AT_ONCE` bytes of them."""
        state = _regular(self._path)
        if state is None:
            return []
        said: list[str] = []
        if state.st_ino != self._inode or state.st_size < self._place:
            self._begin_anew(state.st_ino)
        if state.st_size - self._place > BACKLOG:
            place = state.st_size - MOST_AT_ONCE
            said.append(f"[{place - self._place} bytes were written too quickly to be shown]")
            self._place, self._rest, self._skip_first = place, b"", True
        data = _read(self._path, self._place, inode=self._inode)
        self._place += len(data)
        said += (self._masker.line(line) for line in self._lines(data))
        return said

    def _begin_anew(self, inode: int) -> None:
        self._inode, self._place, self._rest, self._skip_first = inode, 0, b"", False
        self._masker = Masker(also=self._secrets)

    def _lines(self, data: bytes) -> Iterator[str]:
        *whole, rest = _ENDS.split(self._rest + data)
        if whole and self._skip_first:
            # The middle of a line: nothing would tell a secret in it by its name.
            self._skip_first = False
            del whole[0]
        if len(rest) > LONGEST_LINE:
            whole.append(rest)
            rest = b""
        self._rest = rest
        for line in whole:
            text = line[:LONGEST_LINE].decode("utf-8", "replace")
            if plain := "".join(char if char.isprintable() else " " for char in text).rstrip():
                yield plain


async def follow_installer(path: Path, tail: Tail, *, secrets: tuple[str, ...] = ()) -> None:
    """Until cancelled."""
    followed = await asyncio.to_thread(Followed, path, secrets=secrets)
    while True:
        for line in await asyncio.to_thread(followed.news):
            tail.add(MARK + line)
        await asyncio.sleep(LOOK_SECONDS)


def _regular(path: Path) -> os.stat_result | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state if stat.S_ISREG(state.st_mode) else None


def _read(path: Path, place: int, *, inode: int) -> bytes:
    """Nothing, if another file has taken the place of the one that was looked at."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(handle, MOST_AT_ONCE, place) if os.fstat(handle).st_ino == inode else b""
    except OSError:
        return b""
    finally:
        os.close(handle)
