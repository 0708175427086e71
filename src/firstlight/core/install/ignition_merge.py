"""Merging two Ignition configs by Ignition's own rules: the override is the child, and wins where both speak.

Lists are merged entry by entry (path, name, source …): parent entries keep their places, new ones follow.
"""

from typing import TypeVar, cast

from firstlight.core.install import ignition
from firstlight.core.install.ignition_checks import NODES, REPEATABLE
from firstlight.core.install.ignition_models import Config, HttpHeader, Model, Storage

M = TypeVar("M", bound=Model)


def merge(parent: Config, child: Config) -> Config:
    """The two as one, in the child's version. Raises Invalid when the result is no valid config."""
    merged = merge_models(parent, child)
    limited = ignition.limit_to_version(merged, version=child.ignition.version)
    ignition.require_valid(limited)
    return limited


def merge_text(parent: Config, override: str) -> Config:
    """Merge an override as a user wrote it; the empty text changes nothing."""
    return merge(parent, ignition.parse(override)) if override.strip() else parent


def merge_models(parent: M, child: M) -> M:
    elsewhere = node_kinds(child) if isinstance(child, Storage) else {}
    values = {
        name: merge_field(name, getattr(parent, name), getattr(child, name), elsewhere)
        for name in parent.__struct_fields__
    }
    return type(parent)(**values)


def node_kinds(storage: Storage) -> dict[str, str]:
    """Where the child describes each path, so that its link can take the place of the parent's file."""
    return {node.path: kind for kind in NODES for node in getattr(storage, kind)}


def merge_field(name: str, parent: object, child: object, elsewhere: dict[str, str]) -> object:
    if isinstance(parent, tuple) and isinstance(child, tuple):
        parents, children = cast("tuple[object, ...]", parent), cast("tuple[object, ...]", child)
        if name in REPEATABLE:
            return (*parents, *children)
        if name in NODES:
            parents = tuple(item for item in parents if elsewhere.get(key_of(item), name) == name)
        return merge_lists(parents, children)
    if isinstance(parent, Model) and isinstance(child, Model):
        return merge_models(parent, child)
    return cast("object", parent) if child is None else child


def merge_lists(parents: tuple[object, ...], children: tuple[object, ...]) -> tuple[object, ...]:
    overriding = {key_of(item): item for item in children}
    known = {key_of(item) for item in parents}
    merged: list[object] = []
    for item in parents:
        other = overriding.get(key_of(item))
        if other is None:
            merged.append(item)
        elif isinstance(other, HttpHeader) and other.value is None:
            continue  # a header without a value removes the parent's
        elif isinstance(item, Model) and isinstance(other, Model):
            merged.append(merge_models(item, other))
        else:
            merged.append(other)
    merged.extend(item for item in children if key_of(item) not in known)
    return tuple(merged)


def key_of(item: object) -> str:
    return item.key if isinstance(item, Model) else str(item)
