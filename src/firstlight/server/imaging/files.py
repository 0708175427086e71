"""Files that stay open as long as somebody holds them: a download goes on when its image is replaced on disk."""

import asyncio
import os
from pathlib import Path
from typing import Final

import structlog

log = structlog.get_logger(__name__)

AHEAD: Final = 16 * 1024 * 1024
"""How far ahead of what is sent the kernel is asked to read a file from its disk."""


class OpenFile:
    """A file for reading at any place. It is closed when the last answer that needs it is gone."""

    mode = "rb"

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def fileno(self) -> int:
        return self._descriptor

    def read_at(self, offset: int, length: int, /) -> bytes:
        """Fewer bytes than asked for mean the end of the file."""
        return os.pread(self._descriptor, length, offset) if offset >= 0 else b""

    def status(self) -> os.stat_result:
        return os.fstat(self._descriptor)

    def __del__(self) -> None:
        descriptor = getattr(self, "_descriptor", -1)
        if descriptor >= 0:
            os.close(descriptor)


async def send_file(target: int, file: OpenFile, offset: int, length: int) -> None:
    """Send a piece of a file to a non-blocking socket, as fast as it takes it. OSError when either of them fails.

    `loop.sendfile` does the same; this does less between two calls of the kernel.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    own = os.dup(target)  # the loop watches a descriptor for one purpose only, and this one belongs to the transport
    end, asked = offset + length, offset

    def send() -> None:
        nonlocal offset, asked
        if done.done():
            return
        if asked < end and offset + AHEAD > asked:
            os.posix_fadvise(file.fileno(), asked, 2 * AHEAD, os.POSIX_FADV_WILLNEED)
            asked += 2 * AHEAD
        try:
            sent = os.sendfile(own, file.fileno(), offset, end - offset)
        except BlockingIOError:
            return
        except OSError as error:
            done.set_exception(error)
            return
        offset += sent
        if offset == end:
            done.set_result(None)
        elif not sent:
            log.error("a file became shorter while it was sent", file=file.name)
            done.set_exception(OSError("the file is shorter than it was"))

    try:
        loop.add_writer(own, send)
        send()
        await done
    finally:
        loop.remove_writer(own)
        os.close(own)
