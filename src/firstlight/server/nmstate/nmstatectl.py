"""`nmstatectl gc`: asked once per description, a few at a time, and never for long."""

import asyncio
import contextlib
import hashlib
import os
import re
import shutil
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import structlog
import yaml

from firstlight.core.errors import Conflict, Invalid, Unavailable
from firstlight.core.install.keyfiles import Keyfile

log = structlog.get_logger(__name__)

PROGRAM: Final = "nmstatectl"
SECONDS: Final = 10.0
PARALLEL: Final = 4
MOST_KEPT: Final = 4_096
LARGEST_ANSWER: Final = 1024 * 1024
LONGEST_REFUSAL: Final = 600
ABSENT: Final = (
    "Static network for OpenShift before 4.18 is prepared by nmstatectl, and {where}. Install it (Fedora and RHEL:"
    " package nmstate; elsewhere: cargo install nmstatectl), or set FIRSTLIGHT_NMSTATECTL to its path, or choose"
    " OpenShift 4.18 or newer."
)
_LOG_LINE: Final = re.compile(r"\[\d{4}-\d\d-\d\dT\S+ +[A-Z]+ ")
_PREFIX: Final = re.compile(
    r"(NmstateError: \w+: |serde_yaml::Error: |Provide file is not valid NetworkState( or NetworkPolicy)?: )"
)


_Answer = tuple[Keyfile, ...] | str
"""Connections, or the words of a refusal."""


class Nmstatectl:
    def __init__(self, program: Path | None = None, *, parallel: int = PARALLEL, seconds: float = SECONDS) -> None:
        """Without a path, the program is looked for on PATH whenever it is needed."""
        self._program = program
        self._places = asyncio.Semaphore(parallel)
        self._seconds = seconds
        self._kept: OrderedDict[bytes, _Answer] = OrderedDict()
        """By the digest of the description."""
        self._asking: dict[bytes, asyncio.Task[_Answer]] = {}

    def here(self) -> bool:
        return self._found() is not None

    def _found(self) -> str | None:
        return shutil.which(PROGRAM if self._program is None else self._program)

    async def keyfiles(self, description: str) -> Sequence[Keyfile]:
        digest = hashlib.sha256(description.encode()).digest()
        answer = self._kept.get(digest)
        if answer is None:
            answer = await self._asked_once(digest, description)
            self._kept[digest] = answer
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(digest)
        if isinstance(answer, str):
            raise Invalid(answer)
        return answer

    async def _asked_once(self, digest: bytes, description: str) -> _Answer:
        """However many want the same at the same time, the program runs once."""
        task = self._asking.get(digest)
        if task is None:
            task = asyncio.create_task(self._ask(description))
            self._asking[digest] = task
            task.add_done_callback(lambda _: self._asking.pop(digest, None))
        return await asyncio.shield(task)

    async def _ask(self, description: str) -> _Answer:
        program = self._found()
        if program is None:
            place = "on PATH" if self._program is None else f"at {self._program}, where FIRSTLIGHT_NMSTATECTL says"
            raise Conflict(ABSENT.format(where=f"there is none {place}"), code="nmstatectl-missing")
        try:
            async with self._places:
                code, said, complained = await self._run(program, description)
        except OSError as error:
            where = f"{program} cannot be started ({error.strerror or error})"
            raise Conflict(ABSENT.format(where=where), code="nmstatectl-missing") from None
        if code == 0:
            return connections(said)
        words = refusal(complained)
        log.info("a static network was refused", program=program, code=code)
        return words

    async def _run(self, program: str, description: str) -> tuple[int, bytes, str]:
        # The description goes in by a pipe: it may hold passwords, and arguments are seen by everybody.
        process = await asyncio.create_subprocess_exec(
            program,
            "gc",
            "-",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
        )
        try:
            said, complained = await asyncio.wait_for(process.communicate(description.encode()), self._seconds)
        except TimeoutError:
            raise Unavailable(f"nmstatectl did not answer within {self._seconds:g} seconds. Ask again.") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        return process.returncode or 0, said, complained.decode("utf-8", "replace")


class _Printed(msgspec.Struct, frozen=True):
    connections: list[tuple[str, str]] = msgspec.field(name="NetworkManager")


def connections(answer: bytes) -> tuple[Keyfile, ...]:
    """What the program printed: YAML, pairs of file name and content below NetworkManager. Always in the same order."""
    try:
        if len(answer) > LARGEST_ANSWER:
            raise ValueError("too long")
        found = msgspec.convert(yaml.load(answer, Loader=yaml.CSafeLoader), type=_Printed)
    except (yaml.YAMLError, ValueError):
        raise Unavailable("nmstatectl gave an answer that cannot be understood. Use nmstate 2.2 or newer.") from None
    return tuple(sorted(Keyfile(name=name, content=content) for name, content in found.connections))


def refusal(complained: str) -> str:
    """The program's own sentence, without its log and the names of its types."""
    lines = [line.strip() for line in complained.splitlines() if line.strip() and not _LOG_LINE.match(line)]
    words = _PREFIX.sub("", " ".join(lines)).strip()
    return words[:LONGEST_REFUSAL] or "it gave no reason"
