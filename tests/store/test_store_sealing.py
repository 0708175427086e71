"""Secrets at rest: what lies in the tables, what the wrong key gives, and how a new one takes over."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from firstlight.core.errors import Unavailable
from firstlight.core.model.cluster import IgnitionEndpoint
from firstlight.core.model.host import FencingCredentials, HttpHeader
from firstlight.core.model.infra_env import HostNetworkConfig, Proxy
from firstlight.core.model.plan import Step, StepPlan, StepType
from firstlight.server.ports.database import Database, Sql, Statement
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import PutCluster, PutHost, PutInfraEnv, PutPlan, PutSecret, Write
from firstlight.server.sealing.keys import KeyPlace
from firstlight.server.sealing.seal import Seal, is_sealed
from firstlight.server.store.resealing import reseal
from firstlight.server.store.sealing import open_seal
from firstlight.server.store.sql_store import open_store
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import a_host
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW
from tests.store.rows import SECRETS
from tests.store.stored import key_of

pytestmark = pytest.mark.anyio

OLD, NEW, LOST = b"o" * 32, b"n" * 32, b"l" * 32
HIDDEN = "hunter2"
DAMAGE = Sql("UPDATE hosts SET doc = :doc")
SUBJECT = cluster_subject(CLUSTER_ID)
PULL_SECRET = PutSecret(subject=SUBJECT, name="pull_secret", value=HIDDEN)
LOGIN = Proxy(http=f"http://me:{HIDDEN}@proxy.example.com:3128")
HOST, NEIGHBOUR = a_host(), a_host(2)
DOCUMENTS: dict[str, Write] = {
    "overrides of install-config": PutCluster(
        cluster=a_cluster(install_config_overrides=f'{{"x": "{HIDDEN}"}}'), expect_revision=None
    ),
    "proxy of a cluster": PutCluster(cluster=a_cluster(proxy=LOGIN), expect_revision=None),
    "proxy of an infra-env": PutInfraEnv(infra_env=an_infra_env(proxy=LOGIN), expect_revision=None),
    "discovery Ignition": PutInfraEnv(infra_env=an_infra_env(ignition_override=HIDDEN), expect_revision=None),
    "static network": PutInfraEnv(
        infra_env=an_infra_env(static_network=(HostNetworkConfig(f"psk: {HIDDEN}", ()),)), expect_revision=None
    ),
    "link to an image": PutInfraEnv(
        infra_env=an_infra_env(download_url=f"https://images/bytoken/{HIDDEN}/full.iso", expires_at=NOW),
        expect_revision=None,
    ),
    "endpoint of Ignition": PutCluster(
        cluster=a_cluster(ignition_endpoint=IgnitionEndpoint(url=f"https://me:{HIDDEN}@mcs.example.com")),
        expect_revision=None,
    ),
    "link in a step": PutPlan(
        key=key_of(HOST),
        plan=StepPlan(
            steps=(Step(StepType.DOWNLOAD_BOOT_ARTIFACTS, (f'{{"initrd_url":"https://x/i?image_token={HIDDEN}"}}',)),)
        ),
    ),
    "Ignition of a host": PutHost(host=replace(HOST, ignition_override=HIDDEN)),
    "fencing": PutHost(host=replace(HOST, fencing=FencingCredentials(address="a", username="b", password=HIDDEN))),
    "headers": PutHost(host=replace(HOST, ignition_endpoint_headers=(HttpHeader("Authorization", HIDDEN),))),
    "proxy in a step": PutPlan(
        key=key_of(HOST), plan=StepPlan(steps=(Step(StepType.INSTALL, (f'{{"p":"http://me:{HIDDEN}@x"}}',)),))
    ),
    "token in a step": PutPlan(
        key=key_of(HOST),
        plan=StepPlan(steps=(Step(StepType.API_VIP, (f'{{"request_headers":[{{"value":"{HIDDEN}"}}]}}',)),)),
    ),
}
ROWS = {table: Sql(f"SELECT doc FROM {table}") for table in ("clusters", "infra_envs", "hosts", "plans")}


async def kept(database: Database) -> list[bytes]:
    """Everything that may hold a secret, as it lies there."""
    values = [row["value"] for row in await database.fetch(SECRETS)]
    return values + [row["doc"] for sql in ROWS.values() for row in await database.fetch(sql)]


async def require_read(reader: Store, write: Write) -> None:
    if isinstance(write, PutCluster):
        assert await reader.cluster(CLUSTER_ID) == write.cluster
    elif isinstance(write, PutInfraEnv):
        found = await reader.infra_env(INFRA_ENV_ID)
        assert found is not None
        assert found.infra_env == write.infra_env
    elif isinstance(write, PutHost):
        state = await reader.host(key_of(HOST))
        assert state is not None
        assert state.host == write.host
    elif isinstance(write, PutPlan):
        assert await reader.plan(key_of(HOST)) == write.plan


@pytest.mark.parametrize("what", DOCUMENTS)
async def test_documents_with_secrets_are_sealed_and_read_again(database: Database, what: str) -> None:
    write = DOCUMENTS[what]
    store = open_store(database, seal=Seal([OLD]))
    await store.commit(PutHost(host=HOST), write)
    assert HIDDEN.encode() not in b"".join(await kept(database))
    other = open_store(database, seal=Seal([NEW, OLD]))
    for reader in (store, other):
        await require_read(reader, write)


async def test_documents_without_secrets_stay_as_they_are(database: Database) -> None:
    proxy = Proxy(http="http://proxy.example.com:3128")
    plan = StepPlan(steps=(Step(StepType.INSTALL, ('{"image":"https://quay.io/a@sha256:1"}',)),))
    await open_store(database, seal=Seal([OLD])).commit(
        PutCluster(cluster=a_cluster(proxy=proxy), expect_revision=None),
        PutInfraEnv(infra_env=an_infra_env(proxy=proxy), expect_revision=None),
        PutHost(host=HOST),
        PutPlan(key=key_of(HOST), plan=plan),
    )
    assert [is_sealed(value) for value in await kept(database)] == [False] * 4


async def test_secrets_are_sealed_and_bound_to_their_place(database: Database) -> None:
    store = open_store(database, seal=Seal([OLD]))
    await store.commit(PULL_SECRET, PutSecret(subject=SUBJECT, name="other", value=HIDDEN, only_if_missing=True))
    assert await store.secret(SUBJECT, "pull_secret") == HIDDEN
    assert await store.secret(SUBJECT, "other") == HIDDEN
    first, second = await kept(database)
    assert first != second
    assert HIDDEN.encode() not in first + second
    with pytest.raises(Unavailable, match=f"secret pull_secret of {SUBJECT} is encrypted with key"):
        await open_store(database, seal=Seal([NEW])).secret(SUBJECT, "pull_secret")


@pytest.mark.parametrize(
    ("what", "there"),
    [
        ("Ignition of a host", PutHost(host=NEIGHBOUR)),
        ("link in a step", PutPlan(key=key_of(NEIGHBOUR), plan=StepPlan())),
    ],
)
async def test_a_document_cannot_be_laid_in_the_place_of_another(database: Database, what: str, there: Write) -> None:
    table = "hosts" if isinstance(there, PutHost) else "plans"
    await open_store(database, seal=Seal([OLD])).commit(PutHost(host=HOST), PutHost(host=NEIGHBOUR), there)
    await open_store(database, seal=Seal([OLD])).commit(DOCUMENTS[what])
    sealed = next(row["doc"] for row in await database.fetch(ROWS[table]) if is_sealed(row["doc"]))
    await database.commit(Statement(Sql(f"UPDATE {table} SET doc = :doc"), {"doc": sealed}))
    store = open_store(database, seal=Seal([OLD]))
    assert await store.host(key_of(HOST)) is not None
    with pytest.raises(Unavailable, match=f"kept as {table} {INFRA_ENV_ID}/{NEIGHBOUR.id} was damaged"):
        await store.host(key_of(NEIGHBOUR))


@pytest.mark.parametrize("what", ["proxy of a cluster", "discovery Ignition", "fencing", "token in a step"])
async def test_what_was_sealed_for_its_table_only_is_still_read(database: Database, what: str) -> None:
    """As long as nobody writes it again."""
    write = DOCUMENTS[what]
    await open_store(database).commit(PutHost(host=HOST), write)
    table = {PutCluster: "clusters", PutInfraEnv: "infra_envs", PutHost: "hosts", PutPlan: "plans"}[type(write)]
    (row,) = await database.fetch(ROWS[table])
    sealed = Seal([OLD]).sealed(row["doc"], place=table)
    await database.commit(Statement(Sql(f"UPDATE {table} SET doc = :doc"), {"doc": sealed}))
    await require_read(open_store(database, seal=Seal([OLD])), write)
    assert await reseal(database, Seal([NEW, OLD])) == 1
    await require_read(open_store(database, seal=Seal([NEW])), write)


async def test_what_was_kept_in_plain_text_is_read_and_then_sealed(database: Database) -> None:
    plain = open_store(database)
    cluster = a_cluster(install_config_overrides=HIDDEN)
    await plain.commit(PutHost(host=HOST), PULL_SECRET, PutCluster(cluster=cluster, expect_revision=None))
    await plain.commit(DOCUMENTS["proxy in a step"])
    seal = Seal([OLD])
    store = open_store(database, seal=seal)
    assert (await store.secret(SUBJECT, "pull_secret"), await store.cluster(CLUSTER_ID)) == (HIDDEN, cluster)
    assert await reseal(database, seal) == 3
    assert HIDDEN.encode() not in b"".join(await kept(database))
    again = open_store(database, seal=seal)
    assert (await again.secret(SUBJECT, "pull_secret"), await again.cluster(CLUSTER_ID)) == (HIDDEN, cluster)


async def test_a_new_key_takes_over_and_the_old_one_can_go(database: Database, tmp_path: Path) -> None:
    await open_seal(database, KeyPlace(file=tmp_path / "none", given=OLD.hex()))
    await open_store(database, seal=Seal([OLD])).commit(PULL_SECRET, DOCUMENTS["fencing"])
    both = await open_seal(database, KeyPlace(file=tmp_path / "none", given=f"{NEW.hex()} {OLD.hex()}"))
    assert (await reseal(database, both), await reseal(database, both)) == (3, 0)
    alone = await open_seal(database, KeyPlace(file=tmp_path / "none", given=NEW.hex()))
    assert await open_store(database, seal=alone).secret(SUBJECT, "pull_secret") == HIDDEN
    with pytest.raises(Unavailable, match=rf"FIRSTLIGHT_ENCRYPTION_KEY has key {Seal([OLD]).key.name}"):
        await open_seal(database, KeyPlace(file=tmp_path / "none", given=OLD.hex()))


async def test_whoever_stopped_half_way_is_still_asked_for_the_old_key(database: Database, tmp_path: Path) -> None:
    """Nobody takes the old key away when the service starts without it, and loses what is left under it."""
    await open_seal(database, KeyPlace(file=tmp_path / "none", given=OLD.hex()))
    late = PutSecret(subject="zzz", name="late", value=HIDDEN)
    await open_store(database, seal=Seal([OLD])).commit(PULL_SECRET, late, DOCUMENTS["fencing"])
    await database.commit(Statement(DAMAGE, {"doc": b"\x93FLS1\nlostlost"}))
    both = Seal([NEW, OLD])
    with pytest.raises(Unavailable, match="not given"):
        await reseal(database, both)
    with pytest.raises(Unavailable, match=f"encrypted with key {Seal([OLD]).key.name}"):
        await open_seal(database, KeyPlace(file=tmp_path / "none", given=NEW.hex()))


async def test_a_replica_without_the_key_makes_none_of_its_own(database: Database, tmp_path: Path) -> None:
    first = KeyPlace(file=tmp_path / "first" / "encryption-key")
    seal = await open_seal(database, first)
    assert (await open_seal(database, first)).key.name == seal.key.name
    second = KeyPlace(file=tmp_path / "second" / "encryption-key")
    with pytest.raises(Unavailable, match=f"(?s){seal.key.name}.*second/encryption-key does not exist.*every replica"):
        await open_seal(database, second)
    assert not second.file.exists()
