"""Links to the files of a cluster: to the store itself where it can make one, else to our own downloads."""

from collections.abc import Mapping
from uuid import UUID

from msgspec import Struct

from firstlight.server.usecases.links import FOR_FILES, Link, Signed, make_link, require_good_link
from firstlight.server.usecases.world import World


class Resource(Struct, frozen=True):
    """What a link is for: exactly this path with exactly this query."""

    path: str
    query: Mapping[str, str]


def credentials(cluster_id: UUID, file_name: str) -> Resource:
    return Resource(f"/v2/clusters/{cluster_id}/downloads/credentials", {"file_name": file_name})


def cluster_file(cluster_id: UUID, file_name: str) -> Resource:
    return Resource(f"/v2/clusters/{cluster_id}/downloads/files", {"file_name": file_name})


def manifest(cluster_id: UUID, folder: str, file_name: str) -> Resource:
    return Resource(f"/v2/clusters/{cluster_id}/manifests/files", {"folder": folder, "file_name": file_name})


def logs(cluster_id: UUID, *, logs_type: str, host_id: UUID | None) -> Resource:
    query = {"logs_type": logs_type, "host_id": "" if host_id is None else str(host_id)}
    return Resource(f"/v2/clusters/{cluster_id}/logs", {name: value for name, value in query.items() if value})


def presign(world: World, resource: Resource, *, object_name: str, file_name: str) -> Link:
    """A link for ten minutes; `file_name` is what the file is called when saved."""
    direct = world.blobs.presign(object_name, expires=FOR_FILES, file_name=file_name)
    if direct is not None:
        return Link(url=direct, expires_at=world.clock.now() + FOR_FILES)
    return make_link(world, resource.path, resource.query, lifetime=FOR_FILES)


def require(world: World, resource: Resource, *, expires: int | None, signature: str) -> None:
    """Refuse a link that was altered or has ended; a request without one stands on its own credentials."""
    if expires is not None or signature:
        require_good_link(world, resource.path, resource.query, Signed(expires=expires or 0, signature=signature))
