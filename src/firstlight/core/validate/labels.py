"""Kubernetes labels that nodes get when they join."""

import re
from collections.abc import Iterable
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.validate.names import is_label
from firstlight.core.validate.quoting import shown

_LONGEST_NAME: Final = 63
_LONGEST_PREFIX: Final = 253
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+")


def check_node_labels(labels: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Key and value pairs; each key once."""
    kept: dict[str, str] = {}
    for key, value in labels:
        if check_label_key(key) in kept:
            raise Invalid(f"The label {shown(key)} is given twice. Keep one of them.")
        kept[key] = check_label_value(value)
    return kept


def check_label_key(key: str) -> str:
    prefix, slash, name = key.rpartition("/")
    if _is_name(name) and (not slash or _is_prefix(prefix)):
        return key
    raise Invalid(
        f"The label key {shown(key)} is not valid. Use at most {_LONGEST_NAME} letters, digits, dashes, underscores and"
        " dots, beginning and ending with a letter or digit, with a DNS name and a slash in front if wanted."
    )


def check_label_value(value: str) -> str:
    if not value or _is_name(value):
        return value
    raise Invalid(
        f"The label value {shown(value)} is not valid. Use at most {_LONGEST_NAME} letters, digits, dashes, underscores"
        " and dots, beginning and ending with a letter or digit, or leave it empty."
    )


def _is_name(text: str) -> bool:
    ends_are_plain = text[:1].isalnum() and text[-1:].isalnum()
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None and ends_are_plain


def _is_prefix(text: str) -> bool:
    return len(text) <= _LONGEST_PREFIX and all(map(is_label, text.split(".")))
