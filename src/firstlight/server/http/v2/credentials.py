"""How to log in to a new cluster."""

from typing import Final, Literal

from msgspec import Struct

from firstlight.core import wire
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Download, Empty
from firstlight.server.http.v2.downloads import DOWNLOADS, sent, shown
from firstlight.server.usecases import credentials, downloads, file_links
from firstlight.server.usecases.world import World

CLUSTER: Final = "/v2/clusters/{cluster_id:uuid}"


class LinkQuery(Struct, frozen=True, kw_only=True):
    file_name: Literal["kubeadmin-password", "kubeconfig", "kubeconfig-noingress"]


class FileQuery(LinkQuery, frozen=True, kw_only=True):
    expires: int | None = None
    signature: str = ""


@operation(
    "GET",
    CLUSTER + "/credentials",
    id="V2GetCredentials",
    access=Access.OWNER,
    answer=wire.Credentials,
    errors=(401, 403, 404, 405, 409, 500),
)
async def get_credentials(world: World, call: Call[None, NoQuery]) -> wire.Credentials:
    """Name and password of the first user, and where the console is."""
    login = await credentials.login(world, call.uuid("cluster_id"))
    return wire.Credentials(username=login.user_name, password=login.password, console_url=login.console_url)


@operation(
    "GET",
    DOWNLOADS + "/credentials",
    id="V2DownloadClusterCredentials",
    access=Access.OWNER | Access.AGENT | Access.LINK,
    query=FileQuery,
    answer=Download,
    errors=(401, 403, 404, 405, 409, 500, 503),
)
async def download_credentials(world: World, call: Call[None, FileQuery]) -> Download:
    """The kubeconfig or the password."""
    cluster_id, query = call.uuid("cluster_id"), call.query
    wanted = file_links.credentials(cluster_id, query.file_name)
    file_links.require(world, wanted, expires=query.expires, signature=query.signature)
    return sent(world, await downloads.credentials_file(world, cluster_id, query.file_name))


@operation(
    "GET",
    DOWNLOADS + "/credentials-presigned",
    id="V2GetPresignedForClusterCredentials",
    access=Access.OWNER,
    query=LinkQuery,
    answer=wire.PresignedUrl,
    errors=(400, 401, 403, 404, 405, 409, 500),
)
async def presign_credentials(world: World, call: Call[None, LinkQuery]) -> wire.PresignedUrl:
    """A link to the kubeconfig or the password."""
    return shown(await downloads.presigned_credentials(world, call.uuid("cluster_id"), call.query.file_name))


@operation(
    "POST",
    CLUSTER + "/uploads/ingress-cert",
    id="v2UploadClusterIngressCert",
    access=Access.AGENT,
    body=str,
    body_name="ingressCertParams",
    success=201,
    errors=(400, 401, 403, 404, 405, 409, 500, 503),
    headers=("discovery_agent_version",),
)
async def upload_ingress_certificate(world: World, call: Call[str, NoQuery]) -> Empty:
    """The certificate of the cluster's ingress, for the kubeconfig."""
    await credentials.take_ingress_certificate(world, call.uuid("cluster_id"), call.body, caller=call.actor)
    return Empty()
