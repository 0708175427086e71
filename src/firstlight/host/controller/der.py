"""A reader for DER, as far as certificate requests need it: elements in elements, every length checked."""

from collections.abc import Iterator
from typing import Final, NamedTuple

SEQUENCE: Final = 0x30
SET: Final = 0x31
OBJECT_IDENTIFIER: Final = 0x06
OCTET_STRING: Final = 0x04
CONTEXT_0: Final = 0xA0
TEXTS: Final = {0x0C: "utf-8", 0x13: "ascii", 0x16: "ascii", 0x1E: "utf-16-be"}
"""UTF8String, PrintableString, IA5String, BMPString."""
_LONG: Final = 0x80
_MANY_BYTES: Final = 4


class Malformed(ValueError):
    """The bytes are not DER."""


class Element(NamedTuple):
    tag: int
    content: bytes


def elements(data: bytes) -> Iterator[Element]:
    """The elements that stand one after another in `data`."""
    place = 0
    while place < len(data):
        if place + 2 > len(data):
            raise Malformed("an element is cut off")
        tag, length = data[place], data[place + 1]
        place += 2
        if length & _LONG:
            count = length & ~_LONG
            if not 1 <= count <= _MANY_BYTES or place + count > len(data):
                raise Malformed("a length makes no sense")
            length = int.from_bytes(data[place : place + count], "big")
            place += count
        if place + length > len(data):
            raise Malformed("an element is longer than what holds it")
        yield Element(tag, data[place : place + length])
        place += length


def inside(element: Element, *, tag: int) -> list[Element]:
    """The elements within one that has to be of this kind."""
    if element.tag != tag:
        raise Malformed(f"an element of kind {element.tag:#x} stands where {tag:#x} belongs")
    return list(elements(element.content))


def text(element: Element) -> str:
    encoding = TEXTS.get(element.tag)
    if encoding is None:
        raise Malformed(f"an element of kind {element.tag:#x} stands where a text belongs")
    try:
        return element.content.decode(encoding)
    except UnicodeDecodeError as reason:
        raise Malformed("a text is not in its encoding") from reason
