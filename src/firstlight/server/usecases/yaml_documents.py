"""Reading YAML and JSON that users send, with bounds on what it may unfold to.

A few hundred bytes of aliases can stand for billions of values. The events are therefore counted as if every alias
were written out, before anything is built.
"""

import re
from collections.abc import Iterable
from typing import Final, cast

import msgspec
import yaml

from firstlight.core.errors import Invalid
from firstlight.core.install.documents import is_mapping, is_sequence, mapping, sequence
from firstlight.core.install.manifests import Form, form_of

MOST_VALUES: Final = 200_000
DEEPEST: Final = 100


class Loader(yaml.CSafeLoader):
    """Reads plain words as Kubernetes does: 12:30 and 2025-01-01 are text, neither a number nor a date, and 0o17 is 15.

    An address such as 52:54:00:12:34:56 would be a number otherwise.
    """


_INT, _FLOAT, _TIME = (f"tag:yaml.org,2002:{name}" for name in ("int", "float", "timestamp"))
_NUMBERS: Final = (
    (_INT, re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)\Z", re.ASCII)),
    (
        _FLOAT,
        re.compile(
            r"(?:[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z",
            re.ASCII,
        ),
    ),
)
Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_INT, _FLOAT, _TIME)]
    + [number for number in _NUMBERS if first in "-+.0123456789"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
"""By the first letter of a word."""


def parse_manifest(file_name: str, content: bytes) -> list[object]:
    """The documents in a manifest, by the form its name promises. Raises Invalid naming file and place."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise Invalid(f"Manifest {file_name} is not UTF-8 text. Save it as UTF-8.") from None
    if form_of(file_name) is Form.JSON:
        return [_json(file_name, content)]
    return parse_yaml(text, what=f"Manifest {file_name}")


def _json(file_name: str, content: bytes) -> object:
    try:
        document = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise Invalid(f"Manifest {file_name} is not valid JSON: {problem}.") from None
    if _is_too_deep(document):
        raise _too_deep(f"Manifest {file_name}")
    return document


def _is_too_deep(document: object) -> bool:
    values = [document]
    for _ in range(DEEPEST):
        values = [inner for value in values for inner in (*mapping(value).values(), *sequence(value))]
    return any(is_mapping(value) or is_sequence(value) for value in values)


def _too_deep(what: str) -> Invalid:
    return Invalid(f"{what} is nested deeper than {DEEPEST} levels. Flatten it.")


def parse_yaml(text: str, *, what: str) -> list[object]:
    """The documents in a text. Raises Invalid with a sentence that begins with `what`."""
    try:
        _require_bounded(what, text)
        return list(yaml.load_all(text, Loader=Loader))
    except yaml.YAMLError as problem:
        raise Invalid(f"{what} is not valid YAML: {' '.join(str(problem).split())}.") from None
    except (ValueError, ArithmeticError, TypeError, LookupError, AttributeError, RecursionError) as problem:
        # Dates that do not exist, numbers with thousands of digits, keys nobody can look up.
        raise Invalid(f"{what} holds a value that cannot be read: {problem}.") from None


class _Open:
    """A collection whose end was not seen yet."""

    def __init__(self, anchor: str | None = None) -> None:
        self.anchor = anchor
        self.values = 1


def _events(text: str) -> Iterable[yaml.Event]:
    # The stubs of PyYAML leave this one function without types.
    return cast("Iterable[yaml.Event]", yaml.parse(text, Loader=yaml.CSafeLoader))  # pyright: ignore[reportUnknownMemberType]


def _require_bounded(what: str, text: str) -> None:
    open_ones = [_Open()]
    anchored: dict[str, int] = {}
    for event in _events(text):
        if isinstance(event, yaml.DocumentStartEvent):
            anchored = {}
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            open_ones.append(_Open(event.anchor))
            if len(open_ones) > DEEPEST + 1:
                raise _too_deep(what)
        else:
            size = _size(what, event, open_ones, anchored)
            open_ones[-1].values += size
            if open_ones[-1].values > MOST_VALUES:
                raise Invalid(f"{what} unfolds to more than {MOST_VALUES} values. Write out less through aliases.")


def _size(what: str, event: yaml.Event, open_ones: list[_Open], anchored: dict[str, int]) -> int:
    """How many values end with this event."""
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchored:
            raise Invalid(f"{what} uses the alias *{event.anchor} before its value is complete.")
        return anchored[event.anchor]
    if isinstance(event, yaml.ScalarEvent):
        if event.anchor is not None:
            anchored[event.anchor] = 1
        return 1
    if isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
        ended = open_ones.pop()
        if ended.anchor is not None:
            anchored[ended.anchor] = ended.values
        return ended.values
    return 0
