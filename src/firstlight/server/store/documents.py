"""How values lie in columns: times as microseconds, documents as JSON bytes, texts as both databases can hold them."""

import hashlib
import time
from datetime import UTC, datetime, timedelta
from random import getrandbits
from typing import Any, Final, get_type_hints
from uuid import UUID

import msgspec

from firstlight.core.decision import HostKey
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.plan import StepPlan
from firstlight.core.model.reports import REPORT_FIELDS, ReportKind, Reports
from firstlight.core.rules import Finding

CHANCE: Final = 0xFFFFF
"""The bits of a revision that chance decides: about a millisecond's worth of nanoseconds."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

ENCODER: Final = msgspec.json.Encoder()
CLUSTER: Final = msgspec.json.Decoder(Cluster)
HOST: Final = msgspec.json.Decoder(Host)
INFRA_ENV: Final = msgspec.json.Decoder(InfraEnv)
FINDINGS: Final = msgspec.json.Decoder(tuple[Finding, ...])
PLAN: Final = msgspec.json.Decoder(StepPlan)
PROPERTIES: Final = msgspec.json.Decoder(dict[str, object])


def report_decoders() -> dict[str, msgspec.json.Decoder[Any]]:
    """By stored kind: each kind has the type of its field in `Reports`."""
    hints = get_type_hints(Reports)
    return {kind.value: msgspec.json.Decoder(hints[REPORT_FIELDS[kind]]) for kind in ReportKind}


FACTS: Final = report_decoders()


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def optional_micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


def moment(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def optional_moment(micros: int | None) -> datetime | None:
    return None if micros is None else moment(micros)


def text_or_none(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def plain(text: str) -> str:
    """PostgreSQL has no NUL in texts; whoever sent one did not mean it."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text


def digest(document: bytes) -> str:
    return hashlib.blake2b(document, digest_size=16).hexdigest()


def fresh_revision() -> int:
    """One that no other write of the same row has, whoever makes it: what was written is then known without reading.

    The clock keeps a row that is made again from repeating its past; chance keeps two replicas apart.
    """
    return time.time_ns() & ~CHANCE | getrandbits(CHANCE.bit_length())


def as_bytes(value: object) -> bytes:
    """A document among the parameters of a statement."""
    if not isinstance(value, bytes):
        raise TypeError(f"a document is bytes, not {type(value).__name__}")
    return value


def key_params(key: HostKey) -> dict[str, str]:
    return {"infra_env_id": str(key[0]), "host_id": str(key[1])}
