"""Putting the page on terminals: only when it changed, never faster than once a second, never waiting for one."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from firstlight.host.agent.board import Board
from firstlight.host.agent.console.page import page_of
from firstlight.host.agent.logs.writing import Tail
from firstlight.host.root import Root
from firstlight.host.settings import AUTOMATIC

CLEAR: Final = "\x1b[H\x1b[2J"
PAUSE_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 30.0
"""Log lines alone are no reason to draw anew; a terminal that did not take the page is tried again then."""
SHOWN_LINES: Final = 8
WRITE_TRIES: Final = 20
WRITE_PAUSE: Final = 0.05


def consoles_of(names: tuple[str, ...], *, root: Root) -> tuple[str, ...]:
    """Paths of the terminals to write to; `auto` are the screen and every serial line the kernel itself writes to."""
    found: list[str] = []
    for name in names:
        if name == AUTOMATIC:
            active = (root.text("/sys/class/tty/console/active") or "").split()
            found += ["/dev/tty1", *(f"/dev/{tty}" for tty in active if not tty.startswith("tty0"))]
        else:
            found.append(name)
    return tuple(dict.fromkeys(found))


async def show(board: Board, tail: Tail, *, consoles: tuple[str, ...], path: Callable[[str], str]) -> None:
    """Until cancelled. A terminal that is missing or stuck is left alone until the next page."""
    shown: dict[str, str] = {}
    while True:
        news = board.news
        text = page_of(board.picture, last_lines=tail.last(SHOWN_LINES) if board.picture.trouble else ())
        for console in consoles:
            if shown.get(console) != text and await write(path(console), CLEAR + text.replace("\n", "\r\n")):
                shown[console] = text
        await asyncio.sleep(PAUSE_SECONDS)
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await news.wait()


async def write(path: str, text: str) -> bool:
    """Whether all of it was taken. A serial line with its flow stopped takes nothing, for ever."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        left = text.encode("ascii", "replace")
        for _ in range(WRITE_TRIES):
            with suppress(BlockingIOError):
                left = left[os.write(handle, left) :]
            if not left:
                return True
            await asyncio.sleep(WRITE_PAUSE)
    except OSError:
        return False
    finally:
        os.close(handle)
    return False
