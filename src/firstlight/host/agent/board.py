"""What is known of the agent's own situation, in one value that the status page shows."""

import asyncio
from collections.abc import Callable
from typing import Literal
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.wire.offers import Standing

State = Literal["starting", "registering", "connected", "refused", "unreachable", "ending"]


class Check(Struct, frozen=True, kw_only=True):
    """One question about the way to the service."""

    name: str
    passed: bool | None
    """None: it does not apply here, or cannot be told before an earlier one passes."""
    sentence: str
    fix: str = ""


class Picture(Struct, frozen=True, kw_only=True):
    service_url: str
    infra_env_id: UUID
    host_id: UUID | None = None
    hostname: str = ""
    version: str = ""
    addresses: tuple[str, ...] = ()
    """Interface, MAC and addresses of each, in one line."""
    state: State = "starting"
    trouble: str = ""
    """Why it is not connected, in a sentence."""
    checks: tuple[Check, ...] = ()
    short_code: str = ""
    standing: Standing | None = None
    steps: tuple[str, ...] = ()
    """Under way."""


class Board:
    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._news = asyncio.Event()
        self._heard: list[Callable[[Picture, Picture], None]] = []

    @property
    def picture(self) -> Picture:
        return self._picture

    def change(self, **parts: object) -> None:
        """Nobody is told of a change that changes nothing."""
        before, self._picture = self._picture, replace(self._picture, **parts)
        if before != self._picture:
            for heard in self._heard:
                heard(before, self._picture)
            told, self._news = self._news, asyncio.Event()
            told.set()

    def listen(self, heard: Callable[[Picture, Picture], None]) -> None:
        self._heard.append(heard)

    @property
    def news(self) -> asyncio.Event:
        """Set at the next change. Take it before looking, so that nothing comes in between unnoticed."""
        return self._news
