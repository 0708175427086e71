"""The output of a program into a file, masked on the way, never whole in memory, never longer than agreed."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

from firstlight.host.agent.logs.masking import Masker

LONGEST_LINE: Final = 64 * 1024
CUT: Final = b"\n[cut here: the rest is longer than what is kept]\n"


async def save_output(
    command: tuple[str, ...], path: Path, *, seconds: float, most: int, secrets: tuple[str, ...] = ()
) -> str:
    """What went wrong, in a sentence; empty if nothing did. What the program said until then is in the file."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            limit=LONGEST_LINE,
        )
    except (OSError, ValueError) as reason:
        return f"{command[0]} could not start: {reason}"
    try:
        async with asyncio.timeout(seconds):
            assert process.stdout is not None
            await _copy(process.stdout, path, most=most, secrets=secrets)
            code = await process.wait()
    except TimeoutError:
        return f"{_shown(command)} did not end within {seconds:g} seconds and was stopped."
    except OSError as reason:
        return f"The output of {_shown(command)} could not be written: {reason}"
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return f"{_shown(command)} ended with code {code}." if code else ""


async def _copy(source: asyncio.StreamReader, path: Path, *, most: int, secrets: tuple[str, ...]) -> None:
    masker, left = Masker(also=secrets), most
    with path.open("wb") as file:
        while line := await _line(source):
            if left > 0:
                data = masker.line(line.decode("utf-8", "replace")).encode()
                file.write(data if len(data) <= left else data[:left] + CUT)
                left -= len(data)


async def _line(source: asyncio.StreamReader) -> bytes:
    """One line; of one that is endless, a piece."""
    try:
        return await source.readuntil(b"\n")
    except asyncio.IncompleteReadError as rest:
        return rest.partial
    except asyncio.LimitOverrunError as overrun:
        return await source.readexactly(min(overrun.consumed, LONGEST_LINE))


def _shown(command: tuple[str, ...]) -> str:
    return " ".join(command[:6])
