"""Files of a cluster, and links to them."""

from typing import Final, Literal
from uuid import UUID

from msgspec import Struct

from firstlight.core import wire
from firstlight.core.errors import Invalid
from firstlight.server.http.call import Call
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Download
from firstlight.server.usecases import downloads, file_links, logs
from firstlight.server.usecases.downloads import StoredFile
from firstlight.server.usecases.links import Link
from firstlight.server.usecases.world import World

DOWNLOADS: Final = "/v2/clusters/{cluster_id:uuid}/downloads"


class FileQuery(Struct, frozen=True, kw_only=True):
    file_name: Literal[
        "bootstrap.ign",
        "master.ign",
        "metadata.json",
        "worker.ign",
        "install-config.yaml",
        "custom_manifests.json",
        "custom_manifests.yaml",
        "arbiter.ign",
    ]
    expires: int | None = None
    signature: str = ""


class FileLinkQuery(Struct, frozen=True, kw_only=True):
    file_name: Literal[
        "bootstrap.ign",
        "master.ign",
        "metadata.json",
        "worker.ign",
        "arbiter.ign",
        "install-config.yaml",
        "custom_manifests.json",
        "logs",
        "manifests",
    ]
    logs_type: Literal["host", "controller", "all"] | None = None
    host_id: UUID | None = None
    additional_name: str = ""


@operation(
    "GET",
    DOWNLOADS + "/files",
    id="V2DownloadClusterFiles",
    access=Access.READ | Access.AGENT | Access.URL | Access.LINK,
    query=FileQuery,
    answer=Download,
    errors=(401, 403, 404, 405, 409, 500, 503),
    headers=("discovery_agent_version",),
)
async def download_file(world: World, call: Call[None, FileQuery]) -> Download:
    """One of the files the installation is made from."""
    cluster_id, query = call.uuid("cluster_id"), call.query
    wanted = file_links.cluster_file(cluster_id, query.file_name)
    file_links.require(world, wanted, expires=query.expires, signature=query.signature)
    return sent(world, await downloads.cluster_file(world, cluster_id, query.file_name))


@operation(
    "GET",
    DOWNLOADS + "/files-presigned",
    id="V2GetPresignedForClusterFiles",
    access=Access.READ,
    query=FileLinkQuery,
    answer=wire.PresignedUrl,
    errors=(400, 401, 403, 404, 405, 409, 500),
)
async def presign_file(world: World, call: Call[None, FileLinkQuery]) -> wire.PresignedUrl:
    """A link to a file that needs no further credential."""
    cluster_id, query = call.uuid("cluster_id"), call.query
    if query.file_name == "logs":
        return shown(await logs.presigned(world, cluster_id, logs_type=query.logs_type or "", host_id=query.host_id))
    if query.file_name == "manifests":
        if not query.additional_name:
            raise Invalid("A link to a manifest needs to say which. Add additional_name=folder/name to the request.")
        return shown(await downloads.presigned_manifest(world, cluster_id, query.additional_name))
    return shown(await downloads.presigned_file(world, cluster_id, query.file_name))


def sent(world: World, file: StoredFile) -> Download:
    return Download(file_name=file.file_name, content=world.blobs.stream(file.key), length=file.size)


def shown(link: Link) -> wire.PresignedUrl:
    return wire.PresignedUrl(url=link.url, expires_at=wire.zulu(link.expires_at))
