"""The files machines boot with: Ignition config, boot script, static network, ramdisk."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from firstlight.core import wire
from firstlight.core.wire.dates import zulu
from firstlight.core.wire.words import ImageType
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Download, Empty
from firstlight.server.usecases import discovery_files
from firstlight.server.usecases.discovery_files import BootFile, WantedFile, files_path
from firstlight.server.usecases.links import Signed, require_good_link
from firstlight.server.usecases.world import World

DOWNLOADS: Final = "/v2/infra-envs/{infra_env_id:uuid}/downloads"
NOTHING_TO_ADD: Final = Empty(status=204)

ScriptType = Literal["discovery-image-always", "boot-order-control"]


class FileQuery(Struct, frozen=True, kw_only=True):
    file_name: Literal["discovery.ign", "ipxe-script", "static-network-config"]
    mac: Annotated[str, Meta(max_length=64)] = ""
    ipxe_script_type: ScriptType | None = None
    discovery_iso_type: ImageType | None = None
    expires: int | None = None
    """With `signature`: the request is a link made by the service."""
    signature: Annotated[str, Meta(max_length=128)] = ""


class LinkQuery(Struct, frozen=True, kw_only=True):
    file_name: Literal["discovery.ign", "ipxe-script"]
    ipxe_script_type: ScriptType | None = None


def _download(file: BootFile) -> Download:
    return Download(file_name=file.name, content=file.content, last_modified=file.infra_env.updated_at)


@operation(
    "GET",
    DOWNLOADS + "/files",
    id="v2DownloadInfraEnvFiles",
    access=Access.READ | Access.AGENT | Access.URL | Access.LINK | Access.IMAGE | Access.IMAGE_URL,
    query=FileQuery,
    answer=Download,
    errors=(400, 401, 403, 404, 405, 409, 500, 501, 503),
)
async def download_files(world: World, call: Call[None, FileQuery]) -> Download:
    """One of the files machines boot with."""
    query, infra_env_id = call.query, call.uuid("infra_env_id")
    wanted = WantedFile(
        name=query.file_name,
        mac=query.mac,
        script_type=query.ipxe_script_type or "",
        image_type=query.discovery_iso_type or "",
    )
    if query.signature or query.expires is not None:
        signed = Signed(expires=query.expires or 0, signature=query.signature)
        require_good_link(world, files_path(infra_env_id), wanted.signed_query, signed)
    return _download(await discovery_files.boot_file(world, infra_env_id, wanted))


@operation(
    "GET",
    DOWNLOADS + "/files-presigned",
    id="GetInfraEnvPresignedFileURL",
    query=LinkQuery,
    answer=wire.PresignedUrl,
    errors=(400, 401, 403, 404, 405, 500, 501, 503),
)
async def get_file_link(world: World, call: Call[None, LinkQuery]) -> wire.PresignedUrl:
    """A link to one of these files that needs no credential."""
    wanted = WantedFile(name=call.query.file_name, script_type=call.query.ipxe_script_type or "")
    link = await discovery_files.make_file_link(world, call.uuid("infra_env_id"), wanted)
    return wire.PresignedUrl(url=link.url, expires_at=zulu(link.expires_at))


@operation(
    "GET",
    DOWNLOADS + "/minimal-initrd",
    id="DownloadMinimalInitrd",
    access=Access.READ | Access.URL | Access.IMAGE,
    answer=Download,
    errors=(204, 401, 403, 404, 405, 409, 500),
)
async def download_minimal_initrd(world: World, call: Call[None, NoQuery]) -> Download | Empty:
    """Static network and proxy for machines that boot a minimal image."""
    file = await discovery_files.minimal_initrd(world, call.uuid("infra_env_id"))
    return _download(file) if file.content else NOTHING_TO_ADD
