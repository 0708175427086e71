"""Command lines as the original reads them: one or two dashes, `=` or the next word, booleans only with `=`."""

from collections.abc import Mapping, Sequence
from typing import Final

from firstlight.core.errors import Invalid

TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})
HELP: Final = frozenset({"h", "help"})


class HelpWanted(Exception):
    """Somebody asked what the flags are."""


def read_flags(arguments: Sequence[str], *, known: Mapping[str, bool]) -> dict[str, str]:
    """Values by name; the last one of a name wins. Otherwise as `read_each`."""
    return dict(read_each(arguments, known=known))


def read_each(arguments: Sequence[str], *, known: Mapping[str, bool]) -> list[tuple[str, str]]:
    """Names and values in order; `known` says which flags exist and whether they are boolean.

    Reading stops at the first word that is no flag, as the original's does. Raises `Invalid` and `HelpWanted`.
    """
    found: list[tuple[str, str]] = []
    words = iter(arguments)
    for word in words:
        if len(word) < 2 or not word.startswith("-") or word == "--":
            break
        name, has_value, value = word.removeprefix("-").removeprefix("-").partition("=")
        if name not in known:
            if name in HELP:
                raise HelpWanted
            raise Invalid(f"There is no flag -{name}. Start the program with --help to see what there is.")
        if known[name]:
            value = _truth(name, value) if has_value else "true"
        elif not has_value:
            value = next(words, None)
            if value is None:
                raise Invalid(f"The flag -{name} needs a value. Write -{name}=… .")
        found.append((name, value))
    return found


def _truth(name: str, value: str) -> str:
    if value not in TRUE | FALSE:
        raise Invalid(f"The flag -{name} is either true or false, not '{value}'.")
    return "true" if value in TRUE else "false"
