"""Reading JSON the way the original does, without giving up speed or safety.

The fast way is one strict, typed decode. Only when that fails is the document looked at again with the tolerance
clients rely on: keys in any letter case, null meaning absent, data after the document ignored. The same typed decoder
then has the last word, so both ways accept the same values; its first complaint is reworded for people.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, Generic, TypeVar, cast

import msgspec
from msgspec import inspect

from firstlight.core.errors import Invalid
from firstlight.core.wire.complaints import complaint, either

T = TypeVar("T")


class Unreadable(Invalid):
    """The document is not JSON, or not of the expected form.

    `field` names the offending place in dots (`api_vips.0.ip`), empty when the document as a whole is meant.
    """

    default_code = "unreadable"

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class Reader(Generic[T]):
    """Decodes one type; make it once and keep it. `ignore_unknown` drops members a `Body` would be refused for."""

    def __init__(self, type_: type[T], *, ignore_unknown: bool = False) -> None:
        self._type = type_
        self._ignore_unknown = ignore_unknown
        self._decode = msgspec.json.Decoder(type_).decode

    def read(self, data: bytes | str) -> T:
        """The typed document, or `Unreadable`."""
        try:
            return self._decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return self._read_tolerantly(data)

    def _read_tolerantly(self, data: bytes | str) -> T:
        tree = _parse(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data))
        form = inspect.type_info(self._type)
        try:
            tree = _tidy(tree, form, self._ignore_unknown)
            return self._decode(msgspec.json.encode(tree))
        except msgspec.ValidationError as error:
            field, sentence = complaint(str(error), form, tree)
            raise Unreadable(sentence, field=field) from error
        except RecursionError as error:
            raise Unreadable("the document is nested too deeply") from error


def _parse(data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except UnicodeError as error:
        raise Unreadable("the document is not valid UTF-8") from error
    except RecursionError as error:
        raise Unreadable("the document is nested too deeply") from error
    except msgspec.DecodeError as error:
        trailing = _TRAILING.search(str(error))
        if trailing is None:
            raise Unreadable(str(error)) from error
        return _parse(data[: int(trailing[1]) - 1])


_TRAILING: Final = re.compile(r"trailing characters \(byte (\d+)\)")


def _tidy(value: object, form: inspect.Type, ignore_unknown: bool) -> object:
    """The same tree with null members dropped and keys spelled as the type spells them."""
    if isinstance(value, dict):
        members = cast(dict[str, object], value)
        if struct := either(form, inspect.StructType):
            return _tidy_members(members, struct, ignore_unknown)
        if (mapping := either(form, inspect.DictType)) and not isinstance(mapping.value_type, inspect.RawType):
            return {
                key: _tidy(item, mapping.value_type, ignore_unknown)
                for key, item in members.items()
                if item is not None
            }
        return members
    if isinstance(value, list):
        items = cast(list[object], value)
        if (array := either(form, inspect.VarTupleType)) or (array := either(form, inspect.ListType)):
            return [_tidy(item, array.item_type, ignore_unknown) for item in items]
        return items
    return value


def _tidy_members(members: Mapping[str, object], struct: inspect.StructType, ignore_unknown: bool) -> dict[str, object]:
    spelling = _spelling(struct.cls)
    forms = {field.encode_name: field.type for field in struct.fields}
    tidy: dict[str, object] = {}
    for key, item in members.items():
        name = key if key in forms else spelling.get(key.casefold())
        if name is None:
            if struct.forbid_unknown_fields and not ignore_unknown:
                raise Unreadable(f'json: unknown field "{key}"')
        elif item is not None:
            tidy[name] = _tidy(item, forms[name], ignore_unknown)
    return tidy


@cache
def _spelling(struct: type[msgspec.Struct]) -> Mapping[str, str]:
    return {name.casefold(): name for name in struct.__struct_encode_fields__}
