from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core import wire

MOMENT = datetime(2026, 11, 15, 4, 5, 6, 789_123, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "milliseconds", "microseconds"),
    [
        pytest.param(None, "0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00Z", id="never"),
        pytest.param(MOMENT, "2026-11-15T04:05:06.789Z", "2026-11-15T04:05:06.789123Z", id="utc"),
        pytest.param(
            MOMENT.astimezone(timezone(timedelta(hours=2))),
            "2026-11-15T04:05:06.789Z",
            "2026-11-15T04:05:06.789123Z",
            id="another-zone",
        ),
        pytest.param(
            MOMENT.replace(microsecond=0), "2026-11-15T04:05:06.000Z", "2026-11-15T04:05:06.000000Z", id="whole-second"
        ),
    ],
)
def test_spelling(moment: datetime | None, milliseconds: str, microseconds: str) -> None:
    assert wire.zulu(moment) == milliseconds
    assert wire.zulu_stored(moment) == microseconds


@given(st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC)))
def test_reading_back(moment: datetime) -> None:
    assert wire.moment(wire.zulu_stored(moment)) == moment
    assert wire.moment(wire.zulu(moment)) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@pytest.mark.parametrize("text", [wire.NEVER, wire.NEVER_STORED])
def test_year_one_is_never(text: str) -> None:
    assert wire.moment(text) is None


@pytest.mark.parametrize("text", ["", "soon", "2026-11-15T04:05:06"])
def test_other_text_is_no_moment(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        wire.moment(text)
