"""Users bring manifests that their cluster shall start with."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final
from uuid import UUID

from firstlight.core.commands import manifest_changes as rules
from firstlight.core.commands.manifest_changes import KnownManifest, ManifestName
from firstlight.core.decision import Decision
from firstlight.core.errors import NotFound
from firstlight.core.install.documents import mapping
from firstlight.core.install.manifest_objects import FileObjects, require_distinct
from firstlight.core.install.manifests import Folder, patch_target, require_documents
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.server.ports.rows import ManifestRow
from firstlight.server.ports.writes import DeleteManifest, PutManifest, Write
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import change_cluster
from firstlight.server.usecases.generated_files import USER
from firstlight.server.usecases.object_names import manifest_object
from firstlight.server.usecases.world import World
from firstlight.server.usecases.yaml_documents import parse_manifest

COMPARED_UP_TO: Final = 2 * 1024 * 1024
"""Bytes of all manifests, that a new one is compared with."""


async def known_cluster(world: World, cluster_id: UUID) -> Cluster:
    cluster = await world.store.cluster(cluster_id)
    if cluster is None:
        raise NotFound(f"There is no cluster {cluster_id}.")
    return cluster


async def list_manifests(world: World, cluster_id: UUID, *, with_system: bool) -> list[ManifestRow]:
    await known_cluster(world, cluster_id)
    rows = await world.store.manifests(cluster_id)
    return [row for row in rows if with_system or row.source == USER]


async def create_manifest(world: World, cluster_id: UUID, name: ManifestName, *, content: str, caller: Caller) -> None:
    """Store a manifest; one of the same name is replaced."""
    rules.require_editable(await known_cluster(world, cluster_id))
    rules.require_new_name(name, await _known(world, cluster_id))
    data = rules.decoded_content(name.file_name, content)
    await _require_sound(world, cluster_id, name, data)
    await world.blobs.put(manifest_object(cluster_id, name.folder, name.file_name), data)
    await _commit(world, cluster_id, before=None, after=name, size=len(data), any_left=True, caller=caller)


async def update_manifest(
    world: World,
    cluster_id: UUID,
    name: ManifestName,
    *,
    folder: Folder | None,
    file_name: str | None,
    content: str | None,
    caller: Caller,
) -> ManifestName:
    """Rename, move, or give new content; what is not given stays. Answers with the new name."""
    rules.require_editable(await known_cluster(world, cluster_id))
    known = await _known(world, cluster_id)
    rules.require_target(name, known)
    after = ManifestName(folder or name.folder, file_name or name.file_name)
    rules.require_new_name(after, known, besides=name)
    if after != name:
        rules.require_free(after, known)
    elif content is None:
        return name
    old = manifest_object(cluster_id, name.folder, name.file_name)
    data = await world.blobs.get(old) if content is None else rules.decoded_content(after.file_name, content)
    await _require_sound(world, cluster_id, after, data, besides=name)
    await world.blobs.put(manifest_object(cluster_id, after.folder, after.file_name), data)
    await _commit(world, cluster_id, before=name, after=after, size=len(data), any_left=True, caller=caller)
    if after != name:
        await world.blobs.delete(old)
    return after


async def delete_manifest(world: World, cluster_id: UUID, name: ManifestName, *, caller: Caller) -> None:
    """Deleting what is not there is no error."""
    rules.require_editable(await known_cluster(world, cluster_id))
    known = await _known(world, cluster_id)
    if all(one.name != name for one in known):
        return
    rules.require_target(name, known)
    left = any(one.is_users and one.name != name for one in known)
    await _commit(world, cluster_id, before=name, after=None, size=0, any_left=left, caller=caller)
    await world.blobs.delete(manifest_object(cluster_id, name.folder, name.file_name))


async def manifest_content(world: World, cluster_id: UUID, name: ManifestName) -> bytes:
    await known_cluster(world, cluster_id)
    rows = await world.store.manifests(cluster_id)
    if not any((row.folder, row.file_name) == (name.folder, name.file_name) for row in rows):
        raise NotFound(f"The cluster has no manifest {name}.")
    return await world.blobs.get(manifest_object(cluster_id, name.folder, name.file_name))


async def _known(world: World, cluster_id: UUID) -> list[KnownManifest]:
    rows = await world.store.manifests(cluster_id)
    return [KnownManifest(ManifestName(Folder(row.folder), row.file_name), row.source == USER) for row in rows]


async def _require_sound(
    world: World, cluster_id: UUID, name: ManifestName, data: bytes, *, besides: ManifestName | None = None
) -> None:
    """Refuse content that is not what its name says, or holds what another manifest has. `besides` is being renamed."""
    others = await _others(world, cluster_id, {name, besides})

    def check() -> None:
        documents = parse_manifest(name.file_name, data)
        require_documents(name.file_name, documents)
        require_distinct([_given(name, data, documents)], known=[_given(*other) for other in others])

    # A few lines of aliases can stand for as much as a large document, which would hold the loop.
    await asyncio.to_thread(check)


async def _others(
    world: World, cluster_id: UUID, without: Collection[ManifestName | None]
) -> list[tuple[ManifestName, bytes]]:
    """The user's other manifests, as long as reading them takes no time; the preparation looks at all in any case."""
    rows = [row for row in await world.store.manifests(cluster_id) if row.source == USER]
    names = [name for row in rows if (name := ManifestName(Folder(row.folder), row.file_name)) not in without]
    if sum(row.size for row in rows) > COMPARED_UP_TO:
        return []
    found: list[tuple[ManifestName, bytes]] = []
    for name in names:
        # One that was deleted just now stands in nobody's way.
        with suppress(NotFound):
            found.append((name, await world.blobs.get(manifest_object(cluster_id, name.folder, name.file_name))))
    return found


def _given(name: ManifestName, content: bytes, documents: list[object] | None = None) -> FileObjects:
    if patch_target(name.file_name) is not None:
        return FileObjects(str(name), ())
    found = parse_manifest(name.file_name, content) if documents is None else documents
    return FileObjects(str(name), [mapping(document) for document in found if document is not None])


async def _commit(
    world: World,
    cluster_id: UUID,
    *,
    before: ManifestName | None,
    after: ManifestName | None,
    size: int,
    any_left: bool,
    caller: Caller,
) -> None:
    def command(state: ClusterState, now: datetime) -> Decision:
        return rules.note_change(state, before=before, after=after, any_left=any_left, now=now)

    def also(_: ClusterState, now: datetime) -> Iterator[Write]:
        if before is not None and before != after:
            yield DeleteManifest(cluster_id=cluster_id, folder=before.folder, file_name=before.file_name)
        if after is not None:
            yield PutManifest(
                cluster_id=cluster_id,
                folder=after.folder,
                file_name=after.file_name,
                source=USER,
                size=size,
                at=now,
            )

    await change_cluster(world, cluster_id, command, caller=caller, also=also)
