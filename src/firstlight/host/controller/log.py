"""The controller's own log: to stdout, to the file that uploads fall back to, and its end in memory."""

import sys
import traceback
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

KEPT_LINES: Final = 20_000
LONGEST_LINE: Final = 4_096
LONGEST_TRACE: Final = 3_584
"""Of which the end says most: the sentence before it must not cost that."""


class Log:
    def __init__(self, *, file: Path | None = None, secrets: tuple[str, ...] = (), quiet: bool = False) -> None:
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._file = file
        self._secrets = tuple(secret for secret in secrets if secret)
        self._quiet = quiet
        self._last_word: dict[str, str] = {}

    def info(self, sentence: str, **facts: object) -> None:
        self._write("info", sentence, facts)

    def warning(self, sentence: str, **facts: object) -> None:
        self._write("warning", sentence, facts)

    def failure(self, sentence: str, reason: BaseException, **facts: object) -> None:
        """An error nobody foresaw, with where it came from, told once as long as it stays the same."""
        # Its beginning is cut off, which must not leave half a secret.
        trace = self._without_secrets("".join(traceback.format_exception(reason)))[-LONGEST_TRACE:]
        if self._last_word.get(sentence) != trace:
            self._last_word[sentence] = trace
            self._write("error", f"{sentence} {trace}", facts)

    def once(self, about: str, sentence: str, **facts: object) -> None:
        """Say it, unless it was the last thing said about the same subject."""
        whole = f"{sentence}{facts}"
        if self._last_word.get(about) != whole:
            self._last_word[about] = whole
            self._write("info", sentence, facts)

    def text(self) -> bytes:
        return "".join(f"{line}\n" for line in self._lines).encode("utf-8", "replace")

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _write(self, level: str, sentence: str, facts: dict[str, object]) -> None:
        text = " ".join([sentence, *(f"{name}={value}" for name, value in facts.items() if value not in ("", None))])
        text = self._without_secrets(text)
        line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {level:7} {text}".replace("\n", " | ")[:LONGEST_LINE]
        self._lines.append(line)
        if not self._quiet:
            with suppress(OSError, ValueError):
                sys.stdout.write(line + "\n")
                sys.stdout.flush()
        if self._file is not None:
            with suppress(OSError), self._file.open("a") as file:
                file.write(line + "\n")
