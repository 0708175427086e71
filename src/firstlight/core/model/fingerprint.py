"""What tells one machine from another when their firmware gives both the same name.

Agents of ours send it in a request header beside the host id, because an id made of a serial number is only as unique
as the serial number: some vendors ship boards with one UUID, or with "To be filled by O.E.M." in every field.
"""

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

HEADER: Final = "X-Firstlight-Fingerprint"
MOST_MACS: Final = 32
_FORM: Final = re.compile(r"1;board=([0-9a-f]{16});macs=((?:[0-9a-f]{12}(?:,[0-9a-f]{12}){0,31})?)\Z")


class Fingerprint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    board: str
    """A digest of UUID and serial numbers."""
    macs: tuple[str, ...] = ()
    """Permanent addresses of built-in interfaces, 12 lower-case digits each, in order."""


def make_fingerprint(*, board: str, macs: Iterable[str]) -> Fingerprint:
    """`macs` in any usual spelling and order."""
    plain = {mac.replace(":", "").replace("-", "").lower() for mac in macs}
    return Fingerprint(board=board, macs=tuple(sorted(plain)[:MOST_MACS]))


def write_fingerprint(fingerprint: Fingerprint) -> str:
    return f"1;board={fingerprint.board};macs={','.join(fingerprint.macs)}"


def read_fingerprint(text: str) -> Fingerprint | None:
    """None for whatever has another form: a newer agent may write it differently, and nothing depends on it."""
    found = _FORM.match(text)
    if found is None:
        return None
    board, macs = found.groups()
    return make_fingerprint(board=board, macs=macs.split(",") if macs else ())
