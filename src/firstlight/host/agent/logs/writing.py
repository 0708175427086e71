"""The agent's own log: to the system journal under the tag that log collection looks for, to a file, to stdout.

The last lines are kept, numbered by their place in the whole, for the live log and the status page. A log that cannot
be written stops nobody.
"""

import os
import socket
import sys
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from firstlight.host.agent.logs.masking import Masker
from firstlight.host.journal import SOCKET, journal_record
from firstlight.host.settings import Logging

TAG: Final = "agent"
KEPT_BYTES: Final = 256 * 1024
LONGEST_LINE: Final = 8_192
LONGEST_TRACE: Final = 7_168
"""Of which the end says most: the sentence before it must not cost that."""
ERROR, WARNING, INFO, DEBUG = 3, 4, 6, 7
_WORDS: Final = {ERROR: "error", WARNING: "warning", INFO: "info", DEBUG: "debug"}


class Line(Struct, frozen=True):
    offset: int
    """Bytes of everything before it."""
    text: bytes


class Tail:
    """The last lines of a log that never ends, by their place in it."""

    def __init__(self, *, most: int = KEPT_BYTES) -> None:
        self._most = most
        self._lines: deque[Line] = deque()
        self.end = 0
        self._heard: list[Callable[[], None]] = []

    @property
    def start(self) -> int:
        """The oldest byte that is still here."""
        return self._lines[0].offset if self._lines else self.end

    def add(self, text: str) -> None:
        data = text.encode("utf-8", "replace") + b"\n"
        self._lines.append(Line(self.end, data))
        self.end += len(data)
        while self.end - self.start > self._most:
            self._lines.popleft()
        for heard in self._heard:
            heard()

    def listen(self, heard: Callable[[], None]) -> None:
        self._heard.append(heard)

    def since(self, offset: int, *, most: int) -> tuple[int, bytes]:
        """Whole lines from the first that begins at or after `offset`, and where they begin; at most `most` bytes."""
        found: list[bytes] = []
        begin, size = self.end, 0
        for line in self._lines:
            if line.offset < offset:
                continue
            if found and size + len(line.text) > most:
                break
            begin = line.offset if not found else begin
            found.append(line.text)
            size += len(line.text)
        return begin, b"".join(found)

    def last(self, count: int) -> tuple[str, ...]:
        lines = list(self._lines)[-count:] if count else []
        return tuple(line.text.decode("utf-8", "replace").rstrip("\n") for line in lines)


class Log:
    def __init__(
        self,
        where: Logging,
        *,
        role: str = TAG,
        folder: Path | None = None,
        secrets: tuple[str, ...] = (),
        dry_id: str = "",
        journal: Path = SOCKET,
    ) -> None:
        self.tail = Tail()
        self._secrets = secrets
        self._where = where
        self._file = None if folder is None or not where.text else folder / f"{role}.log"
        self._role = role
        self._dry_id = dry_id
        self._address = str(journal)
        self._journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if where.journal else None
        if self._journal is not None:
            self._journal.setblocking(False)

    def info(self, sentence: str, **facts: object) -> None:
        self.write(INFO, sentence, **facts)

    def warning(self, sentence: str, **facts: object) -> None:
        self.write(WARNING, sentence, **facts)

    def error(self, sentence: str, **facts: object) -> None:
        self.write(ERROR, sentence, **facts)

    def failure(self, sentence: str, reason: BaseException, **facts: object) -> None:
        """An error nobody foresaw, with where it came from."""
        trace = self._masked("".join(traceback.format_exception(reason)))[-LONGEST_TRACE:]
        self.write(ERROR, f"{sentence} {trace}", **facts)

    def write(self, priority: int, sentence: str, **facts: object) -> None:
        text = " ".join([sentence, *(f"{name}={value}" for name, value in facts.items() if value not in ("", None))])
        text = self._masked(text)[:LONGEST_LINE]
        stamped = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {_WORDS[priority]:7} {text}"
        self.tail.add(stamped.replace("\n", " | "))
        sent = self._journal is not None and self._to_journal(priority, text)
        if self._where.stdout or (self._where.journal and not sent):
            with suppress(OSError, ValueError):
                sys.stdout.write(stamped + "\n")
                sys.stdout.flush()
        if self._file is not None:
            with suppress(OSError), self._file.open("a") as file:
                file.write(stamped + "\n")

    def _masked(self, text: str) -> str:
        """Always before it is cut: half a secret is not found any more."""
        masker = Masker(also=self._secrets)
        return "".join(masker.line(line) for line in text.splitlines(keepends=True))

    def _to_journal(self, priority: int, text: str) -> bool:
        fields = {
            "MESSAGE": text,
            "PRIORITY": str(priority),
            "TAG": TAG,
            "SYSLOG_IDENTIFIER": self._role,
            "SYSLOG_PID": str(os.getpid()),
        } | ({"DRY_AGENT_ID": self._dry_id} if self._dry_id else {})
        try:
            assert self._journal is not None
            self._journal.sendto(journal_record(fields), self._address)
        except OSError:
            return False
        return True
