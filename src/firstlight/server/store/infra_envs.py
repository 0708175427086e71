"""Rows of infra-envs, guarded like clusters by their revision."""

from collections.abc import Iterator
from typing import Final

from firstlight.core.model.infra_env import InfraEnv
from firstlight.server.ports.database import Param, Sql, Statement
from firstlight.server.ports.subjects import infra_env_subject
from firstlight.server.ports.writes import DeleteInfraEnv, PurgeInfraEnv, PutInfraEnv
from firstlight.server.store.documents import ENCODER, fresh_revision, micros, plain, text_or_none

# A deleted one makes room for a new one of the same id: some callers choose the id themselves.
ADD: Final = Sql(
    "INSERT INTO infra_envs (id, revision, cluster_id, name, owner, org_id, created_at, updated_at, doc)"
    " VALUES (:id, :revision, :cluster_id, :name, :owner, :org_id, :created_at, :updated_at, :doc)"
    " ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, cluster_id = excluded.cluster_id,"
    " name = excluded.name, owner = excluded.owner, org_id = excluded.org_id, created_at = excluded.created_at,"
    " updated_at = excluded.updated_at, deleted_at = NULL, doc = excluded.doc WHERE infra_envs.deleted_at IS NOT NULL"
)
CHANGE: Final = Sql(
    "UPDATE infra_envs SET revision = :revision, cluster_id = :cluster_id, name = :name, owner = :owner,"
    " org_id = :org_id, created_at = :created_at, updated_at = :updated_at, doc = :doc"
    " WHERE id = :id AND revision = :expected AND deleted_at IS NULL"
)
DELETE: Final = Sql(
    "UPDATE infra_envs SET revision = revision + 1, deleted_at = :at WHERE id = :id AND deleted_at IS NULL"
)
DROP_SECRETS: Final = Sql("DELETE FROM secrets WHERE subject = :subject")

ONE: Final = Sql("SELECT id, revision, deleted_at FROM infra_envs WHERE id = :id")
OF_CLUSTERS: Final = Sql(
    "SELECT id, revision, cluster_id AS wanted_by FROM infra_envs"
    " WHERE cluster_id = ANY(:cluster_ids) AND deleted_at IS NULL"
    " UNION SELECT e.id, e.revision, h.cluster_id FROM hosts h JOIN infra_envs e ON e.id = h.infra_env_id"
    " WHERE h.cluster_id = ANY(:cluster_ids) AND h.deleted_at IS NULL"
)
LIST: Final = Sql(
    "SELECT id, revision FROM infra_envs WHERE deleted_at IS NULL"
    " AND (CAST(:cluster_id AS TEXT) IS NULL OR cluster_id = :cluster_id)"
    " AND (CAST(:owner AS TEXT) IS NULL OR owner = :owner) ORDER BY created_at, id"
)
DOCUMENTS: Final = Sql("SELECT id, revision AS version, doc FROM infra_envs WHERE id = ANY(:ids)")
INACTIVE_BEFORE: Final = Sql(
    "SELECT e.id, e.revision FROM infra_envs e WHERE e.deleted_at IS NULL AND e.updated_at < :moment"
    " AND NOT EXISTS (SELECT 1 FROM hosts h LEFT JOIN presence p"
    " ON p.infra_env_id = h.infra_env_id AND p.host_id = h.id"
    " WHERE h.infra_env_id = e.id AND h.deleted_at IS NULL"
    " AND (h.updated_at >= :moment OR p.checked_in_at >= :moment))"
    " ORDER BY e.updated_at, e.id LIMIT :limit"
)


DELETED_BEFORE: Final = Sql(
    "SELECT e.id FROM infra_envs e WHERE e.deleted_at < :moment"
    " AND NOT EXISTS (SELECT 1 FROM hosts h WHERE h.infra_env_id = e.id) ORDER BY e.deleted_at, e.id LIMIT :limit"
)
PURGE: Final = Sql("DELETE FROM infra_envs WHERE id = :id AND deleted_at IS NOT NULL")
PURGE_EVENTS: Final = Sql("DELETE FROM events WHERE infra_env_id = :id AND host_id IS NULL AND cluster_id IS NULL")


def columns(infra_env: InfraEnv, *, revision: int) -> dict[str, Param]:
    return {
        "id": str(infra_env.id),
        "revision": revision,
        "cluster_id": text_or_none(infra_env.cluster_id),
        "name": plain(infra_env.name),
        "owner": plain(infra_env.user_name),
        "org_id": plain(infra_env.org_id),
        "created_at": micros(infra_env.created_at),
        "updated_at": micros(infra_env.updated_at),
        "doc": ENCODER.encode(infra_env),
    }


def put(write: PutInfraEnv) -> Iterator[Statement]:
    expected = write.expect_revision
    if expected is None:
        yield Statement(ADD, columns(write.infra_env, revision=fresh_revision()), expect_rows=1)
    else:
        params = columns(write.infra_env, revision=expected + 1)
        yield Statement(CHANGE, params | {"expected": expected}, expect_rows=1)


def delete(write: DeleteInfraEnv) -> Iterator[Statement]:
    yield Statement(DELETE, {"id": str(write.infra_env_id), "at": micros(write.at)})
    yield Statement(DROP_SECRETS, {"subject": infra_env_subject(write.infra_env_id)})


def purge(write: PurgeInfraEnv) -> Iterator[Statement]:
    params = {"id": str(write.infra_env_id)}
    yield Statement(PURGE, params, expect_rows=1)
    yield Statement(PURGE_EVENTS, params)
