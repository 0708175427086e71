"""The peers are what the suites believe they are: durable types, own databases and buckets, checked signatures."""

import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import asyncpg
import httpx2
import obstore
import pytest
from obstore.exceptions import BaseError
from obstore.store import S3Store

from tests import peers
from tests.peers import S3, Missing, Postgres


@pytest.mark.anyio
async def test_a_fresh_database_is_empty_and_private(postgres: Postgres) -> None:
    first = await asyncpg.connect(postgres.fresh_database())
    second = await asyncpg.connect(postgres.fresh_database())
    try:
        await first.execute("CREATE TABLE things (name text PRIMARY KEY)")
        assert await first.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 1
        assert await second.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
    finally:
        await first.close()
        await second.close()


@pytest.mark.anyio
async def test_the_database_can_skip_locked_rows(postgres_url: str) -> None:
    """What the due queue rests on: two claimers never get the same row."""
    first, second = await asyncpg.connect(postgres_url), await asyncpg.connect(postgres_url)
    claim = "SELECT id FROM due ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1"
    try:
        await first.execute("CREATE TABLE due (id int PRIMARY KEY)")
        await first.executemany("INSERT INTO due VALUES ($1)", [(1,), (2,)])
        async with first.transaction(), second.transaction():
            assert await first.fetchval(claim) == 1
            assert await second.fetchval(claim) == 2
    finally:
        await first.close()
        await second.close()


@pytest.mark.anyio
async def test_the_database_checks_the_password(postgres: Postgres) -> None:
    url = postgres.fresh_database().replace(postgres.password, "wrong")
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(url)


@pytest.mark.anyio
async def test_a_dropped_database_is_gone_even_with_a_guest(postgres: Postgres) -> None:
    url = postgres.fresh_database()
    guest = await asyncpg.connect(url)
    postgres.drop(url)
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await asyncpg.connect(url)
    guest.terminate()


def store(s3: S3, bucket: str, *, secret_key: str = "") -> S3Store:
    return S3Store(
        bucket,
        endpoint=s3.endpoint,
        access_key_id=s3.access_key,
        secret_access_key=secret_key or s3.secret_key,
        region=s3.region,
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )


@pytest.mark.anyio
async def test_an_object_comes_back_as_it_went(s3: S3) -> None:
    bucket, other = s3.fresh_bucket(), s3.fresh_bucket()
    await obstore.put_async(store(s3, bucket), "logs/host.tar.gz", b"\x1f\x8b rest", attributes={"Content-Type": "a/b"})
    found = await obstore.get_async(store(s3, bucket), "logs/host.tar.gz")
    assert bytes(await found.bytes_async()) == b"\x1f\x8b rest"
    assert found.attributes["Content-Type"] == "a/b"
    assert (s3.folder / bucket / "logs/host.tar.gz").read_bytes() == b"\x1f\x8b rest"
    assert obstore.list(store(s3, other)).collect() == []


@pytest.mark.anyio
async def test_a_wrong_key_is_refused(s3: S3, s3_bucket: str) -> None:
    with pytest.raises(BaseError, match="SignatureDoesNotMatch"):
        await obstore.put_async(store(s3, s3_bucket, secret_key="wrong"), "name", b"value")


@pytest.mark.anyio
async def test_a_presigned_address_opens_one_object_only(s3: S3, s3_bucket: str) -> None:
    ours = store(s3, s3_bucket)
    await obstore.put_async(ours, "one", b"first")
    await obstore.put_async(ours, "two", b"second")
    address = obstore.sign(ours, "GET", "one", expires_in=timedelta(minutes=1))
    async with httpx2.AsyncClient() as client:
        assert (await client.get(address)).content == b"first"
        assert (await client.get(address.replace("/one?", "/two?"))).status_code == 403
        assert (await client.get(address.partition("?")[0])).status_code == 403


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param('{"ignition": {"version": "3.1.0"}}', 0, id="valid"),
        pytest.param('{"ignition": {"version": "9.9.9"}}', 1, id="unknown-version"),
    ],
)
def test_ignition_validate_judges(ignition_validate: str, tmp_path: Path, text: str, code: int) -> None:
    config = tmp_path / "config.ign"
    config.write_text(text)
    assert subprocess.run([ignition_validate, config], check=False, capture_output=True).returncode == code


def test_a_peer_that_is_not_built_names_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(Missing, match="tools/peers build versitygw"):
        peers.peer_path("versitygw")


@pytest.mark.parametrize(
    ("command", "last_words"),
    [pytest.param(lambda port: ["sh", "-c", f"echo port {port} is taken; exit 3"], "is taken", id="ends-at-once")],
)
def test_a_server_that_does_not_start_says_why(
    tmp_path: Path, command: Callable[[int], list[str]], last_words: str
) -> None:
    with pytest.raises(peers.NotStarted, match=last_words):
        peers.start(command, answers=lambda port: False, log=tmp_path / "log")
