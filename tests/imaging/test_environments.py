"""How often the API is asked, and what happens when it cannot be."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from firstlight.core.errors import Conflict, NotFound, Unavailable
from firstlight.server.imaging.environments import (
    UNREACHABLE_SECONDS,
    UNWATCHED_SECONDS,
    Asked,
    Environments,
    appended,
)
from firstlight.server.imaging.metrics import Metrics
from firstlight.server.imaging.news import follow
from tests.imaging.api import ID, StandIn, running_api
from tests.imaging.conftest import Start, until

pytestmark = pytest.mark.anyio

FULL = Asked(UUID(ID), "full-iso")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def api(anyio_backend: str) -> AsyncIterator[StandIn]:
    async with running_api() as found:
        yield found


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def environments(api: StandIn, clock: Clock) -> AsyncIterator[Environments]:
    found = Environments(api.url, metrics=Metrics(), clock=clock)
    yield found
    await found.close()


async def test_without_news_answers_hold_for_seconds(api: StandIn, clock: Clock, environments: Environments) -> None:
    first = await environments.get(FULL)
    clock.now += UNWATCHED_SECONDS
    assert await environments.get(FULL) is first
    assert len(api.calls) == 2
    clock.now += 0.1
    assert await environments.get(FULL) is first  # asked again; nothing had changed
    assert len(api.calls) == 4


async def test_with_news_answers_hold_until_told(api: StandIn, clock: Clock, environments: Environments) -> None:
    environments.watched = True
    first = await environments.get(FULL)
    clock.now += 1_000_000
    assert await environments.get(FULL) is first
    environments.changed(UUID("5b1e4a3c-0000-4000-8000-0000000000bb"))
    assert environments.fresh(FULL) is first
    environments.changed(UUID(ID))
    assert environments.fresh(FULL) is None
    api.environments[ID].ignition = b"new"
    assert (await environments.get(FULL)).ignition == b"new"
    environments.changed_all()
    assert environments.fresh(FULL) is None


async def test_a_thousand_callers_are_one_question(api: StandIn, environments: Environments) -> None:
    found = await asyncio.gather(*(environments.get(FULL) for _ in range(1_000)))
    assert len(set(map(id, found))) == 1
    assert len(api.calls) == 2


async def test_a_caller_who_leaves_takes_nothing_from_the_others(api: StandIn, environments: Environments) -> None:
    first, second = (asyncio.create_task(environments.get(FULL)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).ignition == api.environments[ID].ignition


async def test_a_change_between_two_questions(
    api: StandIn, environments: Environments, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel arguments are of one moment and the config of the next: both are asked for again."""
    environments.watched = True
    original, changes = environments._call, [1]

    async def call(path: str, *rest: object) -> object:
        answer = await original(path, *rest)  # type: ignore[arg-type]
        if changes and path.endswith(ID):
            changes.pop()
            api.environments[ID].updated_at += timedelta(minutes=1)
            api.environments[ID].kernel_arguments = [{"operation": "append", "value": "new"}]
        return answer

    monkeypatch.setattr(environments, "_call", call)
    found = await environments.get(FULL)
    assert found.kernel_arguments == ("new",)
    assert found.last_modified == datetime(2026, 1, 2, 3, 5, 5, tzinfo=UTC)
    assert environments.fresh(FULL) is found


async def test_while_the_api_is_away_its_last_answer_holds(
    api: StandIn, clock: Clock, environments: Environments
) -> None:
    first = await environments.get(FULL)
    api.refuse_with = 502
    clock.now += UNREACHABLE_SECONDS - 1
    assert await environments.get(FULL) is first
    clock.now += 2
    with pytest.raises(Unavailable):
        await environments.get(FULL)


async def test_what_was_deleted_is_forgotten_at_once(api: StandIn, clock: Clock, environments: Environments) -> None:
    await environments.get(FULL)
    del api.environments[ID]
    clock.now += 60
    with pytest.raises(NotFound, match="There is no such infra-env"):
        await environments.get(FULL)
    api.refuse_with = 502
    with pytest.raises(Unavailable):
        await environments.get(FULL)


async def test_nobody_there(clock: Clock) -> None:
    lonely = Environments("http://127.0.0.1:9", metrics=Metrics(), clock=clock)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await lonely.get(FULL)
    await lonely.close()


async def test_an_api_without_a_stream(start: Start) -> None:
    """The original has none: images come all the same."""
    images = await start(streams=False)
    assert (await images.get(images.full)).status == 200
    assert not images.service.environments.watched


async def test_news_that_nobody_understands_may_mean_everything(start: Start) -> None:
    images = await start()
    await images.get(images.full)
    images.api.tell({"infra_env_id": "not an id"})
    await until(lambda: images.service.environments.fresh(FULL) is None)


async def test_a_stream_that_breaks_is_taken_up_again(api: StandIn, environments: Environments) -> None:
    listening = asyncio.create_task(follow(environments, api.url, pause=0.01))
    await until(lambda: api.listeners and environments.watched)
    first = await environments.get(FULL)
    before = set(api.listeners)
    api.hang_up()
    await until(lambda: api.listeners - before and environments.watched)
    assert environments.fresh(FULL) is None  # something may have been missed
    assert await environments.get(FULL) is first
    listening.cancel()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, ()),
        ("", ()),
        ("[]", ()),
        ('[{"operation": "append", "value": "a=1"}, {"operation": "append", "value": "b"}]', ("a=1", "b")),
    ],
)
def test_kernel_arguments(text: str | None, expected: tuple[str, ...]) -> None:
    assert appended(text) == expected


@pytest.mark.parametrize("text", ["{", '[{"operation": "replace", "value": "a"}]', '{"a": 1}'])
def test_kernel_arguments_that_cannot_be_used(text: str) -> None:
    with pytest.raises(Conflict):
        appended(text)
