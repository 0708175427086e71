"""One installation of one host: what every phase may use, and the three ways in which phases act and wait."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from firstlight.core.wire.words import HostStage
from firstlight.host.installer.log import Log
from firstlight.host.installer.memory import Memory
from firstlight.host.installer.pace import LOOK_SECONDS, Pace, words
from firstlight.host.installer.reporting import Reporter
from firstlight.host.installer.service import Service
from firstlight.host.installer.settings import InstallerSettings
from firstlight.host.programs import LocalPrograms, Outcome
from firstlight.host.root import Root

COMMAND_SECONDS: Final = 120.0
SYSTEMD_TRIES: Final = 3
"""On a busy machine systemd lets those wait who ask it for something, and they give up."""
LONGEST_COMPLAINT: Final = 200
LATE_SECONDS: Final = 60.0
"""Beyond the limit, so that a service with hard limits speaks first: every report makes its clock begin anew."""
LOOK_LIMIT: Final = 300.0
"""For one look at something, so that a hanging look does not hide how long the wait has been.

A look may ask several, one after the other, and each of them may be slow.
"""
INSTALL_FOLDER: Final = "/opt/install-dir"


class InstallationFailed(Exception):
    """The installation cannot go on; the text is what the user reads."""


@dataclass(kw_only=True)
class Run:
    settings: InstallerSettings
    root: Root
    host: LocalPrograms
    service: Service
    reporter: Reporter
    memory: Memory
    log: Log
    pace: Pace
    background: asyncio.TaskGroup
    tasks: list[asyncio.Task[None]]
    """What ends with the run."""

    @property
    def node_role(self) -> str:
        """What the host becomes: who bootstraps ends as a master."""
        return "master" if self.settings.role == "bootstrap" else self.settings.role

    @property
    def device(self) -> str:
        """The installation disk, its symbolic link resolved once that is known."""
        return self.memory.fact("device") or self.settings.boot_device

    @property
    def ignition(self) -> str:
        """Where the host's own Ignition is, as the host sees it."""
        return f"{INSTALL_FOLDER}/{self.node_role}-{self.settings.host_id}.ign"

    def tell(self, stage: HostStage, info: str = "") -> None:
        self.reporter.tell(stage, info)

    async def attempt(self, *command: str, limit: float = COMMAND_SECONDS, tries: int = 1, gap: float = 5.0) -> Outcome:
        """Run a program of the host, again if it fails; its failure is the caller's to judge."""
        name, attempt = " ".join(command), 1
        while True:
            outcome = await self.host.run(*command, limit=self.pace.seconds(limit) + 10.0, environment=self.children)
            if outcome.succeeded:
                self.log.info("Ran a program.", command=name)
                return outcome
            complaint = complaint_of(outcome)
            self.log.warning("A program failed.", command=name, complaint=complaint, attempt=f"{attempt} of {tries}")
            if attempt >= tries:
                return outcome
            attempt += 1
            if self.reporter.last is not None:
                # A service that counts how long nothing was heard begins anew.
                again = f"{command[0]} failed ({complaint}); attempt {attempt} of {tries}"
                self.tell(self.reporter.last.stage, again)
            await self.pace.rest(gap)

    async def must(self, *command: str, limit: float = COMMAND_SECONDS, tries: int = 1, gap: float = 5.0) -> str:
        """Its output; a failure ends the installation."""
        outcome = await self.attempt(*command, limit=limit, tries=tries, gap=gap)
        if not outcome.succeeded:
            raise InstallationFailed(f"{command[0]} failed on this host: {complaint_of(outcome)}")
        return outcome.text

    async def wait(
        self,
        look: Callable[[], Awaitable[str]],
        *,
        stage: HostStage,
        info: str,
        what: str,
        every: float = LOOK_SECONDS,
        limit: float | None = None,
    ) -> None:
        """Look until nothing is missing. `look` says what is, and so does the progress while it lasts.

        A wait that takes longer than its limit is told and goes on: whether a late host fails is for the service to
        say, and somebody may be trying another one again. Raises `InstallationFailed` with the last thing that was
        missing when nothing can come of it any more.
        """
        self.tell(stage, info)
        loop = asyncio.get_running_loop()
        limit = self.pace.limit(stage) if limit is None else self.pace.seconds(limit)
        begun, late = loop.time(), ""
        while True:
            try:
                async with asyncio.timeout(LOOK_LIMIT):
                    missing = await look()
            except TimeoutError:
                missing = "a look at it does not end"
            if not missing:
                return
            waited = loop.time() - begun
            if not late and waited >= limit + self.pace.seconds(LATE_SECONDS):
                late = f" (longer than {words(limit)})"
                self.log.warning(f"{what} takes longer than {words(limit)}; waiting goes on.", missing=missing)
            self.tell(stage, (f"{info}: {missing}" if info else missing) + late)
            longest = self.pace.longest_wait
            if waited >= longest:
                raise InstallationFailed(f"{what} did not happen within {words(longest)}: {missing}.")
            await self.pace.rest(every)

    def write(self, name: str, content: bytes, *, mode: int = 0o644) -> None:
        """A file of the host. Raises `InstallationFailed`."""
        place = self.root.path(name)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            beside = place.with_name(place.name + ".firstlight")
            beside.touch(mode=0o600)
            beside.write_bytes(content)
            beside.chmod(mode)
            beside.rename(place)
        except OSError as reason:
            raise InstallationFailed(f"{name} cannot be written on this host: {reason.strerror}.") from reason

    @property
    def children(self) -> dict[str, str]:
        """The environment that programs get beyond ours."""
        return dict(self.settings.child_proxies)


def complaint_of(outcome: Outcome) -> str:
    """The last words of a program, from where they begin to speak of an error."""
    text = " ".join((outcome.errors + b"\n" + outcome.output).decode("utf-8", "replace").split())
    last = text[-LONGEST_COMPLAINT:]
    begin = last.find("Error")
    return last[max(begin, 0) :].strip() or f"it ended with code {outcome.exit_code}"
