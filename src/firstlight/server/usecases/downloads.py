"""Files of a cluster, by the name users and installers ask for; which state allows which file."""

from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.server.usecases import file_links
from firstlight.server.usecases.links import Link
from firstlight.server.usecases.manifests import known_cluster
from firstlight.server.usecases.object_names import (
    KUBECONFIG,
    KUBECONFIG_NO_INGRESS,
    manifest_object,
    object_name,
)
from firstlight.server.usecases.world import World

C = ClusterStatus
WITH_FILES: Final = frozenset(
    {
        C.INSTALLING,
        C.FINALIZING,
        C.INSTALLED,
        C.ERROR,
        C.ADDING_HOSTS,
        C.CANCELLED,
        C.INSTALLING_PENDING_USER_ACTION,
    }
)
FOLDERS: Final = ("manifests", "openshift")


class StoredFile(Struct, frozen=True, kw_only=True):
    key: str
    file_name: str
    """What it is called when saved."""
    size: int


def require_files(cluster: Cluster, file_name: str) -> None:
    allowed = WITH_FILES - {C.INSTALLING} if file_name == KUBECONFIG else WITH_FILES
    if cluster.status not in allowed:
        raise Conflict(
            f"Cluster {cluster.name} is {cluster.status}, and {file_name} can be had only once its installation has "
            "come further."
        )


async def stored(world: World, key: str, *, file_name: str) -> StoredFile:
    try:
        found = await world.blobs.head(key)
    except NotFound:
        raise Conflict(f"There is no file {file_name} yet. It appears in the course of the installation.") from None
    return StoredFile(key=key, file_name=file_name, size=found.size)


async def cluster_file(world: World, cluster_id: UUID, file_name: str) -> StoredFile:
    require_files(await known_cluster(world, cluster_id), file_name)
    return await stored(world, object_name(cluster_id, file_name), file_name=file_name)


async def credentials_file(world: World, cluster_id: UUID, file_name: str) -> StoredFile:
    """A kubeconfig without the ingress certificate is better than none."""
    require_files(await known_cluster(world, cluster_id), file_name)
    if file_name == KUBECONFIG:
        try:
            found = await world.blobs.head(object_name(cluster_id, KUBECONFIG))
            return StoredFile(key=found.key, file_name=KUBECONFIG, size=found.size)
        except NotFound:
            spare = await stored(world, object_name(cluster_id, KUBECONFIG_NO_INGRESS), file_name=KUBECONFIG_NO_INGRESS)
            return StoredFile(key=spare.key, file_name=KUBECONFIG, size=spare.size)
    return await stored(world, object_name(cluster_id, file_name), file_name=file_name)


async def presigned_credentials(world: World, cluster_id: UUID, file_name: str) -> Link:
    file = await credentials_file(world, cluster_id, file_name)
    wanted = file_links.credentials(cluster_id, file_name)
    return file_links.presign(world, wanted, object_name=file.key, file_name=file.file_name)


async def presigned_file(world: World, cluster_id: UUID, file_name: str) -> Link:
    file = await cluster_file(world, cluster_id, file_name)
    wanted = file_links.cluster_file(cluster_id, file_name)
    return file_links.presign(world, wanted, object_name=file.key, file_name=file.file_name)


async def presigned_manifest(world: World, cluster_id: UUID, additional_name: str) -> Link:
    """`additional_name` is folder/file, or a file of the folder `manifests`."""
    await known_cluster(world, cluster_id)
    folder, slash, file_name = additional_name.partition("/")
    folder, file_name = (folder, file_name) if slash else (FOLDERS[0], additional_name)
    if folder not in FOLDERS or not file_name or "/" in file_name:
        raise Invalid("Name the manifest in additional_name as manifests/name.yaml or openshift/name.yaml.")
    rows = await world.store.manifests(cluster_id)
    if not any((row.folder, row.file_name) == (folder, file_name) for row in rows):
        raise NotFound(f"The cluster has no manifest {folder}/{file_name}.")
    wanted = file_links.manifest(cluster_id, folder, file_name)
    return file_links.presign(
        world, wanted, object_name=manifest_object(cluster_id, folder, file_name), file_name=file_name
    )
