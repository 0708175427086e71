"""Hearing from the API that infra-envs changed, over its stream of events."""

import asyncio
from typing import Final
from uuid import UUID

import aiohttp
import msgspec
import structlog
from msgspec import Struct

from firstlight.server.imaging.environments import Environments

log = structlog.get_logger(__name__)

STREAM: Final = "/api/firstlight/v1/events"
WANTED: Final = {"about": "infra-env"}
"""What happens to hosts and clusters changes no image, and there is much more of it."""
TIMEOUT: Final = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=60)
"""The API sends a sign of life every quarter of a minute."""
PAUSE: Final = 2.0
LONGEST_LINE: Final = 4 * 1024 * 1024


class _Event(Struct, frozen=True):
    infra_env_id: UUID | None = None
    host_id: UUID | None = None
    cluster_id: UUID | None = None


async def follow(environments: Environments, api_url: str, *, token: str = "", pause: float = PAUSE) -> None:
    """Until cancelled. While the stream is down, or the API has none, answers are simply kept for a shorter time."""
    headers = {"Watcher-Authorization": token} if token else {}
    async with aiohttp.ClientSession(timeout=TIMEOUT, read_bufsize=LONGEST_LINE, headers=headers) as session:
        while True:
            try:
                await _listen(session, environments, api_url.rstrip("/") + STREAM)
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as trouble:
                log.debug("the stream of events broke off", reason=type(trouble).__name__)
            finally:
                environments.watched = False
            await asyncio.sleep(pause)


async def _listen(session: aiohttp.ClientSession, environments: Environments, url: str) -> None:
    async with session.get(
        url, params=WANTED, headers={"Accept": "text/event-stream"}, ssl=environments.trust.context()
    ) as response:
        if response.status != 200:
            return
        async for line in response.content:
            if not environments.watched:
                # From the first line on nothing is missed; what happened before it may have been.
                environments.changed_all()
                environments.watched = True
            if line.startswith(b"data:"):
                _hear(environments, line[5:])


def _hear(environments: Environments, data: bytes) -> None:
    try:
        event = msgspec.json.decode(data, type=_Event)
    except (msgspec.DecodeError, UnicodeError):
        environments.changed_all()
        return
    # What happens to hosts changes no image.
    if event.infra_env_id is not None and event.host_id is None:
        environments.changed(event.infra_env_id)
