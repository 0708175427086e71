"""The installer's log: stdout, a file that log collection takes, and the system journal under its own tag."""

import os
import socket
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from firstlight.host.journal import SOCKET, journal_record

TAG: Final = "installer"
FILE: Final = "/var/log/assisted-installer.log"
HIDDEN: Final = "<SECRET>"
LONGEST_LINE: Final = 16_384
LONGEST_TRACE: Final = 8_192
ERROR, WARNING, INFO = 3, 4, 6
_WORDS: Final = {ERROR: "error", WARNING: "warning", INFO: "info"}


class Log:
    """A log that cannot be written stops nobody."""

    def __init__(self, file: Path | None, *, secrets: tuple[str, ...] = (), journal: Path | None = SOCKET) -> None:
        self._file = file
        self._secrets = tuple(filter(None, secrets))
        self._address = str(journal)
        self._journal = None if journal is None else socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        if self._journal is not None:
            self._journal.setblocking(False)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def info(self, sentence: str, **facts: object) -> None:
        self._write(INFO, sentence, facts)

    def warning(self, sentence: str, **facts: object) -> None:
        self._write(WARNING, sentence, facts)

    def error(self, sentence: str, **facts: object) -> None:
        self._write(ERROR, sentence, facts)

    def failure(self, sentence: str, reason: BaseException) -> None:
        """An error nobody foresaw, with where it came from, of which the end says most."""
        # Its beginning is cut off, which must not leave half a secret.
        trace = self.without_secrets("".join(traceback.format_exception(reason)))
        self._write(ERROR, f"{sentence} {trace[-LONGEST_TRACE:]}", {})

    def without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def _write(self, priority: int, sentence: str, facts: dict[str, object]) -> None:
        parts = [sentence, *(f"{name}={value}" for name, value in facts.items() if value not in ("", None))]
        text = self.without_secrets(" ".join(parts))[:LONGEST_LINE]
        stamped = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {_WORDS[priority]:7} {text}\n"
        with suppress(OSError, ValueError):
            sys.stdout.write(stamped)
            sys.stdout.flush()
        if self._file is not None:
            with suppress(OSError), self._file.open("a") as file:
                file.write(stamped)
        if self._journal is not None:
            fields = {
                "MESSAGE": text,
                "PRIORITY": str(priority),
                "TAG": TAG,
                "SYSLOG_IDENTIFIER": TAG,
                "SYSLOG_PID": str(os.getpid()),
            }
            with suppress(OSError):
                self._journal.sendto(journal_record(fields), self._address)
