"""Connections for NetworkManager, as nmstate writes them from a description."""

from collections.abc import Iterator

from firstlight.core.errors import Invalid
from firstlight.core.install.inputs import Value

_CONNECT = {"autoconnect": "true", "autoconnect-priority": "1"}


class Keyfile(Value, frozen=True, kw_only=True, order=True):
    """One connection: the name of its file and what is in it."""

    name: str
    content: str


def require_plain_name(keyfile: Keyfile) -> Keyfile:
    """The file lands in a folder of its host and nowhere else."""
    if "/" in keyfile.name or keyfile.name.startswith(".") or not keyfile.name.isprintable():
        raise Invalid(f"A connection would be stored as {keyfile.name!r}, which is no file name. Rename the interface.")
    return keyfile


def connecting_by_itself(content: str) -> str:
    """The connection comes up without anybody asking, before the ones NetworkManager makes by default."""
    return "".join(f"{line}\n" for line in _lines(content.splitlines()))


def _lines(lines: list[str]) -> Iterator[str]:
    section = ""
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]"):
            section = stripped[1:-1]
            yield line
            if section == "connection":
                yield from (f"{key}={value}" for key, value in _CONNECT.items())
        elif section != "connection" or stripped.partition("=")[0].strip() not in _CONNECT:
            yield line
