"""Supervision of steps: each in a task of its own, one of a type at a time, bounded in number, time and output.

Whatever a step does, the loop that asks for more is not its concern: errors become replies.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import msgspec

from firstlight.host.actions.action import Action, Done, Site
from firstlight.host.agent.documents import Step, StepReply
from firstlight.host.agent.installer import NAME as INSTALLER
from firstlight.host.agent.installer import installer_on
from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.media import GONE, MEDIA_GONE
from firstlight.host.agent.once import Once
from firstlight.host.agent.replies import Key
from firstlight.host.programs import TIMED_OUT

MOST_AT_ONCE: Final = 6
LARGEST_OUTPUT: Final = 7 * 2**20
LONGEST_ERROR: Final = 8_192
FAILED: Final = -1
NAME_IN_USE: Final = 125
INSTALL: Final = "install"
DISK_SPEED: Final = "installation-disk-speed-check"
LONG_RUNNING: Final = frozenset({INSTALL, "logs-gather", "container-image-availability", "upgrade-agent"})
"""They wait for others most of the time and must not keep short steps from running."""
INTERRUPTED: Final = (
    "The agent ended while this step ran, so nobody knows how far it came. It is not run a second time by itself."
)


class Deliver(Protocol):
    async def send(self, key: Key, reply: StepReply) -> None: ...


class Media(Protocol):
    async def is_gone(self) -> bool: ...


class Stepper:
    def __init__(
        self,
        actions: Mapping[str, Action],
        site: Site,
        *,
        delivery: Deliver,
        once: Once,
        media: Media,
        log: Log,
        told: Callable[[tuple[str, ...]], None] = lambda _: None,
    ) -> None:
        """`told` hears which steps are under way."""
        self._actions = actions
        self.site = site
        self._delivery = delivery
        self._once = once
        self._media = media
        self._log = log
        self._told = told
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)
        self._running: dict[str, tuple[tuple[str, ...], asyncio.Task[None]]] = {}
        self._next: dict[str, Step] = {}
        self._answering: set[str] = set()
        self._answered: dict[Key, int] = {}
        self.answers = 0
        """Of steps that run once. Who asks for steps notes the number before: what was answered since has crossed."""
        self.ended = asyncio.Event()
        """A step asked for the whole program to end."""

    @property
    def running(self) -> tuple[str, ...]:
        return tuple(sorted(self._running))

    def take(self, step: Step, *, noted: int | None = None) -> None:
        """Start a step, or let it wait for the one of its type that runs; the newest of those that wait counts.

        `noted` is the number of answers when it was asked for, None if nobody asked.
        """
        kind = step.step_type
        if noted is not None and self._answered.get((kind, step.arguments), 0) > noted:
            self._log.info("A step was answered while it was asked for.", step=kind, id=step.step_id)
            return
        if kind == DISK_SPEED and INSTALL in self._running:
            self._log.info("A disk that is being installed is not measured.", id=step.step_id)
            return
        if kind in self._running:
            # Whoever asks for the same while its answer is already on the way wants it done anew, unless it may be
            # done once only: then question and answer have crossed.
            anew = kind in self._answering and not self._is_once(step)
            if self._running[kind][0] != step.arguments or anew:
                self._next[kind] = step
            return
        task = asyncio.create_task(self._carry_out(step))
        self._running[kind] = (step.arguments, task)
        task.add_done_callback(lambda _: self._done(kind))
        self._told(self.running)

    async def take_up(self) -> None:
        """Go on with what an earlier life of the agent began: bring answers that wait, stay with its installer.

        A service whose host is on its way does not ask again, and would never hear how it ended. Nothing begins here.
        """
        for step, ended in self._once.unsettled:
            if ended or (step.step_type == INSTALL and await self._has_installer()):
                self.take(step)

    async def _has_installer(self) -> bool:
        return (await installer_on(self.site.host)).presence in ("running", "ended")

    def _done(self, kind: str) -> None:
        self._running.pop(kind, None)
        self._answering.discard(kind)
        self._told(self.running)
        following = self._next.pop(kind, None)
        if following is not None:
            self.take(following)

    async def stop(self) -> None:
        self._next.clear()
        tasks = [task for _, task in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- one step -----------------------------------------------------------------------------------------------------

    async def _carry_out(self, step: Step) -> None:
        key = (step.step_type, step.arguments)
        try:
            done = await self._outcome(step)
            reply = _reply(step, done)
            if self._is_once(step):
                self._note_end(step, reply)
            self._answering.add(step.step_type)
            await self._delivery.send(key, reply)
            if self._is_once(step):
                self.answers += 1
                self._answered[key] = self.answers
            if done.stop_polling:
                self.ended.set()
        except Exception as reason:  # the outermost loop of a step
            self._log.failure("A step failed for a reason nobody foresaw.", reason, step=step.step_type)

    async def _outcome(self, step: Step) -> Done:
        action = self._actions.get(step.step_type)
        if action is None:
            return Done(
                exit_code=FAILED, error=f"failed to find action for step type {step.step_type}: this agent has none."
            )
        if await self._media.is_gone():
            return Done(exit_code=MEDIA_GONE, error=GONE)
        if action.once:
            answer = await self._before_once(step)
            if answer is not None:
                return answer
        if step.step_type == INSTALL:
            await self._stop_measuring()
        if step.step_type in LONG_RUNNING:
            done = await self._bounded(action, step)
        else:
            async with self._slots:
                done = await self._bounded(action, step)
        if done.exit_code and await self._media.is_gone():
            return Done(exit_code=MEDIA_GONE, output=done.output, error=GONE)
        return done

    async def _stop_measuring(self) -> None:
        """A measurement writes to the disk: one that is still under way must not write into an installation."""
        self._next.pop(DISK_SPEED, None)
        if DISK_SPEED in self._running and DISK_SPEED not in self._answering:
            measuring = self._running[DISK_SPEED][1]
            self._log.warning("The measurement of a disk is stopped: the installation begins.")
            measuring.cancel()
            await asyncio.gather(measuring, return_exceptions=True)

    async def _bounded(self, action: Action, step: Step) -> Done:
        self._log.info("A step begins.", step=step.step_type, id=step.step_id)
        try:
            async with asyncio.timeout(action.limit_seconds):
                done = await action.run(step.arguments, self.site)
        except TimeoutError:
            sentence = f"The step did not end within {action.limit_seconds:g} seconds and was stopped."
            done = Done(exit_code=TIMED_OUT, error=sentence)
        except Exception as reason:
            self._log.failure("A step failed for a reason nobody foresaw.", reason, step=step.step_type)
            done = Done(exit_code=FAILED, error=f"The step failed: {type(reason).__name__}: {reason}")
        self._log.info("A step has ended.", step=step.step_type, code=done.exit_code, error=done.error[:300])
        return done

    # --- once ---------------------------------------------------------------------------------------------------------

    def _is_once(self, step: Step) -> bool:
        action = self._actions.get(step.step_type)
        return action is not None and action.once

    async def _before_once(self, step: Step) -> Done | None:
        """None: it may begin, and that it did is on record."""
        verdict, reply = self._once.verdict(step.step_type, step.arguments)
        if reply is not None:
            return Done(exit_code=reply.exit_code, output=reply.output, error=reply.error)
        if verdict == "interrupted":
            answer = await self._interrupted(step)
            if answer is not None:
                return answer
        try:
            self._once.begin(step)
        except OSError as reason:
            if step.step_type != INSTALL:
                sentence = f"The step may run only once, and that it runs cannot be recorded: {reason}."
                return Done(exit_code=FAILED, error=f"{sentence} Free some memory on the machine.")
            # A second installer would not start beside the first: the name of its container is taken.
            self._log.warning("The journal of steps cannot be written.", reason=reason)
        return None

    async def _interrupted(self, step: Step) -> Done | None:
        """What to say about a step that was cut off with an earlier life of the agent; None if it may go on."""
        if step.step_type != INSTALL:
            return Done(exit_code=FAILED, output=_path_in(step), error=INTERRUPTED)
        found = await installer_on(self.site.host)
        if found.presence in ("absent", "running"):
            # It never started; or it runs, and the action waits for its end.
            return None
        if found.presence == "ended":
            sentence = f"The installer ended with code {found.exit_code} while the agent was away."
            return Done(exit_code=found.exit_code, error=sentence if found.exit_code else "")
        # The words by which services know that an installer runs already.
        return Done(exit_code=NAME_IN_USE, error=f'the container name "{INSTALLER}" is already in use, it seems.')

    def _note_end(self, step: Step, reply: StepReply) -> None:
        try:
            self._once.end(step, reply)
        except OSError as reason:
            self._log.warning("The journal of steps cannot be written.", reason=reason)


def _path_in(step: Step) -> str:
    """The disk of a speed check: services keep a failure only if it says of which disk."""
    try:
        path = msgspec.json.decode(step.arguments[0], type=dict[str, object]).get("path")
    except (IndexError, msgspec.MsgspecError):
        return ""
    return msgspec.json.encode({"path": path}).decode() if isinstance(path, str) else ""


def _reply(step: Step, done: Done) -> StepReply:
    output, error, code = done.output, done.error, done.exit_code
    if len(output) > LARGEST_OUTPUT:
        code = code or FAILED
        output, error = "", f"The step said {len(output)} characters, more than the {LARGEST_OUTPUT} that can be sent."
    return StepReply(
        step_type=step.step_type, step_id=step.step_id, exit_code=code, output=output, error=error[:LONGEST_ERROR]
    )
