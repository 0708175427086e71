"""External programs: an argument list in, a bounded outcome out, never a shell, never without a time limit.

A program runs in a process group of its own, so that its children end with it. Inside our container the programs of
the host are entered through the namespaces of process 1; `HostPrograms` knows how, and nothing else needs to.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, Protocol

import msgspec

OUTPUT_LIMIT: Final = 4 * 2**20
"""More output than this is read, so that the program does not block, but not kept."""
GRACE_SECONDS: Final = 2.0
"""Between asking a program to end and ending it."""
NOT_STARTED: Final = -1
TIMED_OUT: Final = 124
"""What the coreutils program `timeout` would have answered; the service knows the number."""

ENTER_HOST: Final = ("nsenter", "--target", "1", "--cgroup", "--mount", "--ipc", "--net", "--")


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended."""

    exit_code: int
    """Its own code, -1 if it could not start or died by a signal, 124 if its time was up."""
    output: bytes = b""
    errors: bytes = b""
    truncated: bool = False

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        """What the program said about its failure, in one piece."""
        return self.errors.decode("utf-8", "replace").strip() or f"it ended with code {self.exit_code}"


class Programs(Protocol):
    """Where programs are run."""

    async def run(
        self,
        *command: str,
        limit: float,
        given: bytes = b"",
        environment: Mapping[str, str] | None = None,
        keep: int = OUTPUT_LIMIT,
    ) -> Outcome: ...


class LocalPrograms:
    """Programs of this process's own file system: inside the container, or anywhere in tests."""

    def __init__(self, *, prefix: tuple[str, ...] = ()) -> None:
        self._prefix = prefix

    async def run(
        self,
        *command: str,
        limit: float,
        given: bytes = b"",
        environment: Mapping[str, str] | None = None,
        keep: int = OUTPUT_LIMIT,
        heard: Callable[[bytes], None] | None = None,
        silence_limit: float | None = None,
    ) -> Outcome:
        """Run one program for at most `limit` seconds; cancelling the caller ends the program.

        `heard` is told every piece of its output and its complaints while it runs. One that says nothing for
        `silence_limit` seconds is ended before its time.
        """
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *self._prefix,
                *command,
                stdin=asyncio.subprocess.PIPE if given else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=None if environment is None else {**os.environ, **environment},
                start_new_session=True,
            )
        )
        try:
            process = await asyncio.shield(starting)
        except (OSError, ValueError) as reason:
            return Outcome(exit_code=NOT_STARTED, errors=f"{command[0]} could not start: {reason}".encode())
        except asyncio.CancelledError:
            # Cancelled between its start and the news of it: the program runs already and may have children.
            with suppress(OSError, ValueError):
                await _ended(await starting)
            raise
        try:
            listening = _Listening(name=command[0], keep=keep, heard=heard, silence_limit=silence_limit)
            return await _watched(process, listening, limit=limit, given=given)
        finally:
            await _ended(process)


def host_programs() -> LocalPrograms:
    """Programs of the host itself, reached from our container through the namespaces of its first process."""
    return LocalPrograms(prefix=ENTER_HOST)


class _Listening:
    """What a program says, kept as far as agreed, and the patience with one that says nothing."""

    def __init__(
        self, *, name: str, keep: int, heard: Callable[[bytes], None] | None, silence_limit: float | None
    ) -> None:
        self.name = name
        self.silence_limit = silence_limit
        self._keep = keep
        self._heard = heard
        self.patience = asyncio.timeout(silence_limit)

    async def read(self, stream: asyncio.StreamReader | None, *, into: bytearray) -> bool:
        """Read to the end, keep the beginning; true if something was not kept."""
        dropped = False
        while stream is not None and (piece := await stream.read(65_536)):
            if self.silence_limit is not None and not self.patience.expired():
                self.patience.reschedule(asyncio.get_running_loop().time() + self.silence_limit)
            if self._heard is not None:
                self._heard(piece)
            room = self._keep - len(into)
            into += piece[:room]
            dropped |= len(piece) > room
        return dropped


async def _watched(
    process: asyncio.subprocess.Process, listening: _Listening, *, limit: float, given: bytes
) -> Outcome:
    output, errors = bytearray(), bytearray()
    name = listening.name
    try:
        async with asyncio.timeout(limit), listening.patience:
            dropped = await asyncio.gather(
                listening.read(process.stdout, into=output),
                listening.read(process.stderr, into=errors),
                _write(process.stdin, given=given),
            )
            code = await process.wait()
    except TimeoutError:
        late = f"{name} did not end within {limit:g} seconds and was stopped."
        if listening.silence_limit is not None and listening.patience.expired():
            late = f"{name} said nothing for {listening.silence_limit:g} seconds and was stopped."
        return Outcome(exit_code=TIMED_OUT, output=bytes(output), errors=late.encode())
    return Outcome(
        exit_code=code if code >= 0 else NOT_STARTED,
        output=bytes(output),
        errors=bytes(errors) or (b"" if code >= 0 else f"{name} was ended by signal {-code}.".encode()),
        truncated=any(dropped),
    )


async def _write(stream: asyncio.StreamWriter | None, *, given: bytes) -> bool:
    if stream is not None:
        # A program need not read all that it is given.
        with suppress(BrokenPipeError, ConnectionResetError):
            stream.write(given)
            await stream.drain()
        stream.close()
    return False


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End the program's whole group, first politely; what it started must not outlive it."""
    for order, patience in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, GRACE_SECONDS)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, order)
        if process.returncode is not None and order is signal.SIGKILL:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await process.wait()
