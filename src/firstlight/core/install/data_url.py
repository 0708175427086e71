"""RFC 2397 data URLs: how Ignition carries file contents inside its own document."""

import base64
import binascii
import re
from typing import Final
from urllib.parse import unquote_to_bytes

from firstlight.core.errors import Invalid

PREFIX: Final = "data:"
# What Ignition's own parser takes after the comma: URL characters and complete percent escapes, nothing else.
DATA: Final = re.compile(r"(?:[A-Za-z0-9;/?:@&=+$,\-_.!~*'()]|%[0-9A-Fa-f]{2})*")
# Optional media type, optional parameters, optional base64 marker.
HEAD: Final = re.compile(
    r"(?:[A-Za-z0-9!#$&^_.+\-]+/[A-Za-z0-9!#$&^_.+\-]+)?(?:;[A-Za-z0-9!#$&^_.+\-]+=[^;,]*)*(?P<base64>;base64)?"
)


def to_data_url(content: bytes, *, media_type: str = "text/plain;charset=utf-8") -> str:
    return f"{PREFIX}{media_type};base64,{base64.b64encode(content).decode()}"


def from_data_url(url: str) -> bytes:
    """The bytes inside `url`. Raises Invalid with the reason, as Ignition would refuse it on the host."""
    if not url.startswith(PREFIX):
        raise Invalid("The URL does not start with data: and so holds no content of its own.")
    head, comma, data = url[len(PREFIX) :].partition(",")
    if not comma:
        raise Invalid("The data URL has no comma between its description and its data.")
    described = HEAD.fullmatch(head)
    if described is None:
        raise Invalid(f"The data URL starts with {head[:40]!r}, which is no media type.")
    if DATA.fullmatch(data) is None:
        raise Invalid("The data URL has characters that must be percent-encoded, or an incomplete percent escape.")
    content = unquote_to_bytes(data)
    if described["base64"] is None:
        return content
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error as problem:
        raise Invalid("The data URL says base64, but its data does not decode as base64.") from problem
