"""docs/events.md tells the truth: every published event has a source and a test, or a reason why it cannot happen."""

import re
from pathlib import Path
from typing import Final

import pytest

from firstlight.core.events.catalogue import BY_NAME, NAMED_EVENTS
from firstlight.core.events.event import Event
from tools.event_page import NOT_APPLICABLE, PAGE, RECEIVED, ROOT, mentions, used_in

USED: Final = used_in()
ROW: Final = re.compile(r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*?) \| (.*?) ?\|$", re.MULTILINE)
ROWS: Final = {found[1]: found.groups() for found in ROW.finditer(PAGE.read_text())}
WAY_OUT: Final = "Run tools/event_page.py."


def test_every_published_event_has_its_row() -> None:
    assert set(ROWS) == set(BY_NAME), WAY_OUT
    assert len(ROW.findall(PAGE.read_text())) == len(NAMED_EVENTS) == 80


def test_a_reason_is_given_only_for_what_does_not_happen() -> None:
    assert set(NOT_APPLICABLE) | set(RECEIVED) <= set(BY_NAME)
    assert not set(NOT_APPLICABLE) & set(RECEIVED)
    produced = {event.name for event in NAMED_EVENTS if event.__name__ in USED}
    assert produced & set(NOT_APPLICABLE) == set(), "it happens after all: take the reason away"
    assert produced | set(NOT_APPLICABLE) | set(RECEIVED) == set(BY_NAME), "nobody produces it: produce it or say why"


@pytest.mark.parametrize("event", NAMED_EVENTS, ids=lambda event: event.name)
def test_a_row(event: type[Event]) -> None:
    _, severity, template, source, test = ROWS[event.name]
    assert (severity, template) == (event.level.value, event.template), WAY_OUT
    if event.name in NOT_APPLICABLE:
        assert source == f"not applicable: {NOT_APPLICABLE[event.name]}", WAY_OUT
        assert test == ""
        return
    if event.name not in RECEIVED:
        assert re.findall(r"`([^`]+)`", source) == USED[event.__name__], WAY_OUT
    shown = ROOT / Path(test.strip("`"))
    assert shown.is_file(), f"no test shows it. {WAY_OUT}"
    assert mentions(shown, event), WAY_OUT
