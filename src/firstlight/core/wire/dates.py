"""Moments as the wire spells them: "never" is a date in year 1, not null."""

from datetime import UTC, datetime
from typing import Final

NEVER: Final = "0001-01-01T00:00:00.000Z"
NEVER_STORED: Final = "0001-01-01T00:00:00Z"


def zulu(moment: datetime | None) -> str:
    """Milliseconds and `Z`, as most date-times are written."""
    if moment is None:
        return NEVER
    return f"{_utc(moment).isoformat(timespec='milliseconds')[:-6]}Z"


def zulu_stored(moment: datetime | None) -> str:
    """Microseconds and `Z`, as `created_at` and `updated_at` are written."""
    if moment is None:
        return NEVER_STORED
    return f"{_utc(moment).isoformat(timespec='microseconds')[:-6]}Z"


def moment(text: str) -> datetime | None:
    """The moment a wire date names, or None for the "never" of year 1. Raises ValueError for anything else."""
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone.")
    return None if parsed.year == 1 else parsed.astimezone(UTC)


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
