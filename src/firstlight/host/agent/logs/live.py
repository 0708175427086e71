"""The agent's log as it grows, sent to a service that offered to take it.

The service says how far it has it; after a cut we go on from there, or from the oldest line that is still here.
"""

import asyncio
from typing import Final
from uuid import UUID

from firstlight.host.agent.logs.writing import Tail
from firstlight.host.agent.session import ServiceSession
from firstlight.host.calling import Refused, Unreachable

PIECE: Final = 64 * 1024
GATHER_SECONDS: Final = 2.0
"""Lines within this time travel together."""
AWAY_SECONDS: Final = 30.0
REFUSED_SECONDS: Final = 300.0


async def send_log(session: ServiceSession, tail: Tail, *, host_id: UUID) -> None:
    """Until cancelled. Trouble is not logged here: a log about the log would never end."""
    news = asyncio.Event()
    tail.listen(news.set)
    sent = tail.start
    base: int | None = None
    """Where our first byte lies in the service's log, which may go back to earlier lives of the agent."""
    while True:
        news.clear()
        pause = GATHER_SECONDS
        begin, data = tail.since(sent, most=PIECE)
        if data:
            try:
                taken = await session.send_log(host_id, offset=None if base is None else base + begin, data=data)
            except Refused:
                pause = REFUSED_SECONDS
            except Unreachable:
                pause = AWAY_SECONDS
            else:
                if base is None or not base <= taken <= base + tail.end:
                    # The first piece, or a service that has lost what it had: it goes on from here.
                    base = taken - begin - len(data)
                sent = taken - base
        if sent >= tail.end:
            await news.wait()
        await asyncio.sleep(pause)
