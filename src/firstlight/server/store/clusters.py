"""Rows of clusters. Every write is guarded by the revision it was decided on, and raises it."""

from collections.abc import Iterator, Mapping
from typing import Final
from uuid import UUID

from firstlight.core.model.cluster import Cluster
from firstlight.server.ports.database import Param, Sql, Statement
from firstlight.server.ports.rows import ClusterQuery
from firstlight.server.ports.subjects import cluster_subject as subject_of
from firstlight.server.ports.writes import DeleteCluster, PurgeCluster, PutCluster, TouchCluster
from firstlight.server.store import hosts
from firstlight.server.store.documents import ENCODER, micros, plain, text_or_none

# A new row's revision comes from the clock: a row made again under an old id never repeats a revision.
ADD: Final = Sql(
    "INSERT INTO clusters (id, revision, name, kind, status, owner, org_id, openshift_cluster_id, ams_subscription_id,"
    " created_at, updated_at, doc) VALUES (:id, now_us(), :name, :kind, :status, :owner, :org_id,"
    " :openshift_cluster_id, :ams_subscription_id, :created_at, :updated_at, :doc)"
)
CHANGE: Final = Sql(
    "UPDATE clusters SET revision = revision + 1, name = :name, kind = :kind, status = :status, owner = :owner,"
    " org_id = :org_id, openshift_cluster_id = :openshift_cluster_id, ams_subscription_id = :ams_subscription_id,"
    " created_at = :created_at, updated_at = :updated_at, doc = :doc"
    " WHERE id = :id AND revision = :expected AND deleted_at IS NULL"
)
TOUCH: Final = Sql(
    "UPDATE clusters SET revision = revision + 1 WHERE id = :id AND revision = :expected AND deleted_at IS NULL"
)
TOUCH_BESIDE: Final = Sql(
    "UPDATE clusters SET revision = clusters.revision + 1 FROM infra_envs e"
    " WHERE clusters.id = :id AND clusters.revision = :expected AND clusters.deleted_at IS NULL"
    " AND e.id = :infra_env_id AND e.cluster_id = :id AND e.updated_at = :as_of AND e.deleted_at IS NULL",
    postgres_many=(
        "UPDATE clusters SET revision = clusters.revision + 1"
        " FROM unnest(:id::text[], :expected::bigint[], :infra_env_id::text[], :as_of::bigint[])"
        " AS batch (id, expected, infra_env_id, as_of) JOIN infra_envs e ON e.id = batch.infra_env_id"
        " WHERE clusters.id = batch.id AND clusters.revision = batch.expected AND clusters.deleted_at IS NULL"
        " AND e.cluster_id = batch.id AND e.updated_at = batch.as_of AND e.deleted_at IS NULL"
    ),
)
"""Nobody is taken into a cluster by way of an infra-env that has left it or was changed meanwhile."""
DELETE: Final = Sql(
    "UPDATE clusters SET revision = revision + 1, deleted_at = :at"
    " WHERE id = :id AND revision = :expected AND deleted_at IS NULL"
)

ONE: Final = Sql(
    "SELECT c.id, c.revision, c.deleted_at, f.digest AS findings FROM clusters c"
    " LEFT JOIN findings f ON f.subject = 'cluster:' || c.id WHERE c.id = :id"
)
WITH_HOSTS_TEXT: Final = (
    "SELECT c.revision AS cluster_revision, c.deleted_at, cf.digest AS cluster_findings, e.revision AS around_revision,"
    " (SELECT {joined} FROM infra_envs own WHERE own.cluster_id = :id AND own.deleted_at IS NULL) AS own_infra_envs,"
    " {parts} FROM clusters c LEFT JOIN findings cf ON cf.subject = 'cluster:' || c.id"
    " LEFT JOIN hosts h ON h.cluster_id = c.id AND h.deleted_at IS NULL"
    " LEFT JOIN infra_envs e ON e.id = h.infra_env_id{details} WHERE c.id = :id"
)
WITH_HOSTS: Final = Sql(
    postgres=WITH_HOSTS_TEXT.format(
        joined="string_agg(own.id || ' ' || own.revision, chr(10))",
        parts=hosts.PARTS.format(stamps=hosts.STAMPS_POSTGRES),
        details=hosts.DETAILS,
    ),
    sqlite=WITH_HOSTS_TEXT.format(
        joined="group_concat(own.id || ' ' || own.revision, char(10))",
        parts=hosts.PARTS.format(stamps=hosts.STAMPS_SQLITE),
        details=hosts.DETAILS,
    ),
)
"""A cluster with one row per host, or one without a host (its id is NULL): all versions as of one moment."""
LIST: Final = Sql(
    "SELECT c.id, c.revision, c.deleted_at, f.digest AS findings FROM clusters c"
    " LEFT JOIN findings f ON f.subject = 'cluster:' || c.id"
    " WHERE (CAST(:with_deleted AS BIGINT) = 1 OR c.deleted_at IS NULL)"
    " AND (CAST(:owner AS TEXT) IS NULL OR c.owner = :owner)"
    " AND (CAST(:openshift_cluster_id AS TEXT) IS NULL OR c.openshift_cluster_id = :openshift_cluster_id)"
    " AND (CAST(:any_subscription AS BIGINT) = 1 OR c.ams_subscription_id = ANY(:subscriptions))"
    " ORDER BY c.created_at DESC, c.id DESC"
)
DOCUMENTS: Final = Sql("SELECT id, revision AS version, doc FROM clusters WHERE id = ANY(:ids)")

