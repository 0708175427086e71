"""The findings of each subject as last decided."""

from collections.abc import Iterator
from typing import Final

from firstlight.server.ports.database import Sql, Statement
from firstlight.server.ports.writes import PutFindings
from firstlight.server.store.documents import ENCODER, digest
from firstlight.server.store.inserting import insert

PUT: Final = insert(
    "findings",
    {"subject": "text", "digest": "text", "doc": "bytea"},
    then="ON CONFLICT (subject) DO UPDATE SET digest = excluded.digest, doc = excluded.doc",
)
VERSION: Final = Sql("SELECT digest FROM findings WHERE subject = :subject")
DOCUMENTS: Final = Sql("SELECT subject, digest AS version, doc FROM findings WHERE subject = ANY(:subjects)")


def put(write: PutFindings) -> Iterator[Statement]:
    document = ENCODER.encode(write.findings)
    yield Statement(PUT, {"subject": write.subject, "digest": digest(document), "doc": document})
