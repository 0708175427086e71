"""Blobs that hold secrets are sealed on their way into whatever place keeps them, and opened on their way out.

They are small and are handled whole. Logs are neither small nor secret and pass through as they are.
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from firstlight.core.errors import NotFound
from firstlight.server.blobs.folder import too_large
from firstlight.server.ports.blobs import BlobInfo, Blobs, checked_key
from firstlight.server.sealing.seal import MAGIC, OVERHEAD, Seal, is_sealed

PIECE_BYTES: Final = 256 * 1024
LARGE: Final = 16 * 1024
"""Bytes from which on it takes longer to seal something than to hand it to a thread."""

IsSecret = Callable[[str], bool]
"""By the key of a blob."""


class SealedBlobs:
    """Implements the port `Blobs` on another place for blobs."""

    def __init__(self, inner: Blobs, seal: Seal, *, is_secret: IsSecret) -> None:
        self._inner = inner
        self._seal = seal
        self._is_secret = is_secret

    async def put(self, key: str, data: bytes) -> None:
        await self._inner.put(key, await self._sealed(key, data) if self._is_secret(key) else data)

    async def _sealed(self, key: str, data: bytes) -> bytes:
        place = checked_key(key)
        if len(data) < LARGE:
            return self._seal.sealed(data, place=place)
        return await asyncio.to_thread(self._seal.sealed, data, place=place)

    async def put_stream(self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int) -> int:
        if not self._is_secret(key):
            return await self._inner.put_stream(key, chunks, max_bytes=max_bytes)
        whole = bytearray()
        async for chunk in chunks:
            whole += chunk
            if len(whole) > max_bytes:
                raise too_large(max_bytes)
        await self.put(key, bytes(whole))
        return len(whole)

    async def get(self, key: str) -> bytes:
        kept = await self._inner.get(key)
        return self._seal.opened(kept, place=key) if self._is_secret(key) else kept

    async def get_range(self, key: str, *, start: int, length: int) -> bytes:
        if not self._is_secret(key):
            return await self._inner.get_range(key, start=start, length=length)
        return (await self.get(key))[start : start + length]

    async def stream(self, key: str, *, start: int = 0) -> AsyncIterator[bytes]:
        if not self._is_secret(key):
            async for piece in self._inner.stream(key, start=start):
                yield piece
            return
        whole = await self.get(key)
        for begin in range(start, len(whole), PIECE_BYTES):
            yield whole[begin : begin + PIECE_BYTES]

    async def head(self, key: str) -> BlobInfo:
        return await self._plain_size(await self._inner.head(key))

    async def _plain_size(self, found: BlobInfo) -> BlobInfo:
        """How long it is once opened; files of earlier versions may not be sealed."""
        if not self._is_secret(found.key) or found.size < OVERHEAD:
            return found
        start = await self._inner.get_range(found.key, start=0, length=len(MAGIC))
        return replace(found, size=found.size - OVERHEAD) if is_sealed(start) else found

    async def delete(self, key: str) -> None:
        await self._inner.delete(key)

    async def delete_under(self, prefix: str) -> int:
        return await self._inner.delete_under(prefix)

    async def list_under(self, prefix: str) -> Sequence[BlobInfo]:
        """Sizes are those at rest: to look into thousands of files would take long. `head` tells what a reader gets."""
        return await self._inner.list_under(prefix)

    def presign(self, key: str, *, expires: timedelta, file_name: str | None = None) -> str | None:
        """Whoever asks the place itself would get what nobody can read."""
        return None if self._is_secret(key) else self._inner.presign(key, expires=expires, file_name=file_name)

    async def close(self) -> None:
        await self._inner.close()

    async def reseal(self) -> int:
        """Seal everything secret with the key that seals now; answers how many blobs were not."""
        changed = 0
        for found in await self._inner.list_under(""):
            if self._is_secret(found.key):
                changed += await self._resealed(found)
        return changed

    async def _resealed(self, found: BlobInfo) -> bool:
        try:
            kept = await self._inner.get(found.key)
            if self._seal.is_current(kept):
                return False
            plain = self._seal.opened(kept, place=found.key)
            now = await self._inner.head(found.key)
        except NotFound:
            return False
        # Somebody wrote it meanwhile, and so with the newest key.
        if (now.size, now.modified) != (found.size, found.modified):
            return False
        await self.put(found.key, plain)
        return True