DELETED_BEFORE: Final = Sql("SELECT id FROM clusters WHERE deleted_at < :moment ORDER BY deleted_at, id")
INACTIVE_BEFORE: Final = Sql(
    "SELECT c.id, c.revision FROM clusters c WHERE c.deleted_at IS NULL AND c.updated_at < :moment"
    " AND NOT EXISTS (SELECT 1 FROM hosts h JOIN presence p ON p.infra_env_id = h.infra_env_id AND p.host_id = h.id"
    " WHERE h.cluster_id = c.id AND h.deleted_at IS NULL AND p.checked_in_at >= :moment)"
    " ORDER BY c.updated_at, c.id LIMIT :limit"
)

PURGE_HOST_ROWS: Final = (
    "DELETE FROM {table} WHERE EXISTS (SELECT 1 FROM hosts h WHERE h.cluster_id = :id"
    " AND h.infra_env_id = {table}.infra_env_id AND h.id = {table}.host_id)"
)
PURGE_SUBJECTS: Final = (
    "DELETE FROM {table} WHERE subject = :subject OR subject IN"
    " (SELECT 'host:' || h.infra_env_id || '/' || h.id FROM hosts h WHERE h.cluster_id = :id)"
)
PURGE: Final = (
    *(Sql(PURGE_HOST_ROWS.format(table=table)) for table in ("presence", "reports", "plans")),
    *(Sql(PURGE_SUBJECTS.format(table=table)) for table in ("findings", "due", "operations", "secrets")),
    Sql("DELETE FROM manifests WHERE cluster_id = :id"),
    Sql("DELETE FROM hosts WHERE cluster_id = :id"),
    Sql("DELETE FROM events WHERE cluster_id = :id"),
    Sql("DELETE FROM clusters WHERE id = :id"),
)
"""Hosts after what hangs on them, and the cluster last."""


def columns(cluster: Cluster) -> dict[str, Param]:
    return {
        "id": str(cluster.id),
        "name": plain(cluster.name),
        "kind": cluster.kind.value,
        "status": cluster.status.value,
        "owner": plain(cluster.user_name),
        "org_id": plain(cluster.org_id),
        "openshift_cluster_id": text_or_none(cluster.openshift_cluster_id),
        "ams_subscription_id": plain(cluster.ams_subscription_id),
        "created_at": micros(cluster.created_at),
        "updated_at": micros(cluster.updated_at),
        "doc": ENCODER.encode(cluster),
    }


def put(write: PutCluster) -> Iterator[Statement]:
    if write.expect_revision is None:
        yield Statement(ADD, columns(write.cluster), expect_rows=1)
    else:
        yield Statement(CHANGE, columns(write.cluster) | {"expected": write.expect_revision}, expect_rows=1)


def touch(write: TouchCluster) -> Iterator[Statement]:
    params: dict[str, Param] = {"id": str(write.cluster_id), "expected": write.expect_revision}
    beside = write.beside
    if beside is None:
        yield Statement(TOUCH, params, expect_rows=1)
    else:
        around = {"infra_env_id": str(beside.id), "as_of": micros(beside.updated_at)}
        yield Statement(TOUCH_BESIDE, params | around, expect_rows=1)


def delete(write: DeleteCluster) -> Iterator[Statement]:
    params = {"id": str(write.cluster_id), "expected": write.expect_revision, "at": micros(write.at)}
    yield Statement(DELETE, params, expect_rows=1)


def purge(write: PurgeCluster) -> Iterator[Statement]:
    params = {"id": str(write.cluster_id), "subject": subject_of(write.cluster_id)}
    for sql in PURGE:
        yield Statement(sql, {name: params[name] for name in sql.names})


def list_params(query: ClusterQuery) -> Mapping[str, Param]:
    return {
        "with_deleted": int(query.with_deleted),
        "owner": query.owner,
        "openshift_cluster_id": text_or_none(query.openshift_cluster_id),
        "any_subscription": int(not query.ams_subscription_ids),
        "subscriptions": list(query.ams_subscription_ids),
    }


def identity(cluster_id: UUID) -> tuple[str]:
    return (str(cluster_id),)
