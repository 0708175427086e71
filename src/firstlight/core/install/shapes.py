"""What a parsed document must look like: small checks that are put together, and tell every place that is wrong.

A check takes a value and its place and yields one sentence per problem. Nulls are no values: Kubernetes reads them as
if they were not there.
"""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from firstlight.core.install.documents import is_mapping, is_sequence, mapping, sequence

Check = Callable[[object, str], Iterator[str]]


def named(value: object) -> str:
    """A kind of value as people call it."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if is_mapping(value):
        return "a mapping"
    return "a list" if is_sequence(value) else "text" if isinstance(value, str) else type(value).__name__


def anything(value: object, place: str) -> Iterator[str]:
    del value, place
    yield from ()


def text(value: object, place: str) -> Iterator[str]:
    if not isinstance(value, str):
        hint = "; put it in quotes" if isinstance(value, bool | int | float) else ""
        yield f"{place} must be text and is {named(value)}{hint}"


def filled_text(value: object, place: str) -> Iterator[str]:
    yield from text(value, place)
    if value == "":
        yield f"{place} must not be empty"


def flag(value: object, place: str) -> Iterator[str]:
    if not isinstance(value, bool):
        yield f"{place} must be true or false and is {named(value)}"


def whole_number(value: object, place: str) -> Iterator[str]:
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        yield f"{place} must be a whole number and is {named(value)}"


def text_or_number(value: object, place: str) -> Iterator[str]:
    """Quantities and percentages are written either way."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        yield f"{place} must be text or a number and is {named(value)}"


def in_base64(value: object, place: str) -> Iterator[str]:
    yield from text(value, place)
    if isinstance(value, str):
        try:
            base64.b64decode("".join(value.split()), validate=True)
        except (binascii.Error, ValueError):
            yield f"{place} must be base64; plain text belongs into stringData"


def any_mapping(value: object, place: str) -> Iterator[str]:
    if not is_mapping(value):
        yield f"{place} must be a mapping and is {named(value)}"


def one_of(*allowed: str) -> Check:
    def check(value: object, place: str) -> Iterator[str]:
        if value not in allowed:
            yield f"{place} must be one of {', '.join(name for name in allowed if name)}"

    return check


def list_of(item: Check) -> Check:
    def check(value: object, place: str) -> Iterator[str]:
        if not is_sequence(value):
            yield f"{place} must be a list and is {named(value)}"
        for index, entry in enumerate(sequence(value)):
            if entry is None:
                yield f"{place}[{index}] is empty"
            else:
                yield from item(entry, f"{place}[{index}]")

    return check


def map_of(item: Check) -> Check:
    def check(value: object, place: str) -> Iterator[str]:
        yield from any_mapping(value, place)
        for key, entry in mapping(value).items():
            if entry is not None:
                yield from item(entry, f"{place}[{key}]")

    return check


def fields(required: Mapping[str, Check] | None = None, optional: Mapping[str, Check] | None = None) -> Check:
    """A mapping with these members; further ones are nobody's business here."""
    needed, known = required or {}, {**(required or {}), **(optional or {})}

    def check(value: object, place: str) -> Iterator[str]:
        yield from any_mapping(value, place)
        members = mapping(value)
        for name in needed if is_mapping(value) else ():
            if members.get(name) is None:
                yield f"{joined(place, name)} is missing"
        for name, item in known.items():
            if members.get(name) is not None:
                yield from item(members[name], joined(place, name))

    return check


def joined(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


LABELS: Final = map_of(text)
SELECTOR: Final = fields(
    optional={
        "matchLabels": LABELS,
        "matchExpressions": list_of(
            fields(
                {"key": filled_text, "operator": one_of("In", "NotIn", "Exists", "DoesNotExist")},
                {"values": list_of(text)},
            )
        ),
    }
)
