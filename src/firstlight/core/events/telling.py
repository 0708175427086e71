"""Values as events may tell them: whoever reads along learns that a secret changed, not what it is."""

import re
from collections.abc import Mapping
from typing import Final, cast

import msgspec

HIDDEN: Final = "***"
SECRET: Final = frozenset({"ignition_override", "install_config_overrides", "password", "static_network"})
"""Fields in which users may put passwords and keys, wherever in a value they are."""
# Up to the last @ before the path: a password may hold one that nobody escaped.
_LOGIN: Final = re.compile(r"(?<=://)[^/\s\"'<>]*@")


def without_logins(text: str) -> str:
    """The text without the user names and passwords in its URLs."""
    return _LOGIN.sub("", text)


def told(values: Mapping[str, object]) -> dict[str, object]:
    """Fields by name, ready for the audit and the stream."""
    return {name: _told(name, msgspec.to_builtins(value)) for name, value in values.items()}


def _told(name: str, value: object) -> object:
    if name in SECRET:
        return HIDDEN if value else value
    if isinstance(value, str):
        return without_logins(value)
    if isinstance(value, dict):
        return {key: _told(key, item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_told(name, item) for item in cast("list[object]", value)]
    return value
