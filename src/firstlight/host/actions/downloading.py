"""A large file over HTTP onto a disk: streamed, resumed where it broke off, in place only when it is whole."""

import asyncio
import os
from pathlib import Path
from typing import Final

from firstlight.host.actions.action import Fetch, Unfetched

TRIES: Final = 5
_SILENCE: Final = 60.0


class Download:
    """A file under way. Each try goes on where the last one ended, as long as the server's file is still the same."""

    def __init__(self, url: str, target: Path, *, fetch: Fetch, authorities: str | None, insecure: bool) -> None:
        self._url = url
        self._target = target
        self._part = target.with_name(f"{target.name}.part")
        self._fetch = fetch
        self._authorities = authorities
        self._insecure = insecure
        self._version = ""
        """By which a server recognises the file that it began to send."""
        self._have = 0

    async def attempt(self) -> int:
        """Fetch what is missing; the file's size. Raises `Unfetched`, and OSError if the disk will not take it."""
        resumable = self._have > 0 and self._version
        headers = {"Range": f"bytes={self._have}-", "If-Range": self._version} if resumable else {}
        async with self._fetch(
            self._url,
            headers={"Accept-Encoding": "identity", **headers},
            authorities=self._authorities,
            insecure=self._insecure,
            silence_limit=_SILENCE,
        ) as answer:
            if answer.status not in (200, 206):
                raise Unfetched(f"The server answered {answer.status} instead of the file {self._target.name}.")
            resumed = answer.status == 206 and resumable
            self._have = self._have if resumed else 0
            self._version = _version(answer.headers.get("etag", ""), answer.headers.get("last-modified", ""))
            with self._part.open("ab" if resumed else "wb") as file:
                async for piece in answer.pieces():
                    await asyncio.to_thread(file.write, piece)
                    self._have += len(piece)
                await asyncio.to_thread(_settle, file.fileno())
        self._part.replace(self._target)
        return self._have


async def download(
    url: str, target: Path, *, fetch: Fetch, authorities: str | None = None, insecure: bool = False, pause: float = 60.0
) -> int:
    """The file's size. Raises `Unfetched` after the last try, OSError if the disk will not take it."""
    file = Download(url, target, fetch=fetch, authorities=authorities, insecure=insecure)
    complaint = ""
    for number in range(TRIES):
        if number:
            await asyncio.sleep(pause)
        try:
            return await file.attempt()
        except Unfetched as reason:
            complaint = str(reason)
    raise Unfetched(f"{complaint} It was tried {TRIES} times.")


def _version(tag: str, modified: str) -> str:
    """A weak tag promises too little to join two halves."""
    return tag if tag.startswith('"') else modified


def _settle(descriptor: int) -> None:
    os.fsync(descriptor)
