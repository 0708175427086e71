"""Which manifests a cluster has; their contents are blobs."""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from firstlight.server.ports.database import Database, Sql, Statement
from firstlight.server.ports.rows import ManifestRow
from firstlight.server.ports.writes import DeleteManifest, PutManifest
from firstlight.server.store.documents import micros

PUT: Final = Sql(
    "INSERT INTO manifests (cluster_id, folder, file_name, source, size, created_at, updated_at)"
    " VALUES (:cluster_id, :folder, :file_name, :source, :size, :at, :at)"
    " ON CONFLICT (cluster_id, folder, file_name) DO UPDATE SET source = excluded.source, size = excluded.size,"
    " updated_at = excluded.updated_at"
)
DELETE: Final = Sql(
    "DELETE FROM manifests WHERE cluster_id = :cluster_id AND folder = :folder AND file_name = :file_name"
)
LIST: Final = Sql(
    "SELECT folder, file_name, source, size FROM manifests WHERE cluster_id = :cluster_id ORDER BY folder, file_name"
)


def put(write: PutManifest) -> Iterator[Statement]:
    params = {
        "cluster_id": str(write.cluster_id),
        "folder": write.folder,
        "file_name": write.file_name,
        "source": write.source,
        "size": write.size,
        "at": micros(write.at),
    }
    yield Statement(PUT, params)


def delete(write: DeleteManifest) -> Iterator[Statement]:
    params = {"cluster_id": str(write.cluster_id), "folder": write.folder, "file_name": write.file_name}
    yield Statement(DELETE, params)


async def manifests(database: Database, cluster_id: UUID) -> Sequence[ManifestRow]:
    rows = await database.fetch(LIST, cluster_id=str(cluster_id))
    return [
        ManifestRow(folder=row["folder"], file_name=row["file_name"], source=row["source"], size=row["size"])
        for row in rows
    ]
