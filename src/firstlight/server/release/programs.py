"""Running a program for a while, all of it in one thread beside the loop.

A loop of ours would fork: that copies the page tables of the whole service, and then every page it touches, for each
program anew. Python's own way of starting one shares them until the program runs.
"""

import asyncio
import os
import resource
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

LIMITS: Final = {resource.RLIMIT_CPU: 240, resource.RLIMIT_FSIZE: 512 * 2**20, resource.RLIMIT_CORE: 0}
OUTPUT_LIMIT: Final = 256 * 1024
PIECE_BYTES: Final = 64 * 1024


class Command(Struct, frozen=True, kw_only=True):
    words: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str]
    niceness: int


async def run(command: Command, *, threads: Executor, seconds: float) -> tuple[int, bytes]:
    """Its exit code and the end of what it said. Raises OSError or TimeoutError; nothing of it is left in any case."""
    running = _Running(command)
    ended = asyncio.get_running_loop().run_in_executor(threads, running.to_its_end)
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(ended)
    finally:
        running.stop()
        await asyncio.wait([ended])
        # Whoever was stopped does not care any more how it ended.
        if not ended.cancelled():
            ended.exception()


class _Running:
    """A program that one thread waits for and another one may stop."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._is_over = False
        self._turn = threading.Lock()

    def to_its_end(self) -> tuple[int, bytes]:
        process = self._started()
        try:
            limit(process.pid, niceness=self._command.niceness)
            output = _last_words(process)
            # The process stays a zombie meanwhile, so that its number can be nobody else's yet.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        finally:
            self.stop()
            code = process.wait()
        return code, output

    def _started(self) -> subprocess.Popen[bytes]:
        with self._turn:
            if self._is_over:
                raise InterruptedError
            self._process = subprocess.Popen(  # noqa: S603 - the words are ours, or a program of the release
                self._command.words,
                cwd=self._command.folder,
                env=self._command.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                start_new_session=True,
            )
            return self._process

    def stop(self) -> None:
        """The program and all it has started. Once only: after that its number may belong to another one."""
        with self._turn:
            if self._process is not None and not self._is_over:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._is_over = True


def _last_words(process: subprocess.Popen[bytes]) -> bytes:
    kept = bytearray()
    if process.stdout is not None:
        with process.stdout as output:
            while piece := output.read(PIECE_BYTES):
                kept += piece
                del kept[:-OUTPUT_LIMIT]
    return bytes(kept)


def limit(process_id: int, *, niceness: int) -> None:
    """From outside: code of ours between fork and exec could wait for a lock of another thread for ever.

    The process leads a group of its own. Linux counts threads, and only by their group are all of them reached.
    """
    with suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PGRP, process_id, max(niceness, os.getpriority(os.PRIO_PROCESS, 0)))
        for kind, most in LIMITS.items():
            _, hard = resource.prlimit(process_id, kind)
            # Whoever started us may have set a lower bound, which nobody may raise.
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(process_id, kind, (bound, bound))
