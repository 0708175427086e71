"""Documents in YAML, or in JSON, which most of ours are: reading those needs no YAML reader at all."""

import json
import re
from typing import Final, cast

from firstlight.core.errors import Invalid

Document = dict[str, object]
_SEPARATOR: Final = re.compile(r"^---\s*$", re.MULTILINE)


def read_documents(text: str) -> list[Document]:
    """The mappings in a text with one or more documents; empty documents are left out. Raises `Invalid`."""
    try:
        parsed = [json.loads(part) for part in _SEPARATOR.split(text) if part.strip()]
    except json.JSONDecodeError:
        parsed = _from_yaml(text)
    found = [one for one in parsed if one is not None]
    if not all(isinstance(one, dict) for one in found):
        raise Invalid("A document is no mapping. Kubernetes objects have names and values.")
    return cast("list[Document]", found)


def _from_yaml(text: str) -> list[object]:
    import yaml

    try:
        return list(cast("list[object]", yaml.safe_load_all(text)))
    except yaml.YAMLError as reason:
        raise Invalid(f"A document is not YAML: {reason}.") from reason
