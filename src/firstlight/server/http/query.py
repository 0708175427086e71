"""Reading query strings into a typed structure: lists are comma-separated, empty means not given."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import inspect

from firstlight.core.wire.complaints import complaint, either
from firstlight.server.http.errors import BadRequest

Q = TypeVar("Q")

MAX_PARAMETERS: Final = 1_000
_TRUE: Final = frozenset({"true", "1", "yes", "ok", "y", "on", "selected", "checked", "t", "enabled"})
_FALSE: Final = frozenset({"false", "0", "no", "n", "off", "f", "disabled", "null", "undefined", "none"})


@dataclass(frozen=True, slots=True)
class _Field:
    is_list: bool
    convert: Callable[[str, str], object]


class QueryReader(Generic[Q]):
    """Reads one query type; make it once and keep it."""

    def __init__(self, type_: type[Q]) -> None:
        self._type = type_
        self._form = inspect.type_info(type_)
        struct = either(self._form, inspect.StructType)
        self._fields = {field.encode_name: _field(field.type) for field in struct.fields} if struct else {}
        self._nothing = self._convert({}) if struct and not any(field.required for field in struct.fields) else None

    def read(self, query_string: bytes) -> Q:
        """The typed query; parameters nobody declared are ignored."""
        if self._nothing is not None and (not query_string or not self._fields):
            return self._nothing
        given: dict[str, object] = {}
        for name, value in _pairs(query_string):
            field = self._fields.get(name)
            if field is None or not value:
                continue
            if field.is_list:
                items = [field.convert(name, item.strip()) for item in value.split(",") if item.strip()]
                earlier = given.get(name, [])
                given[name] = [*earlier, *items] if isinstance(earlier, list) else items
            else:
                given[name] = field.convert(name, value)
        return self._convert(given)

    def _convert(self, given: dict[str, object]) -> Q:
        try:
            return msgspec.convert(given, self._type)
        except msgspec.ValidationError as error:
            raise BadRequest(complaint(str(error), self._form, given, where="query")[1]) from error


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    text = query_string.decode("utf-8", "replace")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError as error:
        raise BadRequest(f"the query string has more than {MAX_PARAMETERS} parameters") from error
    # Nothing stored has a NUL in it, and PostgreSQL cannot even be asked for one.
    if "%00" in text or "\0" in text:
        raise BadRequest("the query string contains a NUL character")
    return pairs


def _field(form: inspect.Type) -> _Field:
    array = either(form, inspect.VarTupleType)
    item = array.item_type if array else form
    if either(item, inspect.BoolType):
        return _Field(array is not None, _boolean)
    if either(item, inspect.IntType):
        return _Field(array is not None, _integer)
    return _Field(array is not None, lambda _, value: value)


def _boolean(name: str, value: str) -> bool:
    word = value.casefold()
    if word not in _TRUE and word not in _FALSE:
        raise BadRequest(f'{name} in query must be of type bool: "{value}"')
    return word in _TRUE


def _integer(name: str, value: str) -> int:
    digits = value[1:] if value[0] in "+-" else value
    if not (digits.isascii() and digits.isdecimal()) or not -(2**63) <= (number := int(value[:64])) < 2**63:
        raise BadRequest(f'{name} in query must be of type int64: "{value}"')
    return number
