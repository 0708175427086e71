"""What only a bucket can do: signed URLs, and answers about wrong keys, missing buckets and a store that is away."""

import asyncio
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from email.message import Message

import pytest

from firstlight.core.errors import Unavailable
from firstlight.server.blobs.connect import open_blobs
from firstlight.server.blobs.presign import Signer, attachment
from firstlight.server.ports.blobs import Blobs
from tests.peers import S3, free_port

pytestmark = pytest.mark.anyio


async def fetched(url: str | None) -> tuple[int, bytes, Message]:
    assert url is not None

    def get() -> tuple[int, bytes, Message]:
        try:
            with urllib.request.urlopen(url) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, b"", error.headers

    return await asyncio.to_thread(get)


@pytest.mark.parametrize("key", ["logs/a.tar.gz", "odd/ünï x+y&%41='.yaml"])
async def test_a_signed_url_downloads_under_its_name(bucket: Blobs, key: str) -> None:
    await bucket.put(key, b"content")
    url = bucket.presign(key, expires=timedelta(minutes=5), file_name='log "ä".tgz')
    status, body, headers = await fetched(url)
    assert (status, body) == (200, b"content")
    assert (
        headers["content-disposition"]
        == "attachment; filename=\"log ___.tgz\"; filename*=UTF-8''log%20%22%C3%A4%22.tgz"
    )


async def test_a_signed_url_opens_one_blob_only(bucket: Blobs) -> None:
    await bucket.put("a", b"1")
    await bucket.put("b", b"2")
    url = bucket.presign("a", expires=timedelta(minutes=5))
    assert (await fetched(url))[:2] == (200, b"1")
    assert url is not None
    assert (await fetched(url.replace("/a?", "/b?")))[0] == 403
    assert (await fetched(url.replace("X-Amz-Expires=300", "X-Amz-Expires=301")))[0] == 403


@pytest.mark.parametrize(("age", "status"), [(30, 200), (90, 403)])
async def test_a_signed_url_ends(s3: S3, s3_bucket: str, bucket: Blobs, age: int, status: int) -> None:
    await bucket.put("a", b"1")
    signer = Signer(endpoint=s3.endpoint, region=s3.region, access_key=s3.access_key, secret_key=s3.secret_key)
    then = datetime.now(UTC) - timedelta(seconds=age)
    url = signer.get(f"/{s3_bucket}/a", now=then, expires=timedelta(seconds=60), answer={})
    assert (await fetched(url))[0] == status


async def test_a_prefix_within_the_bucket_is_all_we_see(s3: S3, s3_bucket: str, bucket: Blobs) -> None:
    inner = open_blobs(
        f"s3://{s3_bucket}/team/one?endpoint={s3.endpoint}", access_key=s3.access_key, secret_key=s3.secret_key
    )
    await inner.put("x/y", b"1")
    await bucket.put("other", b"2")
    assert [blob.key for blob in await inner.list_under("")] == ["x/y"]
    assert [blob.key for blob in await bucket.list_under("team")] == ["team/one/x/y"]
    assert (await fetched(inner.presign("x/y", expires=timedelta(minutes=1))))[:2] == (200, b"1")


async def test_a_wrong_secret_is_said(s3: S3, s3_bucket: str) -> None:
    blobs = open_blobs(f"s3://{s3_bucket}?endpoint={s3.endpoint}", access_key=s3.access_key, secret_key="wrong")
    with pytest.raises(Unavailable, match="keys"):
        await blobs.put("a", b"1")


async def test_a_missing_bucket_is_not_a_missing_blob(s3: S3) -> None:
    blobs = open_blobs(f"s3://no-such?endpoint={s3.endpoint}", access_key=s3.access_key, secret_key=s3.secret_key)
    with pytest.raises(Unavailable, match="no-such"):
        await blobs.put("a", b"1")
    with pytest.raises(Unavailable, match="no-such"):
        await blobs.get("a")


async def test_a_store_that_is_away_is_unavailable() -> None:
    blobs = open_blobs(f"s3://b?endpoint=http://127.0.0.1:{free_port()}", access_key="a", secret_key="b")
    with pytest.raises(Unavailable, match="store runs"):
        await blobs.get("a")


@pytest.mark.parametrize(
    ("name", "plain"),
    [("a.txt", "a.txt"), ('a"; x="', "a_; x=_"), ("a\r\nSet-Cookie: b", "a__Set-Cookie: b"), ("\\", "_")],
)
async def test_no_name_breaks_out_of_its_header(name: str, plain: str) -> None:
    value = attachment(name)
    assert value.startswith(f'attachment; filename="{plain}"; ')
    assert "\n" not in value
