"""Manifests that users bring."""

from typing import Final

from msgspec import Struct

from firstlight.core import wire
from firstlight.core.commands.manifest_changes import ManifestName
from firstlight.core.install.manifests import Folder
from firstlight.core.wire.words import ManifestFolder
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Download, Empty
from firstlight.server.usecases import file_links, manifests
from firstlight.server.usecases.generated_files import USER
from firstlight.server.usecases.world import World

MANIFESTS: Final = "/v2/clusters/{cluster_id:uuid}/manifests"
ERRORS: Final = (400, 401, 403, 404, 405, 409, 500)


class ListQuery(Struct, frozen=True, kw_only=True):
    include_system_generated: bool = False


class NameQuery(Struct, frozen=True, kw_only=True):
    file_name: str
    folder: ManifestFolder = "manifests"


class DownloadQuery(NameQuery, frozen=True, kw_only=True):
    expires: int | None = None
    signature: str = ""


@operation(
    "GET",
    MANIFESTS,
    id="V2ListClusterManifests",
    access=Access.READ,
    query=ListQuery,
    answer=tuple[wire.Manifest, ...],
    errors=ERRORS,
)
async def list_manifests(world: World, call: Call[None, ListQuery]) -> tuple[wire.Manifest, ...]:
    """The cluster's manifests."""
    rows = await manifests.list_manifests(
        world, call.uuid("cluster_id"), with_system=call.query.include_system_generated
    )
    return tuple(wire.Manifest(folder=row.folder, file_name=row.file_name, manifest_source=row.source) for row in rows)


@operation(
    "POST",
    MANIFESTS,
    id="V2CreateClusterManifest",
    body=wire.CreateManifestParams,
    body_name="CreateManifestParams",
    success=201,
    answer=wire.Manifest,
    errors=(*ERRORS, 422),
)
async def create_manifest(world: World, call: Call[wire.CreateManifestParams, NoQuery]) -> wire.Manifest:
    """Add a manifest, or replace the one of that name."""
    name = ManifestName(Folder(call.body.folder or Folder.MANIFESTS), call.body.file_name)
    await manifests.create_manifest(world, call.uuid("cluster_id"), name, content=call.body.content, caller=call.actor)
    return _shown(name)


async def _update(world: World, call: Call[wire.UpdateManifestParams, NoQuery]) -> wire.Manifest:
    """Rename or move a manifest, or give it new content."""
    sent = call.body
    name = await manifests.update_manifest(
        world,
        call.uuid("cluster_id"),
        ManifestName(Folder(sent.folder), sent.file_name),
        folder=None if sent.updated_folder is None else Folder(sent.updated_folder),
        file_name=sent.updated_file_name,
        content=sent.updated_content,
        caller=call.actor,
    )
    return _shown(name)


update_manifest = operation(
    "PATCH",
    MANIFESTS,
    id="V2UpdateClusterManifest",
    body=wire.UpdateManifestParams,
    body_name="UpdateManifestParams",
    answer=wire.Manifest,
    errors=(*ERRORS, 422),
)(_update)
# The published API has only PATCH, but the Terraform provider sends PUT.
put_manifest = operation(
    "PUT",
    MANIFESTS,
    id="V2PutClusterManifest",
    body=wire.UpdateManifestParams,
    body_name="UpdateManifestParams",
    answer=wire.Manifest,
    errors=(*ERRORS, 422),
)(_update)


@operation("DELETE", MANIFESTS, id="V2DeleteClusterManifest", query=NameQuery, errors=ERRORS)
async def delete_manifest(world: World, call: Call[None, NameQuery]) -> Empty:
    """Remove a manifest."""
    name = ManifestName(Folder(call.query.folder), call.query.file_name)
    await manifests.delete_manifest(world, call.uuid("cluster_id"), name, caller=call.actor)
    return Empty()


@operation(
    "GET",
    MANIFESTS + "/files",
    id="v2DownloadClusterManifest",
    access=Access.READ | Access.LINK,
    query=DownloadQuery,
    answer=Download,
    errors=ERRORS,
)
async def download_manifest(world: World, call: Call[None, DownloadQuery]) -> Download:
    """The content of a manifest."""
    query, cluster_id = call.query, call.uuid("cluster_id")
    wanted = file_links.manifest(cluster_id, query.folder, query.file_name)
    file_links.require(world, wanted, expires=query.expires, signature=query.signature)
    name = ManifestName(Folder(query.folder), query.file_name)
    return Download(file_name=name.file_name, content=await manifests.manifest_content(world, cluster_id, name))


def _shown(name: ManifestName) -> wire.Manifest:
    return wire.Manifest(folder=name.folder, file_name=name.file_name, manifest_source=USER)
