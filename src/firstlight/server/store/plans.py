"""The step plan of each host as last decided."""

from collections.abc import Iterator
from typing import Final

from firstlight.server.ports.database import Sql, Statement
from firstlight.server.ports.writes import PutPlan
from firstlight.server.store.documents import ENCODER, digest, key_params
from firstlight.server.store.inserting import insert

PUT: Final = insert(
    "plans",
    {"infra_env_id": "text", "host_id": "text", "digest": "text", "doc": "bytea"},
    then="ON CONFLICT (infra_env_id, host_id) DO UPDATE SET digest = excluded.digest, doc = excluded.doc",
)
VERSION: Final = Sql("SELECT digest FROM plans WHERE infra_env_id = :infra_env_id AND host_id = :host_id")
DOCUMENTS: Final = Sql(
    "SELECT infra_env_id, host_id, digest AS version, doc FROM plans"
    " WHERE infra_env_id = ANY(:infra_env_ids) AND host_id = ANY(:host_ids)"
)


def put(write: PutPlan) -> Iterator[Statement]:
    document = ENCODER.encode(write.plan)
    yield Statement(PUT, {**key_params(write.key), "digest": digest(document), "doc": document})
