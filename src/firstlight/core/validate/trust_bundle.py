"""Certificates in PEM text: the form of the text here, the certificates themselves by whoever can parse X.509."""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final

from firstlight.core.errors import Invalid

LONGEST: Final = 65_535
_BEGIN: Final = "-----BEGIN CERTIFICATE-----"
_END: Final = "-----END CERTIFICATE-----"
_BASE64: Final = re.compile(r"[A-Za-z0-9+/=]+")
_SEQUENCE_TAG: Final = 0x30


def check_trust_bundle(text: str, *, parse: Callable[[bytes], object] | None = None) -> str:
    """The bundle without surrounding space; empty means none.

    `parse` gets each certificate's DER bytes and raises ValueError when they are not a certificate.
    """
    trimmed = text.strip()
    if len(trimmed) > LONGEST:
        raise Invalid(f"The trust bundle has {len(trimmed)} characters, and at most {LONGEST} are possible.")
    if trimmed:
        check_certificates(trimmed, what="The trust bundle", parse=parse)
    return trimmed


def check_certificates(text: str, *, what: str, parse: Callable[[bytes], object] | None = None) -> tuple[bytes, ...]:
    """The DER bytes of each certificate; `what` opens the sentence of a refusal."""
    found = tuple(certificates(text, what=what))
    if not found:
        raise Invalid(f"{what} holds no certificate. It must have at least one PEM block that says {_BEGIN}.")
    for number, der in enumerate(found, start=1):
        if parse is None:
            continue
        try:
            parse(der)
        except ValueError as error:
            raise Invalid(f"{what} is not valid: certificate {number} cannot be parsed: {error}") from None
    return found


def certificates(text: str, *, what: str) -> list[bytes]:
    """Split PEM text; Invalid when anything but certificate blocks and empty lines is in it."""
    found: list[bytes] = []
    block: list[str] | None = None
    for line in map(str.strip, text.splitlines()):
        if block is None:
            if line == _BEGIN:
                block = []
            elif line:
                raise Invalid(f"{what} is not valid: there is text outside of the certificates. Remove it.")
        elif line == _END:
            found.append(_der("".join(block), what=what, number=len(found) + 1))
            block = None
        else:
            block.append(line)
    if block is not None:
        raise Invalid(f"{what} is not valid: certificate {len(found) + 1} has no line {_END}.")
    return found


def _der(encoded: str, *, what: str, number: int) -> bytes:
    try:
        der = base64.b64decode(encoded, validate=True) if _BASE64.fullmatch(encoded) else b""
    except binascii.Error:
        der = b""
    if not _is_sequence(der):
        raise Invalid(f"{what} is not valid: certificate {number} is damaged. Copy the whole PEM block again.")
    return der


def _is_sequence(der: bytes) -> bool:
    """One ASN.1 sequence that ends where the bytes end: what every certificate is on the outside."""
    if len(der) < 2 or der[0] != _SEQUENCE_TAG:
        return False
    first = der[1]
    if first < 0x80:
        return len(der) == 2 + first
    count = first & 0x7F
    if not 1 <= count <= 4 or len(der) < 2 + count:
        return False
    return len(der) == 2 + count + int.from_bytes(der[2 : 2 + count], "big")
