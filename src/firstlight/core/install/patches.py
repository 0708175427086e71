"""JSON patch (RFC 6902) on manifests. A list element may also be named by what it holds: `/items/name=web/port`."""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from firstlight.core.errors import Invalid
from firstlight.core.install.documents import Document, mapping

Path = tuple[str, ...]


def patched(document: object, operations: Sequence[object], *, name: str) -> object:
    """The document after all operations; `name` is the patch file's, for refusals."""
    result = copied(document)
    for number, item in enumerate(operations, start=1):
        operation = mapping(item)
        try:
            result = applied(result, operation)
        except LookupError as problem:
            raise Invalid(
                f"Patch {name}: operation {number} ({operation.get('op')} {operation.get('path')}) does not fit the "
                f"manifest: {problem.args[0]}."
            ) from problem
    return result


def applied(document: object, operation: Document) -> object:
    path = split(str(operation.get("path", "")))
    match operation.get("op"):
        case "test":
            if any(found(document, place) != operation.get("value") for place in places(document, path)):
                raise LookupError("the value there is another one")
            return document
        case "add":
            return at_each(document, path, lambda: copied(operation.get("value")), insert=True)
        case "replace":
            return at_each(document, path, lambda: copied(operation.get("value")))
        case "remove" if path:
            return at_each(document, path, lambda: GONE)
        case "copy":
            value = found(document, only(document, split(str(operation.get("from", "")))))
            return at_each(document, path, lambda: copied(value), insert=True)
        case "remove":
            raise LookupError("a whole manifest cannot be taken away")
        case _:
            source = split(str(operation.get("from", "")))
            if path[: len(source)] == source and path != source:
                raise LookupError("a value cannot be moved into itself")
            value = found(document, only(document, source))
            return at_each(at_each(document, source, lambda: GONE), path, lambda: value, insert=True)


GONE = object()
"""Stands for a value to be taken away."""
END = "-"


def split(pointer: str) -> Path:
    """The segments of a JSON pointer; the empty one means the whole document."""
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise LookupError("a path begins with a slash")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))


def places(document: object, path: Path) -> list[Path]:
    """Every place the path names, as plain keys and indices; at least one, else LookupError."""
    reached: list[tuple[Path, object]] = [((), document)]
    for part in path:
        reached = [((*place, key), value) for place, here in reached for key, value in children(here, part)]
        if not reached:
            raise LookupError(f"there is nothing called {part}")
    return [place for place, _ in reached]


def children(here: object, part: str) -> Iterator[tuple[str, object]]:
    if isinstance(here, dict):
        members = cast("Document", here)
        if part in members:
            yield part, members[part]
    elif isinstance(here, list):
        items = cast("list[object]", here)
        key, equals, value = part.partition("=")
        for index, item in enumerate(items):
            if str(index) == part or (equals and key in mapping(item) and str(mapping(item)[key]) == value):
                yield str(index), item


def only(document: object, path: Path) -> Path:
    return places(document, path)[0]


def found(document: object, place: Path) -> object:
    for part in place:
        document = dict(children(document, part))[part]
    return document


def at_each(document: object, path: Path, change: Callable[[], object], *, insert: bool = False) -> object:
    """The document with every place the path names changed; the last segment may be new when something is added."""
    if not path:
        return change()
    parents = places(document, path[:-1])
    if not insert:
        # From the end, so that taking one list element away does not move those still to be taken.
        for place in reversed(places(document, path)):
            put(found(document, place[:-1]), place[-1], change(), insert=False)
        return document
    for parent in parents:
        put(found(document, parent), path[-1], change(), insert=True)
    return document


def put(parent: object, part: str, value: object, *, insert: bool) -> None:
    if isinstance(parent, dict):
        members = cast("Document", parent)
        if value is GONE:
            del members[part]
        else:
            members[part] = value
        return
    if not isinstance(parent, list):
        raise LookupError(f"{part} would be inside a plain value")
    items = cast("list[object]", parent)
    index = position(items, part, insert=insert)
    if value is GONE:
        del items[index]
    elif insert:
        items.insert(index, value)
    else:
        items[index] = value


def position(items: list[object], part: str, *, insert: bool) -> int:
    if insert and part == END:
        return len(items)
    if "=" in part:
        return int(next(iter(children(items, part)), (str(len(items)), None))[0])
    if not (part.isascii() and part.isdecimal()) or int(part[:9]) >= len(items) + insert:
        raise LookupError(f"the list has no place {part}")
    return int(part)


def copied(value: object) -> object:
    """A copy that may be changed, mappings and lists all the way down."""
    if isinstance(value, dict):
        return {str(key): copied(item) for key, item in cast("Document", value).items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in cast("list[object]", value)]
    return value
