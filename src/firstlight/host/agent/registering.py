"""Introducing the machine to the service, again and again until it is taken."""

import asyncio
import random
from collections.abc import Callable
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.core.wire.offers import Offer
from firstlight.host.agent.board import Board
from firstlight.host.agent.documents import Registration, RunnerArguments
from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.patience import Patience
from firstlight.host.agent.session import ServiceSession
from firstlight.host.agent.trouble import FIRST_SLOW_SECONDS, SLOW, SLOW_SECONDS, sentence_about
from firstlight.host.calling import Refused, Unreachable

REGISTRATION: Final = "registration.json"
"""Where it is kept beneath the agent's state."""


class Registered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """As whom the service knows this machine; kept on the machine for as long as it runs."""

    host_id: UUID
    infra_env_id: UUID
    offer: Offer = Offer()
    image: str = ""
    """The agent's image that the service wants."""
    boot_id: str = ""


async def register(
    session: ServiceSession,
    *,
    host_id: UUID,
    infra_env_id: UUID,
    interval: float,
    board: Board,
    log: Log,
    chance: Callable[[float, float], float] = random.uniform,
) -> Registered:
    """Returns when the service has taken the machine. Raises nothing."""
    usual = Patience(first=min(2.0, interval), growth=2.0, most=interval, spread=0.1, chance=chance)
    slow = Patience(first=min(FIRST_SLOW_SECONDS, interval), growth=2.0, most=SLOW_SECONDS, spread=0.1, chance=chance)
    if board.picture.state == "starting":
        board.change(state="registering")
    while True:
        try:
            answer = await session.register(host_id)
        except (Refused, Unreachable) as trouble:
            refused = isinstance(trouble, Refused)
            pause = slow.take() if refused and trouble.status in SLOW else usual.take()
            sentence = sentence_about(trouble, url=board.picture.service_url)
            if sentence != board.picture.trouble:
                log.warning(f"Not registered. {sentence} It is tried again in {pause:.0f} seconds.")
            board.change(state="refused" if refused else "unreachable", trouble=sentence)
            if not refused:
                # The file of authorities may have come meanwhile, and names may have other addresses.
                await session.renew()
            await asyncio.sleep(pause)
        else:
            found = registered_from(answer, host_id=host_id, infra_env_id=infra_env_id)
            log.info("The service knows this machine.", host_id=found.host_id, status=answer.status)
            return found


def registered_from(answer: Registration, *, host_id: UUID, infra_env_id: UUID) -> Registered:
    """What the runner's command names beats what we asked for: the service may know this machine by another id."""
    arguments = RunnerArguments()
    command = answer.next_step_runner_command
    if command is not None and command.args:
        try:
            arguments = msgspec.json.decode(command.args[0], type=RunnerArguments)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            arguments = RunnerArguments()
    return Registered(
        host_id=arguments.host_id or answer.id or host_id,
        infra_env_id=arguments.infra_env_id or infra_env_id,
        offer=answer.firstlight or Offer(),
        image=arguments.agent_version,
    )
