"""What is said again and what is not, and what waits for a service that is away."""

import pytest

from firstlight.host.agent.documents import StepReply
from firstlight.host.agent.patience import Patience
from firstlight.host.agent.replies import (
    MOST_KEPT,
    MOST_KEPT_BYTES,
    NEVER_WITHHELD,
    SOON_SECONDS,
    WITHHELD_SECONDS,
    Memory,
    Outbox,
)

KEY = ("inventory", ("id",))


def said(output: str = "a", *, code: int = 0) -> StepReply:
    return StepReply(step_type=KEY[0], output=output, exit_code=code)


@pytest.mark.parametrize(
    ("key", "reply", "later", "known"),
    [
        (KEY, said(), 1.0, True),
        (KEY, said("b"), 1.0, False),
        (("inventory", ("other",)), said(), 1.0, False),
        (KEY, said(code=1), 1.0, False),
        (KEY, said(), WITHHELD_SECONDS - 1, True),
        (KEY, said(), WITHHELD_SECONDS, False),
    ],
)
def test_what_the_service_knows(key: tuple[str, tuple[str, ...]], reply: StepReply, later: float, known: bool) -> None:
    memory = Memory()
    memory.accepted(KEY, said(), now=100.0)
    assert memory.is_known(key, reply, now=100.0 + later) is known


@pytest.mark.parametrize(("pause", "known"), [(SOON_SECONDS - 0.1, False), (SOON_SECONDS, True)])
def test_who_asks_again_soon_has_not_got_it(pause: float, known: bool) -> None:
    memory = Memory()
    memory.asked(KEY, now=0.0)
    memory.accepted(KEY, said(), now=1.0)
    memory.asked(KEY, now=pause)
    assert memory.is_known(KEY, said(), now=pause) is known


def test_a_failure_makes_the_success_before_it_news_again() -> None:
    memory = Memory()
    memory.accepted(KEY, said(), now=0.0)
    memory.accepted(KEY, said(code=1), now=1.0)
    assert not memory.is_known(KEY, said(), now=2.0)


@pytest.mark.parametrize("step", sorted(NEVER_WITHHELD))
def test_some_answers_are_always_sent(step: str) -> None:
    memory = Memory()
    memory.accepted((step, ()), said(), now=0.0)
    assert not memory.is_known((step, ()), said(), now=1.0)


def test_a_poll_that_failed_forgets_everything() -> None:
    memory = Memory()
    memory.accepted(KEY, said(), now=0.0)
    memory.forget()
    assert not memory.is_known(KEY, said(), now=1.0)


def test_the_outbox_keeps_the_newest_of_each_and_is_bounded() -> None:
    outbox = Outbox()
    outbox.put(KEY, said("old"))
    outbox.put(KEY, said("new"))
    assert [reply.output for _, reply in outbox.take()] == ["new"]
    for number in range(MOST_KEPT + 3):
        outbox.put(("step", (str(number),)), said())
    assert len(outbox) == MOST_KEPT
    big = said("x" * (MOST_KEPT_BYTES // 2))
    for number in range(4):
        outbox.put(("big", (str(number),)), big)
    assert sum(len(reply.output) for _, reply in outbox.take()) <= MOST_KEPT_BYTES
    for key, _ in outbox.take():
        outbox.drop(key)
    assert len(outbox) == 0


def test_patience_grows_to_its_bound_and_starts_over() -> None:
    patience = Patience(first=0.5, growth=1.5, most=60.0, spread=0.5, chance=lambda low, high: high)
    pauses = [patience.take() for _ in range(40)]
    assert pauses[0] == 0.75
    assert pauses == sorted(pauses)
    assert pauses[-1] == 90.0
    assert not patience.fresh
    patience.reset()
    assert patience.fresh
