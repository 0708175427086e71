"""Rewording the decoder's first complaint into the sentence that clients of this API know."""

import re
from typing import Final, TypeVar, cast

from msgspec import inspect

Form = TypeVar("Form", bound=inspect.Type)

_PLACE: Final = re.compile(r"^(?P<what>.*?)(?: - at `(?P<place>\$.*)`)?$", re.DOTALL)
_MISSING: Final = re.compile(r"missing required field `([^`]+)`")
_EXPECTED: Final = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_NAMES: Final = {"str": "string", "int": "integer", "bool": "boolean", "float": "number"}


def complaint(message: str, form: inspect.Type, tree: object, *, where: str = "body") -> tuple[str, str]:
    """The offending place in dots and a sentence about it, from a message of msgspec."""
    match = _PLACE.match(message)
    what, place = (match["what"], match["place"] or "") if match else (message, "")
    steps = re.findall(r"[^.\[\]$]+", place)
    if missing := _MISSING.search(what):
        field = ".".join([*steps, missing[1]])
        return field, f"{field} in {where} is required"
    for step in steps:
        form, tree = _inside(form, step), _member(tree, step)
    field = ".".join(steps)
    return field, f"{field or 'the value'} in {where} {_rule(what, form, tree)}"


def either(form: inspect.Type, kind: type[Form]) -> Form | None:
    """The given kind of type, also when it is one side of `X | None` or carries extra facts for the API document."""
    if isinstance(form, kind):
        return form
    if isinstance(form, inspect.Metadata):
        return either(form.type, kind)
    if isinstance(form, inspect.UnionType):
        return next((found for member in form.types if (found := either(member, kind))), None)
    return None


def _inside(form: inspect.Type, step: str) -> inspect.Type:
    if struct := either(form, inspect.StructType):
        return next((field.type for field in struct.fields if field.encode_name == step), form)
    if array := either(form, inspect.VarTupleType):
        return array.item_type
    if mapping := either(form, inspect.DictType):
        return mapping.value_type
    return form


def _member(tree: object, step: str) -> object:
    if isinstance(tree, dict):
        return cast(dict[str, object], tree).get(step)
    if isinstance(tree, list) and step.isdigit():
        items = cast(list[object], tree)
        return items[int(step)] if int(step) < len(items) else None
    return None


def _rule(what: str, form: inspect.Type, value: object) -> str:
    """What the value at this place has to be."""
    if expected := _EXPECTED.match(what):
        return f"must be of type {_named(expected[1])}, not {_named(expected[2])}"
    if (text := either(form, inspect.StrType)) and isinstance(value, str):
        return _text_rule(text, value, _words(form))
    if literal := either(form, inspect.LiteralType):
        return _choice(literal.values)
    if isinstance(number := either(form, inspect.IntType), inspect.IntType) and isinstance(value, int):
        low = number.ge is not None and value < number.ge
        return f"should be {'greater' if low else 'less'} than or equal to {number.ge if low else number.le}"
    if either(form, inspect.UUIDType):
        return f'must be of type uuid: "{value}"'
    if either(form, inspect.DateTimeType):
        return f'must be of type date-time: "{value}"'
    return f"is not acceptable: {what}"


def _text_rule(text: inspect.StrType, value: str, words: tuple[object, ...]) -> str:
    if words:
        return _choice(words)
    if text.min_length is not None and len(value) < text.min_length:
        return f"should be at least {text.min_length} chars long"
    if text.max_length is not None and len(value) > text.max_length:
        return f"should be at most {text.max_length} chars long"
    return f"should match '{text.pattern}'"


def _words(form: inspect.Type) -> tuple[object, ...]:
    facts = either(form, inspect.Metadata)
    schema = cast(dict[str, list[object]] | None, facts.extra_json_schema) if facts else None  # pyright: ignore[reportUnknownMemberType]
    return tuple((schema or {}).get("enum", ()))


def _choice(words: tuple[object, ...]) -> str:
    return f"should be one of [{' '.join(str(word) for word in words)}]"


def _named(types: str) -> str:
    return " or ".join(_NAMES.get(name, name) for name in types.split(" | ") if name != "null") or "null"
