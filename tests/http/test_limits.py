"""Connections that only hold the line are let go: too many of them, heads and bodies that never end."""

import asyncio
import json

import pytest
import uvicorn
from uvicorn.server import ServerState

from firstlight.server.auth.limits import SLOWEST_BODY, Limits
from firstlight.server.http.listener import Listener, listener_with
from tests.http.test_listener import BEGIN, Line, answered, size_of_body

pytestmark = pytest.mark.anyio
LIMITS = Limits(connections=2, head_seconds=10, idle_seconds=5)


def connected(state: ServerState) -> tuple[Listener, Line]:
    config = uvicorn.Config(size_of_body, http=listener_with(LIMITS), lifespan="off", log_config=None)
    listener, line = listener_with(LIMITS)(config, state, {}), Line()
    listener.connection_made(line)
    return listener, line


def now() -> float:
    return asyncio.get_running_loop().time()


def refused(line: Line, status: int) -> None:
    assert line.closed
    head, _, body = line.received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    document = json.loads(body)
    assert document["code"] == status
    assert "FIRSTLIGHT_" in document["message"]


async def test_one_too_many() -> None:
    state = ServerState()
    first, second = connected(state), connected(state)
    third = connected(state)
    refused(third[1], 503)
    assert b"retry-after: " in third[1].received
    assert not first[1].closed
    assert not second[1].closed
    third[0].data_received(BEGIN)  # what still comes is not read
    third[0].connection_lost(None)
    first[0].connection_lost(None)
    assert not connected(state)[1].closed


@pytest.mark.parametrize("sent", [b"", b"GE", b"GET / HTTP/1.1\r\nHost: a\r\n"], ids=["nothing", "word", "half"])
async def test_a_head_has_its_time(sent: bytes) -> None:
    listener, line = connected(ServerState())
    listener.data_received(sent)
    listener.close_if_slow(now() + 9.9)
    assert not line.closed
    listener.close_if_slow(now() + 10.1)
    refused(line, 408)


async def test_a_body_has_its_time_and_more_the_more_came() -> None:
    state = ServerState()
    listener, line = connected(state)
    listener.data_received(BEGIN + b"Content-Length: 100000\r\n\r\n" + b"a" * 5 * SLOWEST_BODY)
    listener.close_if_slow(now() + 14.9)
    assert not line.closed
    listener.close_if_slow(now() + 15.1)
    refused(line, 408)
    listener.connection_lost(None)
    await answered(state)


async def test_a_sender_who_has_to_wait_for_us_is_not_slow() -> None:
    state = ServerState()
    listener, line = connected(state)
    listener.data_received(BEGIN + b"Content-Length: 100000\r\n\r\n" + b"a")
    listener.flow.pause_reading()
    listener.close_if_slow(now() + 1_000)
    assert not line.closed
    listener.flow.resume_reading()
    listener.close_if_slow(now() + 1_009)
    assert not line.closed
    listener.close_if_slow(now() + 1_011)
    refused(line, 408)
    listener.connection_lost(None)
    await answered(state)


async def test_answers_and_pauses_have_all_the_time() -> None:
    """Polls that wait and streams of events last for hours; pauses between requests are uvicorn's to end."""
    state = ServerState()
    listener, line = connected(state)
    listener.data_received(BEGIN + b"Content-Length: 1\r\n\r\na")
    listener.close_if_slow(now() + 100_000)
    await answered(state)
    listener.close_if_slow(now() + 100_000)
    assert not line.closed
    assert line.received.count(b"x-size: 1") == 1
    listener.data_received(b"GET /")
    listener.close_if_slow(now() + 11)
    assert line.closed
    listener.connection_lost(None)
