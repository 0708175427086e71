"""A step as the machine performs it: arguments in, exit code and text out, and what an action may use to get there.

An action is a value; the supervisor finds it by step type, bounds its time and sends what it returns. Arguments that
make no sense are answered with code -1 and a sentence, never with an exception.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, Protocol, TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader, Unreadable
from firstlight.core.wire.step_arguments import LogsGatherCmdRequest
from firstlight.host.collect.lab import Lab
from firstlight.host.programs import Programs
from firstlight.host.root import Root
from firstlight.host.settings import DryRun

T = TypeVar("T")

FAILED: Final = -1
"""The code of every failure that has no number of its own."""
IMAGE_NOT_PULLED: Final = 2


class Done(Struct, frozen=True, kw_only=True):
    """How a step ended, as it goes into the reply."""

    exit_code: int = 0
    output: str = ""
    error: str = ""
    stop_polling: bool = False
    """The program shall end after this reply, so that its successor starts."""


class Unfetched(Exception):
    """Nothing usable came from a URL; the text is a sentence without secrets."""


class Fetched(Protocol):
    """An HTTP answer whose body has not been read yet."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case name."""
        ...

    def pieces(self) -> AsyncIterator[bytes]: ...

    async def body(self, *, most: int) -> bytes:
        """The whole body, or `Unfetched` if it is longer than `most` bytes."""
        ...


class Fetch(Protocol):
    """HTTP GET through the proxies of the environment. Everything that goes wrong is `Unfetched`."""

    def __call__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        authorities: str | None = None,
        only_these: bool = False,
        insecure: bool = False,
        silence_limit: float = 30.0,
    ) -> AbstractAsyncContextManager[Fetched]:
        """`authorities` is PEM text trusted beside the system's roots, or instead of them if `only_these`;
        `silence_limit` seconds may pass without a byte."""
        ...


class LogsRequest(LogsGatherCmdRequest, frozen=True, kw_only=True):
    """Which logs the service wants; the original leaves out what is false and writes null for an empty list."""

    bootstrap: bool = False
    installer_gather: bool = False
    master_ips: tuple[str, ...] = ()


GatherLogs = Callable[[LogsRequest], Awaitable[Done]]


class Site(Struct, frozen=True, kw_only=True):
    """Where an action works and what it may use."""

    root: Root
    """The host's files."""
    programs: Programs
    """Programs of our own image, or of the machine when the agent runs natively."""
    host: Programs
    """Programs of the host."""
    fetch: Fetch
    service_url: str
    infra_env_id: UUID
    host_id: UUID
    token: str = ""
    agent_image: str = ""
    ca_certificate: Path | None = None
    """The file as the host names it."""
    insecure: bool = False
    proxies: Mapping[str, str] = {}
    """The proxy variables of the environment, names as found."""
    lab: Lab | None = None
    """A laboratory admits loop devices as disks."""
    dry_run: DryRun | None = None
    gather_logs: GatherLogs | None = None
    """Collects and uploads the logs; without it a container of our image is started for that."""


Perform = Callable[[tuple[str, ...], Site], Awaitable[Done]]


class Action(Struct, frozen=True, kw_only=True):
    """One step type and how it is done."""

    step_type: str
    perform: Perform
    limit_seconds: float
    """Longer than any bound inside the action: the supervisor's last resort."""
    exclusive: bool = False
    """Never two of this type at once."""
    once: bool = False
    """The same step must not be done a second time, not even after a restart."""

    async def run(self, arguments: tuple[str, ...], site: Site) -> Done:
        try:
            return await self.perform(arguments, site)
        except Invalid as reason:
            return failed(f"The arguments of the step {self.step_type} cannot be used: {reason}")


def failed(sentence: str, *, output: str = "", exit_code: int = FAILED) -> Done:
    return Done(exit_code=exit_code, output=output, error=sentence)


def replied(document: object, *, exit_code: int = 0, error: str = "") -> Done:
    """A reply whose output is a JSON document."""
    return Done(exit_code=exit_code, output=msgspec.json.encode(document).decode(), error=error)


def first_document(arguments: tuple[str, ...], reader: Reader[T]) -> T:
    """The JSON document in the first argument; further arguments come from newer services and are ignored."""
    if not arguments:
        raise Invalid("a JSON document is expected as the first argument, and there is none.")
    try:
        return reader.read(arguments[0])
    except Unreadable as reason:
        raise Invalid(f"the first one is not the expected JSON document: {reason}.") from reason
