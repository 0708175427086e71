"""Rules for manifests that users send: names, folders, size, and whether the content is what the name says.

YAML is parsed by the caller, who knows how; the parsed documents come in here.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from firstlight.core.errors import Invalid, Unprocessable
from firstlight.core.install.documents import is_mapping, is_sequence, mapping, sequence
from firstlight.core.install.manifest_objects import FileObjects, require_distinct, require_objects

LARGEST: Final = 1_048_576
"""Bytes of one manifest, decoded."""
NAME: Final = re.compile(r"[^/]*\.(?:json|ya?ml(?:\.patch_?[a-zA-Z0-9_]*)?)")
PATCH: Final = re.compile(r"(?P<target>.+\.ya?ml)\.patch_?[a-zA-Z0-9_]*")
PATCH_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "add": frozenset({"path", "value"}),
    "replace": frozenset({"path", "value"}),
    "test": frozenset({"path", "value"}),
    "remove": frozenset({"path"}),
    "move": frozenset({"path", "from"}),
    "copy": frozenset({"path", "from"}),
}


class Folder(StrEnum):
    MANIFESTS = "manifests"
    OPENSHIFT = "openshift"


class Form(StrEnum):
    """How the content is to be parsed."""

    JSON = "json"
    YAML = "yaml"
    PATCH = "patch"


def require_name(file_name: str) -> None:
    """Refuse a name no manifest can have (Unprocessable) or whose ending is unknown (Invalid)."""
    if "/" in file_name or "\\" in file_name or "\0" in file_name:
        raise Unprocessable(f"Manifest name {file_name!r} contains a path separator. Give the folder separately.")
    if re.search(r"\s", file_name):
        raise Unprocessable(f"Manifest name {file_name!r} contains white space. Use dashes instead.")
    if file_name.startswith("."):
        raise Unprocessable(f"Manifest name {file_name!r} has nothing before its ending. Give it a name.")
    if NAME.fullmatch(file_name) is None:
        raise Invalid(
            f"Manifest {file_name!r} must end in .json, .yaml or .yml, or, to change a generated file, "
            "in .yaml.patch_name or .yml.patch_name."
        )


def form_of(file_name: str) -> Form:
    if PATCH.fullmatch(file_name):
        return Form.PATCH
    return Form.JSON if file_name.endswith(".json") else Form.YAML


def patch_target(file_name: str) -> str | None:
    """The file a patch changes, None for what is no patch."""
    found = PATCH.fullmatch(file_name)
    return found["target"] if found else None


def require_size(file_name: str, content: bytes) -> None:
    if not content.strip():
        raise Invalid(f"Manifest {file_name} is empty. Send the content to apply.")
    if len(content) > LARGEST:
        raise Invalid(f"Manifest {file_name} has {len(content)} bytes, and {LARGEST} are allowed. Split it.")


def require_documents(file_name: str, documents: Sequence[object]) -> None:
    """Check what was parsed: objects in a manifest, JSON patch operations in a patch."""
    if form_of(file_name) is Form.PATCH:
        require_patch(file_name, documents)
        return
    present = [document for document in documents if document is not None]
    if not present:
        raise Invalid(f"Manifest {file_name} holds no document. Send at least one object.")
    for index, document in enumerate(present):
        if not is_mapping(document):
            raise Invalid(f"Manifest {file_name}: document {index + 1} is not an object with kind and metadata.")
    objects = [mapping(document) for document in present]
    require_objects(file_name, objects)
    require_distinct([FileObjects(file_name, objects)])


def require_patch(file_name: str, documents: Sequence[object]) -> None:
    operations = documents[0] if len(documents) == 1 else None
    if not is_sequence(operations) or not sequence(operations):
        raise Invalid(f"Patch {file_name} must be one list of JSON patch operations.")
    for index, item in enumerate(sequence(operations)):
        operation = mapping(item)
        needed = PATCH_MEMBERS.get(str(operation.get("op")))
        if needed is None:
            known = ", ".join(sorted(PATCH_MEMBERS))
            raise Invalid(f"Patch {file_name}: operation {index + 1} has no known op. Use one of {known}.")
        missing = sorted(needed - operation.keys())
        if missing:
            raise Invalid(f"Patch {file_name}: operation {index + 1} lacks {' and '.join(missing)}.")
        for member in sorted(needed & {"path", "from"}):
            if not str(operation[member]).startswith("/"):
                raise Invalid(f"Patch {file_name}: operation {index + 1} needs a {member} that starts with a slash.")


def split_name(file_name: str, *, digest: str, position: int) -> str:
    """What one document of a multi-document file is called once it is written on its own."""
    stem, dot, ending = file_name.rpartition(".")
    return f"{stem}-{digest[:7]}-{position:02d}{dot}{ending}"
