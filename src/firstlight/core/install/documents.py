"""Looking into parsed documents (YAML, JSON) without trusting their shape."""

import json
from collections.abc import Mapping
from typing import cast

Document = dict[str, object]


def is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def is_sequence(value: object) -> bool:
    return isinstance(value, list | tuple)


def mapping(value: object) -> Document:
    """The members of a mapping; nothing of anything else."""
    if not isinstance(value, Mapping):
        return {}
    return {str(key): item for key, item in cast("Mapping[object, object]", value).items()}


def sequence(value: object) -> list[object]:
    return list(cast("list[object]", value)) if isinstance(value, list | tuple) else []


def to_text(document: object) -> str:
    """JSON, which every YAML reader takes; equal documents give equal text. Dates a YAML parser made stay words."""
    return json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n"
