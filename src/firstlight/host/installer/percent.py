"""How far a program says it is: the first percentage in parentheses of each line it ends or draws over."""

import re
from typing import Final

STEP: Final = 5
LONGEST_LINE: Final = 4096
BRACKETED: Final = re.compile(rb"\((\d{1,3})%\)")
"""As coreos-installer writes it."""
BARE: Final = re.compile(rb"(?<![\d.,])(\d{1,3})%")
"""As rsync writes it."""
_ENDS: Final = re.compile(rb"[\r\n]")


class Percents:
    """Pieces of output in, percentages worth a report out. One for each attempt: every attempt begins at nothing."""

    def __init__(self, form: re.Pattern[bytes] = BRACKETED) -> None:
        self._form = form
        self._line = b""
        self._last = 0

    def hear(self, piece: bytes) -> int | None:
        """The newest percentage, if it is at least five points above the last one told, or the first 100."""
        *lines, rest = _ENDS.split(self._line + piece)
        self._line = rest[-LONGEST_LINE:]
        found = [percent for line in lines if (percent := percent_in(line, form=self._form)) is not None]
        if not found:
            return None
        percent = max(found)
        if percent >= self._last + STEP or (percent == 100 and self._last < 100):
            self._last = percent
            return percent
        return None


def percent_in(line: bytes, *, form: re.Pattern[bytes] = BRACKETED) -> int | None:
    match = form.search(line)
    if match is None:
        return None
    percent = int(match[1])
    return percent if percent <= 100 else None
