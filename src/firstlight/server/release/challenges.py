"""How a registry asks for credentials (the WWW-Authenticate header) and where the token then comes from."""

import re
from typing import Final

from msgspec import Struct

_SCHEME: Final = re.compile(r"\s*(?P<scheme>[A-Za-z]+)\b\s*", re.ASCII)
_PARAMETER: Final = re.compile(
    r'(?P<name>[A-Za-z_]+)\s*=\s*(?:"(?P<quoted>[^"]{0,4096})"|(?P<bare>[^\s,"]{1,4096}))\s*,?\s*', re.ASCII
)
LONGEST: Final = 8192


class Challenge(Struct, frozen=True, kw_only=True):
    """One answer 401 in a program's words."""

    scheme: str
    """`basic` or `bearer`; anything else we cannot answer."""
    realm: str = ""
    service: str = ""
    scope: str = ""


def parse_challenge(header: str) -> Challenge | None:
    """Read the first challenge of the header; None where there is none."""
    found = _SCHEME.match(header[:LONGEST])
    if found is None:
        return None
    parameters: dict[str, str] = {}
    position = found.end()
    while (parameter := _PARAMETER.match(header[:LONGEST], position)) is not None:
        quoted = parameter["quoted"]
        parameters.setdefault(parameter["name"].lower(), quoted if quoted is not None else parameter["bare"])
        position = parameter.end()
    return Challenge(
        scheme=found["scheme"].lower(),
        realm=parameters.get("realm", ""),
        service=parameters.get("service", ""),
        scope=parameters.get("scope", ""),
    )
