"""One machine's life in the live system: register, ask for instructions, answer, and start the installer when told.

The manners are those of the original's agent: an unchanged successful answer is withheld for an hour, errors of a poll
are met with growing patience, a refused registration is not repeated.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from enum import Enum, auto
from typing import Final, Protocol
from uuid import UUID

import msgspec

from firstlight.core import wire
from firstlight.simulate.archives import host_logs
from firstlight.simulate.calls import Refused, Service, Unreachable
from firstlight.simulate.documents import Instruction, Registration, RunnerArguments, StepAnswer
from firstlight.simulate.machines import Machine
from firstlight.simulate.pace import Pace
from firstlight.simulate.site import Site
from firstlight.simulate.steps import SECONDS, Outcome, run

WITHHELD_SECONDS: Final = 3600.0
REGISTRATION_SECONDS: Final = 60.0
FIRST_PATIENCE: Final = 0.5
GROWTH: Final = 1.5
LONGEST_PATIENCE: Final = 60.0
GIVE_UP_SECONDS: Final = 900.0
FINAL_REFUSALS: Final = frozenset({401, 403, 404, 409})
"""Answers to a registration after which an agent waits for somebody to restart the machine."""
NAME_IN_USE: Final = 'the container name "assisted-installer" is already in use'
PODMAN_FAILED: Final = 125


class Ended(Enum):
    """Why an agent stopped asking."""

    AGAIN = auto()
    """Told to leave: it registers anew."""
    REBOOTED = auto()
    """The installer rebooted the machine."""
    PARKED = auto()
    """The service wants nothing of it."""
    SILENT = auto()


class Installation(Protocol):
    """What runs when the service says `install`."""

    def __call__(self, agent: "Agent", request: wire.InstallCmdRequest) -> Coroutine[None, None, None]: ...


class Agent:
    """The agent of one machine, and what is known of the machine from outside."""

    __slots__ = (
        "_busy", "_installer", "_kinds_under_way", "_said", "_stopped", "cluster_id", "infra_env_id", "install",
        "machine", "notes", "pace", "phase", "polls", "service", "site", "version", "writes",
    )  # fmt: skip

    def __init__(
        self, machine: Machine, *, infra_env_id: UUID, service: Service, site: Site, pace: Pace, install: Installation
    ) -> None:
        self.machine = machine
        self.infra_env_id = infra_env_id
        self.service = service
        self.site = site
        self.pace = pace
        self.install = install
        self.version = ""
        self.phase = "off"
        """What the machine is doing, in a word or two."""
        self.notes: list[str] = []
        self.cluster_id: UUID | None = None
        self.polls = 0
        self.writes = 0
        """How often an installer began to write its disk."""
        self._said: dict[str, tuple[int, float]] = {}
        self._busy: set[asyncio.Task[None]] = set()
        self._kinds_under_way: set[str] = set()
        self._installer: asyncio.Task[None] | None = None
        self._stopped = asyncio.Event()

    async def live(self, *, image_version: str) -> Ended:
        """From starting the live system until the machine leaves it."""
        self._stopped.clear()
        self._installer = None
        try:
            while True:
                registration = await self._register(image_version)
                if registration is None:
                    self.phase = "parked"
                    return Ended.PARKED
                self.version = _runner_version(registration) or image_version
                ended = await self._ask_until_told()
                if ended is not Ended.AGAIN:
                    return ended
        finally:
            await self._drop_tasks()

    def reboot(self) -> None:
        """Called by the installer: the live system is gone."""
        self.phase = "rebooting"
        self._stopped.set()

    def breaks_at(self) -> int | None:
        """At how many percent the write that begins now fails."""
        self.writes += 1
        failures = self.machine.write_failures
        return None if failures is not None and self.writes > failures else self.machine.write_fails_at_percent

    # --- registration -------------------------------------------------------------------------------------------------

    async def _register(self, image_version: str) -> Registration | None:
        self.phase = "registering"
        while True:
            try:
                found = await self.service.register(self.infra_env_id, self.machine.id, agent_version=image_version)
            except Refused as refused:
                self.notes.append(f"registration refused: {refused}")
                if refused.status in FINAL_REFUSALS:
                    return None
            except Unreachable as error:
                self.notes.append(f"registration failed: {error}")
            else:
                return found
            await self.pace.rest(REGISTRATION_SECONDS)

    # --- the loop -----------------------------------------------------------------------------------------------------

    async def _ask_until_told(self) -> Ended:
        self.phase = "answering"
        self._said.clear()
        patience, troubled_since = FIRST_PATIENCE, 0.0
        while not self._stopped.is_set():
            if self._is_silent():
                self.phase = "silent"
                return Ended.SILENT
            try:
                plan = await self.service.instructions(
                    self.infra_env_id, self.machine.id, agent_version=self.version, timestamp=self._clock()
                )
            except (Refused, Unreachable) as error:
                if isinstance(error, Refused) and error.status == 404:
                    self.phase = "deregistered"
                    return Ended.PARKED
                self._said.clear()
                troubled_since = troubled_since or time.monotonic()
                if time.monotonic() - troubled_since > GIVE_UP_SECONDS:
                    return Ended.AGAIN
                await self._pause(patience * self.site.chance.uniform(0.5, 1.5))
                patience = min(LONGEST_PATIENCE, patience * GROWTH)
                continue
            self.polls += 1
            patience, troubled_since = FIRST_PATIENCE, 0.0
            leaves = False
            for instruction in plan.instructions or ():
                leaves = await self._carry_out(instruction) or leaves
            if leaves:
                return Ended.AGAIN
            await self._pause(plan.next_instruction_seconds)
            if plan.post_step_action == "exit":
                return Ended.AGAIN
        return Ended.REBOOTED

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(self.pace.real(seconds)):
                await self._stopped.wait()
        except TimeoutError:
            return

    def _clock(self) -> int:
        return int(time.time()) + self.machine.clock_offset_seconds

    def _is_silent(self) -> bool:
        limit = self.machine.silent_after_polls
        return limit is not None and self.polls >= limit

    # --- steps --------------------------------------------------------------------------------------------------------

    async def _carry_out(self, instruction: Instruction) -> bool:
        """Run one step; True when the agent has to leave afterwards."""
        kind, args = instruction.step_type, instruction.args or ()
        if kind == "install":
            await self._start_installer(instruction)
        elif kind == "logs-gather":
            self._in_background(kind, lambda: self._gather_logs(args))
        elif kind == "stop-installation":
            self._stop_installer()
            await self._tell(instruction, Outcome())
        elif kind in SECONDS:
            self._in_background(kind, lambda: self._take_time(instruction))
        else:
            outcome = run(kind, self.machine, self.site, args)
            await self._tell(instruction, outcome)
            return kind == "upgrade-agent" and outcome.exit_code == 0
        return False

    def _in_background(self, kind: str, work: Callable[[], Coroutine[None, None, None]]) -> None:
        """At most one of a kind: what is asked again while it runs is already being answered."""
        if kind in self._kinds_under_way:
            return
        self._kinds_under_way.add(kind)
        task = asyncio.create_task(work())
        self._busy.add(task)

        def done(ended: asyncio.Task[None]) -> None:
            self._kinds_under_way.discard(kind)
            self._busy.discard(ended)

        task.add_done_callback(done)

    async def _take_time(self, instruction: Instruction) -> None:
        await self.pace.rest(SECONDS[instruction.step_type])
        outcome = run(instruction.step_type, self.machine, self.site, instruction.args or ())
        await self._tell(instruction, outcome)

    async def _tell(self, instruction: Instruction, outcome: Outcome) -> None:
        """Send the outcome, unless it was accepted within the hour and is still the same."""
        kind, print_of = instruction.step_type, hash(outcome.output)
        now = time.monotonic()
        said = self._said.get(kind)
        if outcome.exit_code == 0 and said is not None and said[0] == print_of and now - said[1] < WITHHELD_SECONDS:
            return
        reply = StepAnswer(
            step_type=kind,
            step_id=instruction.step_id,
            exit_code=outcome.exit_code,
            output=outcome.output,
            error=outcome.error,
        )
        try:
            await self.service.reply(self.infra_env_id, self.machine.id, reply, agent_version=self.version)
        except (Refused, Unreachable) as error:
            self.notes.append(f"the answer to {kind} was not taken: {error}")
            return
        if outcome.exit_code == 0:
            self._said[kind] = (print_of, now)

    # --- installation -------------------------------------------------------------------------------------------------

    async def _start_installer(self, instruction: Instruction) -> None:
        if self._installer is not None and not self._installer.done():
            await self._tell(instruction, Outcome(exit_code=PODMAN_FAILED, error=NAME_IN_USE))
            return
        try:
            request = msgspec.json.decode((instruction.args or ("",))[0], type=wire.InstallCmdRequest)
        except msgspec.DecodeError as error:
            await self._tell(instruction, Outcome(exit_code=-1, error=f"cannot read the arguments: {error}"))
            return
        self.cluster_id = request.cluster_id
        self._installer = asyncio.create_task(self.install(self, request))

    def _stop_installer(self) -> None:
        if self._installer is not None and not self._installer.done():
            self.phase = "stopped"
            self._installer.cancel()

    async def _gather_logs(self, args: tuple[str, ...]) -> None:
        request = msgspec.json.decode(args[0], type=wire.LogsGatherCmdRequest)
        await self.send_logs(request.cluster_id, bootstrap=request.bootstrap)

    async def send_logs(self, cluster_id: UUID, *, bootstrap: bool) -> None:
        """The whole course of a log collection; none of its failures is final."""
        service, ids = self.service, (self.infra_env_id, self.machine.id)
        try:
            await service.host_logs_state(*ids, wire.LogsProgressParams(logs_state="requested"))
            archive = host_logs(self.machine, self.notes, bootstrap=bootstrap)
            await service.host_logs_state(*ids, wire.LogsProgressParams(logs_state="collecting"))
            query = {"logs_type": "host", "infra_env_id": str(ids[0]), "host_id": str(ids[1])}
            await service.upload_logs(cluster_id, archive, query=query)
            await service.host_logs_state(*ids, wire.LogsProgressParams(logs_state="completed"))
        except (Refused, Unreachable) as error:
            self.notes.append(f"logs were not taken: {error}")

    async def _drop_tasks(self) -> None:
        tasks = [task for task in (*self._busy, self._installer) if task is not None]
        for task in tasks:
            if task is not asyncio.current_task():
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _runner_version(registration: Registration) -> str:
    command = registration.next_step_runner_command
    if command is None or not command.args:
        return ""
    return msgspec.json.decode(command.args[0], type=RunnerArguments).agent_version
