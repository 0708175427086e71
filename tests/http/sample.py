"""A small API with one operation per kind of body and answer."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct, field
from starlette.types import ASGIApp

from firstlight.core import errors, wire
from firstlight.server.http.app import build_app
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.errors import NOT_FOUND_WITHOUT_WORDS, NOT_VISIBLE
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Download, Empty, Encoded, Reply, Stream
from firstlight.server.http.upload import uploaded_file

BASE = "/api/assisted-install"
ID = UUID("f1a57e51-0000-4000-8000-000000000001")
CLUSTER = f"{BASE}/v2/clusters/{ID}"
MODIFIED = datetime(2026, 11, 15, 4, 5, 6, tzinfo=UTC)
UPLOAD_CAP = 4_096


class World:
    """Keeps what handlers were given."""

    def __init__(self) -> None:
        self.calls: list[Call[object, object]] = []
        self.uploaded = b""
        self.stream_ended = False


class WithHosts(Struct, frozen=True, kw_only=True):
    with_hosts: bool = False
    ams_subscription_ids: tuple[str, ...] = ()


class FileName(Struct, frozen=True, kw_only=True):
    file_name: Literal["kubeconfig", "odd", "stream", "broken", "late"]
    cluster_level: bool = field(default=False, name="cluster-level")


@operation(
    "POST",
    "/v2/clusters",
    id="v2RegisterCluster",
    body=wire.ClusterCreateParams,
    body_name="newClusterParams",
    success=201,
    answer=wire.ManagedDomain,
    errors=(409,),
)
async def register(world: World, call: Call[wire.ClusterCreateParams, NoQuery]) -> wire.ManagedDomain:
    """Register a cluster."""
    world.calls.append(call)  # pyright: ignore[reportArgumentType]
    return wire.ManagedDomain(domain=call.body.name)


@operation(
    "GET", "/v2/clusters", id="v2ListClusters", access=Access.READ, query=WithHosts, answer=tuple[str, ...], etag=True
)
async def list_clusters(world: World, call: Call[None, WithHosts]) -> Reply[tuple[str, ...]]:
    """List clusters."""
    words = ("cluster",) * (800 if call.query.with_hosts else 1)
    return Reply(words, {"Event-Count": str(len(words))})


@operation("POST", "/v2/clusters/{cluster_id:uuid}/actions/install", id="v2InstallCluster", success=202, answer=str)
async def install(world: World, call: Call[None, NoQuery]) -> str:
    """Start."""
    return str(call.uuid("cluster_id"))


@operation("DELETE", "/v2/clusters/{cluster_id:uuid}", id="v2DeregisterCluster", success=204)
async def deregister(world: World, call: Call[None, NoQuery]) -> None:
    """Forget a cluster."""


@operation("PUT", "/v2/clusters/{cluster_id:uuid}/ui-settings", id="V2UpdateClusterUISettings", body=str, answer=str)
async def ui_settings(world: World, call: Call[str, NoQuery]) -> str:
    """Keep opaque text."""
    return call.body


@operation("GET", "/v2/clusters/{cluster_id:uuid}/install-config", id="v2GetClusterInstallConfig", answer=str)
async def cached(world: World, call: Call[None, NoQuery]) -> Encoded:
    """Answer from a cache."""
    return Encoded(b'"cached"')


FAILURES = {
    "missing": errors.NotFound("Cluster x does not exist."),
    "busy": errors.Conflict("Cluster x is installing."),
    "wrong": errors.Invalid("The VIP is not in any machine network."),
    "file": errors.Unprocessable("The file name has a space."),
    "big": errors.TooLarge("The manifest is too large."),
    "later": errors.Unavailable("The image service is not reachable yet."),
    "nobody": errors.Unauthenticated("unauthenticated for invalid credentials"),
    "refused": errors.Forbidden("The role read-only-admin may not do this."),
    "hidden": errors.NotFound("Object Not Found", code=NOT_VISIBLE),
    "bug": RuntimeError("secret-of-the-house"),
}


@operation("GET", "/v2/supported-operators/{operator_name}", id="V2ListOperatorProperties", answer=tuple[str, ...])
async def fail(world: World, call: Call[None, NoQuery]) -> Empty:
    """Fail as asked."""
    if failure := FAILURES.get(call.text("operator_name")):
        raise failure
    return NOT_FOUND_WITHOUT_WORDS


async def _pieces(world: World, *, kind: str) -> AsyncIterator[bytes]:
    if kind == "broken":
        raise errors.Conflict("The file is not there yet.")
    yield b"first "
    if kind == "late":
        raise RuntimeError("too late to say so")
    yield b"second"


@operation(
    "GET",
    "/v2/clusters/{cluster_id:uuid}/downloads/files",
    id="V2DownloadClusterFiles",
    query=FileName,
    answer=Download,
)
async def download(world: World, call: Call[None, FileName]) -> Download:
    """Send a file."""
    kind = call.query.file_name
    if kind == "kubeconfig":
        return Download(file_name=kind, content=b"apiVersion: v1", last_modified=MODIFIED)
    if kind == "odd":
        return Download(file_name='a"\r\n/ü.txt', content=b"x")
    return Download(file_name="logs.tar", content=_pieces(world, kind=kind), length=12 if kind == "stream" else None)


@operation(
    "POST",
    "/v2/clusters/{cluster_id:uuid}/logs",
    id="V2UploadLogs",
    access=Access.AGENT,
    body_cap=UPLOAD_CAP,
    upload="upfile",
    success=204,
)
async def upload(world: World, call: Call[None, NoQuery]) -> None:
    """Take a file."""
    world.uploaded = b"".join([piece async for piece in uploaded_file(call, "upfile")])


async def _for_ever(world: World) -> AsyncIterator[bytes]:
    try:
        while True:
            yield b"data: tick\n\n"
    finally:
        world.stream_ended = True


@operation("GET", "/v1/events", id="streamEvents", access=Access.READ, answer=Stream)
async def stream(world: World, call: Call[None, NoQuery]) -> Stream:
    """Follow events."""
    return Stream(chunks=_for_ever(world))


OPERATIONS = (
    register, list_clusters, install, deregister, ui_settings, cached, fail, download, upload, stream,
)  # fmt: skip


def an_app(world: World | None = None, **options: object) -> ASGIApp:
    return build_app(world or World(), operations=OPERATIONS, **options)  # pyright: ignore[reportArgumentType]
