"""The manifests a cluster starts with: generated ones, the service's, the user's, and patches on all of them."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from firstlight.core.errors import Invalid
from firstlight.core.install.bootstrap import replaced
from firstlight.core.install.documents import Document, mapping, sequence, to_text
from firstlight.core.install.hardware_details import with_hardware
from firstlight.core.install.kube_objects import Manifest
from firstlight.core.install.manifests import Folder, patch_target
from firstlight.core.install.patches import patched

SEARCHED = (Folder.OPENSHIFT, Folder.MANIFESTS)
"""Where patches are taken from, and their targets looked for, in this order."""


class Patch(Manifest, frozen=True, kw_only=True):
    """A manifest that changes another one."""

    operations: tuple[object, ...]


def parsed(folder: str, name: str, content: str, documents: Sequence[object]) -> Manifest:
    """A stored file with what a parser found in it."""
    if patch_target(name) is None:
        objects = tuple(mapping(document) for document in documents if document is not None)
        return Manifest(folder=folder, name=name, content=content, documents=objects)
    operations = tuple(sequence(documents[0])) if documents else ()
    return Patch(folder=folder, name=name, content=content, operations=operations)


def added_manifests(
    generated: Sequence[Manifest],
    *,
    system: Iterable[Manifest],
    user: Iterable[Manifest],
    hardware: dict[str, Document],
) -> list[Manifest]:
    """What comes besides or instead of the generated manifests, in its final form.

    `hardware` is what is known of each host, by name. Raises Invalid when a patch has no target or does not fit it.
    """
    given = [*system, *(part for one in user for part in split(one))]
    plain = [one for one in given if not isinstance(one, Patch)]
    filled = [known for one in generated if (known := with_hardware(one, hardware)) is not one]
    plain = replaced(filled, plain)
    everything = {(one.folder, one.name): one for one in replaced(generated, plain)}
    added = {(one.folder, one.name): one for one in plain}
    for patch in in_order(one for one in given if isinstance(one, Patch)):
        target = target_of(patch, everything)
        key = (target.folder, target.name)
        everything[key] = added[key] = with_patch(target, patch)
    return list(added.values())


def split(manifest: Manifest) -> Iterator[Manifest]:
    """One file per object: readers in the cluster take the first object of a file only."""
    if isinstance(manifest, Patch) or len(manifest.documents) < 2:
        yield manifest
        return
    stem, dot, ending = manifest.name.rpartition(".")
    digest = hashlib.sha256(manifest.name.encode()).hexdigest()[:7]
    for number, document in enumerate(manifest.documents):
        name = f"{stem}-{digest}-{number:02}{dot}{ending}"
        yield Manifest(folder=manifest.folder, name=name, content=to_text(document), documents=(document,))


def in_order(patches: Iterable[Patch]) -> list[Patch]:
    return sorted(patches, key=lambda one: (SEARCHED.index(Folder(one.folder)), one.name))


def target_of(patch: Patch, manifests: dict[tuple[str, str], Manifest]) -> Manifest:
    name = patch_target(patch.name) or ""
    for folder in SEARCHED:
        if (folder, name) in manifests:
            return manifests[folder, name]
    raise Invalid(f"Patch {patch.name} changes {name}, which is not among the cluster's manifests. Rename the patch.")


def with_patch(target: Manifest, patch: Patch) -> Manifest:
    if len(target.documents) != 1:
        raise Invalid(f"Patch {patch.name} changes {target.name}, which does not hold exactly one object.")
    document: Document = mapping(patched(target.documents[0], patch.operations, name=patch.name))
    return replace(target, content=to_text(document), documents=(document,))
