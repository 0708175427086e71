"""The table that `chronyc -n sources` prints, as values. Whatever is printed, reading never raises."""

from ipaddress import ip_address
from typing import Final

from msgspec import Struct

_STATES: Final = {
    "*": "synced",
    "+": "combined",
    "-": "not_combined",
    "?": "unreachable",
    "x": "error",
    "~": "variable",
}
_SERVER: Final = "^"


class Source(Struct, frozen=True, kw_only=True):
    """A time server as the clock daemon knows it."""

    name: str
    state: str


def sources(text: str) -> tuple[Source, ...]:
    """Servers only: peers and local clocks are not what is asked about."""
    found: list[Source] = []
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and len(words[0]) == 2 and words[0][0] == _SERVER:
            found.append(Source(name=words[1], state=_STATES.get(words[0][1], "error")))
    return tuple(found)


def wanted_sources(text: str) -> tuple[str, ...]:
    """The servers of a list with commas, each once."""
    return tuple(dict.fromkeys(item.strip() for item in text.split(",") if item.strip()))


def is_server(text: str) -> bool:
    """An address or a host name, and nothing that chronyc could take for a command or an option."""
    try:
        ip_address(text)
    except ValueError:
        labels = text.rstrip(".").split(".")
        return len(text) <= 253 and all(
            0 < len(label) <= 63
            and label.replace("-", "a").isascii()
            and label.replace("-", "a").isalnum()
            and not label.startswith("-")
            for label in labels
        )
    return True
