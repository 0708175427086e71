"""The room the service takes."""

from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.usecases import storage_used
from firstlight.server.usecases.storage_used import StorageUsed
from firstlight.server.usecases.world import World


@operation("GET", "/v1/storage", id="getStorageUsed", access=Access.READ, answer=StorageUsed)
async def get_storage_used(world: World, _call: Call[None, NoQuery]) -> StorageUsed:
    """Tell how many bytes database and files take, and when unused things go."""
    return await storage_used.storage_used(world)
