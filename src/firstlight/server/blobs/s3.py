"""Blobs as objects in a bucket of an S3 store, addressed by path."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from firstlight.core.errors import Unavailable
from firstlight.server.blobs.folder import not_found, too_large
from firstlight.server.blobs.presign import Signer, attachment
from firstlight.server.ports.blobs import BlobInfo, checked_key, checked_prefix

if TYPE_CHECKING:
    from obstore.store import S3Config  # exists for type checkers only

PIECE_BYTES: Final = 8 * 1024 * 1024
"""What one request of a stream asks for."""
REQUEST_TIMEOUT: Final = timedelta(seconds=60)
CONNECT_TIMEOUT: Final = timedelta(seconds=5)
RETRY_TIMEOUT: Final = timedelta(seconds=10)
RETRIES: Final = 3
DEFAULT_REGION: Final = "us-east-1"

T = TypeVar("T")


class Bucket(msgspec.Struct, frozen=True, kw_only=True):
    """Where the bucket is and who we are there. Without keys, those of the machine's role are used."""

    name: str
    endpoint: str
    """Empty: Amazon's own for the region."""
    region: str = DEFAULT_REGION
    prefix: str = ""
    access_key: str = ""
    secret_key: str = ""


class S3Blobs:
    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        endpoint = bucket.endpoint or f"https://s3.{bucket.region}.amazonaws.com"
        config: S3Config = {"endpoint": endpoint, "region": bucket.region, "virtual_hosted_style_request": False}
        if bucket.access_key:
            config |= {"access_key_id": bucket.access_key, "secret_access_key": bucket.secret_key}
        self._store = S3Store(
            bucket.name,
            prefix=bucket.prefix or None,
            config=config,
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "timeout": REQUEST_TIMEOUT,
                "connect_timeout": CONNECT_TIMEOUT,
            },
            retry_config={"max_retries": RETRIES, "retry_timeout": RETRY_TIMEOUT},
        )
        self._signer = (
            Signer(endpoint=endpoint, region=bucket.region, access_key=bucket.access_key, secret_key=bucket.secret_key)
            if bucket.access_key
            else None
        )

    async def put(self, key: str, data: bytes) -> None:
        await self._ask(key, obstore.put_async(self._store, checked_key(key), data), writing=True)

    async def put_stream(self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int) -> int:
        size = 0

        async def counted() -> AsyncIterator[bytes]:
            nonlocal size
            async for chunk in chunks:
                size += len(chunk)
                if size > max_bytes:
                    raise too_large(max_bytes)
                yield chunk

        await self._ask(key, obstore.put_async(self._store, checked_key(key), counted()), writing=True)
        return size

    async def get(self, key: str) -> bytes:
        answer = await self._ask(key, obstore.get_async(self._store, checked_key(key)))
        return bytes(await self._ask(key, answer.bytes_async()))

    async def get_range(self, key: str, *, start: int, length: int) -> bytes:
        # S3 refuses a range that begins behind the end, and an empty one: the size decides.
        length = min(length, (await self.head(key)).size - start)
        if length <= 0:
            return b""
        return bytes(await self._ask(key, obstore.get_range_async(self._store, key, start=start, length=length)))

    async def stream(self, key: str, *, start: int = 0) -> AsyncIterator[bytes]:
        meta = await self._ask(key, obstore.head_async(self._store, checked_key(key)))
        for begin in range(start, meta["size"], PIECE_BYTES):
            end = min(begin + PIECE_BYTES, meta["size"])
            # The tag keeps pieces of two versions from being mixed.
            options: obstore.GetOptions = {"range": (begin, end), "if_match": meta["e_tag"]}
            answer = await self._ask(key, obstore.get_async(self._store, key, options=options))
            yield bytes(await self._ask(key, answer.bytes_async()))

    async def head(self, key: str) -> BlobInfo:
        meta = await self._ask(key, obstore.head_async(self._store, checked_key(key)))
        return BlobInfo(key=key, size=meta["size"], modified=meta["last_modified"].astimezone(UTC))

    async def delete(self, key: str) -> None:
        await self._ask(key, obstore.delete_async(self._store, checked_key(key)))

    async def delete_under(self, prefix: str) -> int:
        blobs = await self.list_under(prefix)
        if blobs:
            await self._ask(prefix, obstore.delete_async(self._store, [blob.key for blob in blobs]))
        return len(blobs)

    async def list_under(self, prefix: str) -> Sequence[BlobInfo]:
        prefix = checked_prefix(prefix)
        found = obstore.list(self._store, prefix or None)  # pyright: ignore[reportUnknownMemberType] # its Arrow variant
        metas = await self._ask(prefix, found.collect_async())
        blobs = [
            BlobInfo(key=meta["path"], size=meta["size"], modified=meta["last_modified"].astimezone(UTC))
            for meta in metas
            if meta["path"] != prefix
        ]
        return sorted(blobs, key=lambda blob: blob.key)

    def presign(self, key: str, *, expires: timedelta, file_name: str | None = None) -> str | None:
        if self._signer is None:
            return None
        path = "/".join(("", self._bucket.name, *filter(None, [self._bucket.prefix]), checked_key(key)))
        answer = {"response-content-disposition": attachment(file_name)} if file_name else {}
        return self._signer.get(path, now=datetime.now(UTC), expires=expires, answer=answer)

    async def close(self) -> None:
        """The store closes its connections when it is dropped."""

    async def _ask(self, key: str, call: Awaitable[T], *, writing: bool = False) -> T:
        try:
            return await call
        except FileNotFoundError as error:
            if writing or "NoSuchBucket" in str(error):
                raise self._unavailable(error) from error
            raise not_found(key) from error
        except BaseError as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> Unavailable:
        return Unavailable(
            f"The bucket {self._bucket.name} at {self._bucket.endpoint or self._bucket.region} cannot be used."
            " Check that the store runs, that the bucket exists and that the keys may read and write it."
            f" ({first_line(error)})"
        )


def first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
