"""Public SSH keys as `authorized_keys` lines: a type, a base64 blob that really is a key of that type, a comment."""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from firstlight.core.errors import Invalid

_BASE64: Final = re.compile(r"[0-9A-Za-z+/]+={0,3}")
_LENGTH: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyForm:
    """What follows the type inside the blob: `fields` in number, or their exact content where it is known."""

    fields: int
    curve: bytes = b""
    last_size: int = 0


_FORMS: Final = {
    "ssh-rsa": _KeyForm(fields=2),
    "ssh-dss": _KeyForm(fields=4),
    "ssh-ed25519": _KeyForm(fields=1, last_size=32),
    "ecdsa-sha2-nistp256": _KeyForm(fields=2, curve=b"nistp256", last_size=65),
    "ecdsa-sha2-nistp384": _KeyForm(fields=2, curve=b"nistp384", last_size=97),
    "ecdsa-sha2-nistp521": _KeyForm(fields=2, curve=b"nistp521", last_size=133),
}


def check_ssh_keys(text: str) -> str:
    """One key per line, without surrounding space; empty means none."""
    trimmed = text.strip()
    if not trimmed:
        return ""
    lines = [line.strip() for line in trimmed.split("\n")]
    for number, line in enumerate(lines, start=1):
        _check_line(line, number=number)
    return "\n".join(lines)


def _check_line(line: str, *, number: int) -> None:
    if not line:
        raise Invalid(f"SSH key is not valid: line {number} is empty. Put one key on each line.")
    kind, _, rest = line.partition(" ")
    form = _FORMS.get(kind)
    if form is None:
        known = ", ".join(_FORMS)
        raise Invalid(f"SSH key is not valid: line {number} does not begin with a supported key type ({known}).")
    encoded = rest.partition(" ")[0]
    if not line.isprintable() or not _BASE64.fullmatch(encoded) or not _is_key(encoded, kind=kind, form=form):
        raise Invalid(f"SSH key is not valid: line {number} does not hold a whole {kind} key. Copy the key again.")


def _is_key(encoded: str, *, kind: str, form: _KeyForm) -> bool:
    bare = encoded.rstrip("=")
    try:
        blob = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except binascii.Error:
        return False
    name, *fields = _strings(blob)
    if name != kind.encode() or len(fields) != form.fields or not all(fields):
        return False
    if form.curve and fields[0] != form.curve:
        return False
    return not form.last_size or len(fields[-1] or b"") == form.last_size


def _strings(blob: bytes) -> Iterator[bytes | None]:
    """The length-prefixed strings of a key blob; None at the end when the last one is cut off."""
    at = 0
    while at < len(blob) or at == 0:
        size = int.from_bytes(blob[at : at + _LENGTH], "big")
        at += _LENGTH + size
        yield blob[at - size : at] if at <= len(blob) else None
