"""Showing a user's value inside a message without letting it take the message over."""

from typing import Final

_LONGEST: Final = 80


def shown(text: str) -> str:
    """`text` in quotes, control characters made visible, cut to a readable length."""
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return "'" + "".join(each if each.isprintable() else repr(each)[1:-1] for each in short) + "'"
