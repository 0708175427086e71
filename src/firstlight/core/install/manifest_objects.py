"""Objects in manifests: what each must have to be one, which it is, and whether it was given twice."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.install.documents import Document, mapping, sequence
from firstlight.core.install.manifest_kinds import KINDS
from firstlight.core.install.shapes import LABELS, Check, anything, fields, filled_text, list_of, text

SHOWN: Final = 10
"""Problems that a refusal names."""
API_VERSION: Final = re.compile(r"(?:[a-zA-Z0-9.-]+/)?[a-zA-Z0-9]+")
KIND: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
NAMESPACE: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
LONGEST_NAME: Final = 253


class Identity(Struct, frozen=True):
    """Two objects of the same identity are one to the cluster, whatever version of the API they are written in."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def group_of(document: Document) -> str:
    group, slash, _ = str(document.get("apiVersion", "")).partition("/")
    return group if slash else ""


def objects_in(document: Document) -> Iterator[tuple[Document, str]]:
    """The object itself, or those of a list, each with its place."""
    if is_list(document):
        for index, item in enumerate(sequence(document.get("items"))):
            yield mapping(item), f"items[{index}]"
    else:
        yield document, ""


def is_list(document: Document) -> bool:
    return str(document.get("kind")).endswith("List") and "items" in document


def identity_of(document: Document) -> Identity | None:
    """None for what gets its name from the cluster."""
    metadata = mapping(document.get("metadata"))
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        return None
    namespace = metadata.get("namespace")
    return Identity(
        group_of(document), str(document.get("kind", "")), namespace if isinstance(namespace, str) else "", name
    )


# --- checks


def _fitting(pattern: re.Pattern[str], what: str) -> Check:
    def check(value: object, place: str) -> Iterator[str]:
        yield from text(value, place)
        if isinstance(value, str) and pattern.fullmatch(value) is None:
            yield f"{place} is {value[:80]!r}, which is no {what}"

    return check


def _name(value: object, place: str) -> Iterator[str]:
    yield from filled_text(value, place)
    if isinstance(value, str) and (len(value) > LONGEST_NAME or value in (".", "..") or re.search(r"[/%\s]", value)):
        yield f"{place} is {value[:80]!r}, which no object can be called"


HEAD: Final = fields(
    {"apiVersion": _fitting(API_VERSION, "version of an API, such as v1 or apps/v1"), "kind": _fitting(KIND, "kind")}
)
METADATA: Final = fields(
    optional={
        "name": _name,
        "generateName": filled_text,
        "namespace": _fitting(NAMESPACE, "name of a namespace"),
        "labels": LABELS,
        "annotations": LABELS,
        "finalizers": list_of(text),
    }
)


def object_problems(document: Document, place: str = "") -> Iterator[str]:
    """Everything for which the cluster, or the operator in charge, would refuse the object."""
    prefix = f"{place}." if place else ""
    yield from (prefix + problem for problem in HEAD(document, ""))
    metadata = document.get("metadata")
    if metadata is None:
        yield f"{prefix}metadata is missing"
    else:
        yield from (prefix + problem for problem in METADATA(metadata, "metadata"))
        members = mapping(metadata)
        if members.get("name") is None and members.get("generateName") is None:
            yield f"{prefix}metadata.name is missing"
    kind = KINDS.get((group_of(document), str(document.get("kind"))), anything)
    yield from (prefix + problem for problem in kind(document, ""))


def require_objects(file_name: str, documents: Sequence[Document]) -> None:
    """Raise Invalid that names every place, of the first few, which would make trouble later."""
    found: list[str] = []
    for number, document in enumerate(documents, start=1):
        which = f"document {number}: " if len(documents) > 1 else ""
        for one, place in objects_in(document):
            found += [f"{which}{problem}" for problem in object_problems(one, place)]
    if found:
        more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise Invalid(f"Manifest {file_name} cannot be used: {'; '.join(found[:SHOWN])}{more}.")


class FileObjects(Struct, frozen=True):
    """The objects of one file."""

    file_name: str
    documents: Sequence[Document]


def require_distinct(files: Sequence[FileObjects], *, known: Sequence[FileObjects] = ()) -> None:
    """Raise Invalid when an object is there twice: the installer would refuse them, or one would hide the other.

    Those that are `known` already are not compared among each other.
    """
    seen = {identity: file.file_name for file in known for identity in identities_in(file)}
    for file in files:
        for identity in identities_in(file):
            if identity in seen:
                raise Invalid(_twice(identity, seen[identity], file.file_name))
            seen[identity] = file.file_name


def identities_in(file: FileObjects) -> Iterator[Identity]:
    for document in file.documents:
        for one, _ in objects_in(document):
            identity = identity_of(one)
            if identity is not None:
                yield identity


def _twice(identity: Identity, first: str, second: str) -> str:
    if first == second:
        return f"Manifest {first} holds {identity} twice. Remove one of them, or give it another name."
    return f"{identity} is in manifest {first} and in {second}. Remove it from one of them, or give it another name."
