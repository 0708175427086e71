"""How much room the service takes, and how long it keeps what nobody uses."""

from msgspec import Struct

from firstlight.server.usecases.world import World


class StorageUsed(Struct, frozen=True, kw_only=True):
    database_bytes: int
    files: int
    files_bytes: int
    """Logs, manifests, generated files and credentials; base images of the image service do not count."""
    inactive_clusters_deleted_after_hours: float
    deleted_purged_after_hours: float


async def storage_used(world: World) -> StorageUsed:
    """Every file is looked at: for people who ask, not for machines that poll."""
    files = await world.blobs.list_under("")
    kept = world.policy.timeouts
    return StorageUsed(
        database_bytes=await world.store.database_bytes(),
        files=len(files),
        files_bytes=sum(file.size for file in files),
        inactive_clusters_deleted_after_hours=kept.inactive_cluster.total_seconds() / 3600,
        deleted_purged_after_hours=kept.purge_deleted.total_seconds() / 3600,
    )
