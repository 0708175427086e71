"""Encryption at the edge of the database: secrets always, documents only when their owner put a secret into them.

What is searched stays in its columns, so nothing but these values is hidden; records without secrets cost nothing.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import structlog
from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.errors import Unavailable
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host
from firstlight.core.model.infra_env import InfraEnv, Proxy
from firstlight.server.ports.database import Database, Param, Row, Statement
from firstlight.server.ports.subjects import SERVICE_SUBJECT
from firstlight.server.ports.writes import PutCluster, PutHost, PutInfraEnv, PutPlan, PutSecret, Write
from firstlight.server.sealing.keys import KeyPlace
from firstlight.server.sealing.seal import Seal, is_sealed, key_id
from firstlight.server.store import secrets
from firstlight.server.store.documents import as_bytes
from firstlight.server.store.kept import decoding
from firstlight.server.store.writes import Made

log = structlog.get_logger(__name__)

T = TypeVar("T")


class Place(Struct, frozen=True):
    """Where documents lie. Each is sealed for its own row, so that none can be laid in the place of another."""

    table: str
    """Also what a document was sealed for once, when the row did not count yet."""
    keys: tuple[str, ...]

    def of(self, row: Row | Mapping[str, Param]) -> str:
        return f"{self.table} {'/'.join(str(row[key]) for key in self.keys)}"


CLUSTER_PLACE: Final = Place("clusters", ("id",))
INFRA_ENV_PLACE: Final = Place("infra_envs", ("id",))
HOST_PLACE: Final = Place("hosts", ("infra_env_id", "id"))
PLAN_PLACE: Final = Place("plans", ("infra_env_id", "host_id"))
CHECK: Final = "encryption_check"
"""A secret of no meaning: whoever cannot open it has the wrong key."""
_LOGIN: Final = re.compile(rb"://[^/\s\"]*@")
_TOKENS: Final = (b"request_headers", b"image_token=")


def secret_place(subject: str, name: str) -> str:
    return f"secret {name} of {subject}"


def cluster_has_secrets(cluster: Cluster) -> bool:
    endpoint = cluster.ignition_endpoint
    login = _has_login(cluster.proxy) or (endpoint is not None and "@" in endpoint.url)
    return login or bool(cluster.install_config_overrides)


def infra_env_has_secrets(infra_env: InfraEnv) -> bool:
    """An image URL that ends opens the image until then, with everything in it."""
    given = infra_env.ignition_override or infra_env.static_network or infra_env.expires_at
    return bool(given) or _has_login(infra_env.proxy)


def host_has_secrets(host: Host) -> bool:
    return bool(host.ignition_override or host.fencing or host.ignition_endpoint_headers)


def plan_has_secrets(document: bytes) -> bool:
    """Steps carry the proxy of the cluster, links to images, and what day-2 hosts show to the endpoint of their
    Ignition."""
    given = any(token in document for token in _TOKENS)
    return given or (b"://" in document and _LOGIN.search(document) is not None)


def _has_login(proxy: Proxy) -> bool:
    return "@" in proxy.http or "@" in proxy.https


class Sealing:
    """Seals statements on their way in, opens documents on their way out; without a seal everything stays plain."""

    def __init__(self, seal: Seal | None) -> None:
        self._seal = seal

    def made(self, made: Made) -> Made:
        """The statements of each write as they may be kept."""
        seal = self._seal
        return made if seal is None else [(write, _sealed(seal, write, statements)) for write, statements in made]

    def opening(self, decode: Callable[[bytes], T], *, place: Place) -> Callable[[Row], T]:
        """How documents of a table are read; rows bring their keys along."""
        seal = self._seal
        if seal is None:
            return decoding(decode)

        def of(row: Row) -> T:
            document: Any = row["doc"]
            return decode(seal.opened(document, place=place.of(row), earlier=place.table))

        return of

    def secret(self, kept: bytes, *, subject: str, name: str) -> bytes:
        return kept if self._seal is None else self._seal.opened(kept, place=secret_place(subject, name))


def _sealed(seal: Seal, write: Write, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    first, *rest = statements
    match write:
        case PutSecret(value=str()):
            column, place = "value", secret_place(write.subject, write.name)
        case PutCluster() if cluster_has_secrets(write.cluster):
            column, place = "doc", CLUSTER_PLACE.of(first.params)
        case PutInfraEnv() if infra_env_has_secrets(write.infra_env):
            column, place = "doc", INFRA_ENV_PLACE.of(first.params)
        case PutHost() if host_has_secrets(write.host):
            column, place = "doc", HOST_PLACE.of(first.params)
        case PutPlan() if plan_has_secrets(as_bytes(first.params["doc"])):
            column, place = "doc", PLAN_PLACE.of(first.params)
        case _:
            return statements
    sealed = seal.sealed(as_bytes(first.params[column]), place=place)
    return (replace(first, params={**first.params, column: sealed}), *rest)


async def open_seal(database: Database, place: KeyPlace) -> Seal:
    """The seal of this database. Raises Unavailable when its secrets were sealed with a key that is not there."""
    row = await database.fetch_one(secrets.ONE, subject=SERVICE_SUBJECT, name=CHECK)
    keys = place.known()
    if keys is None:
        if row is not None:
            raise _wrong_key(row["value"], place, found="does not exist")
        keys = place.made()
        log.info("secrets are encrypted with a new key; keep a copy of its file", file=str(place.file))
    seal = Seal(keys)
    if row is None:
        row = await _checked(database, seal)
    kept: bytes = row["value"]
    if is_sealed(kept) and not seal.knows(kept):
        raise _wrong_key(kept, place, found=f"has key {seal.key.name}")
    seal.opened(kept, place=secret_place(SERVICE_SUBJECT, CHECK))
    return seal


async def _checked(database: Database, seal: Seal) -> Row:
    """Whoever starts first decides which key it is."""
    params: Mapping[str, str | bytes] = {
        "subject": SERVICE_SUBJECT,
        "name": CHECK,
        "value": seal.sealed(b"firstlight", place=secret_place(SERVICE_SUBJECT, CHECK)),
    }
    await database.commit(Statement(secrets.PUT_IF_MISSING, params))
    row = await database.fetch_one(secrets.ONE, subject=SERVICE_SUBJECT, name=CHECK)
    if row is None:
        raise Unavailable("The database lost what was written to it just now. Check that nobody else clears it.")
    return row


def _wrong_key(kept: bytes, place: KeyPlace, *, found: str) -> Unavailable:
    return Unavailable(
        f"The secrets in the database are encrypted with key {key_id(kept).hex()}, but {place} {found}. Give that key"
        " with FIRSTLIGHT_ENCRYPTION_KEY or FIRSTLIGHT_ENCRYPTION_KEY_FILE: it is in the file encryption-key of the"
        " data directory of the service that first used this database, and every replica needs the same one."
    )
