"""A kind of object, kept up to date: listed once, then watched; after any trouble it starts over, for ever."""

import asyncio
import random
from collections.abc import Mapping
from typing import Final, Generic, TypeVar

import msgspec

from firstlight.host.calling import ERRORS_FROM, Refused, Unreachable
from firstlight.host.controller.bells import Bell
from firstlight.host.controller.kube.client import NOT_FOUND, Kube, lines
from firstlight.host.controller.log import Log
from firstlight.host.controller.objects import KubeObject, ListMetadata

T = TypeVar("T", bound=KubeObject)

WATCH_SECONDS: Final = 290
SILENCE_SECONDS: Final = 120.0
"""Bookmarks come about once a minute: without any, nobody is there."""
SHORTEST_WATCH: Final = 1.0
PAGE: Final = 500
GONE: Final = 410
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 10.0


class _Listed(msgspec.Struct):
    metadata: ListMetadata
    items: tuple[msgspec.Raw, ...] | None = None


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Failure(msgspec.Struct):
    code: int = 0


class Watched(Generic[T]):
    """`items` by namespace and name. It does nothing until `run` is started."""

    def __init__(
        self, kube: Kube, path: str, type_: type[T], *, log: Log, query: Mapping[str, str] | None = None
    ) -> None:
        self.items: Mapping[str, T] = {}
        self.synced = False
        """Whether `items` were complete at least once; a kind that does not exist yet has none."""
        self._kube = kube
        self._path = path
        self._type = type_
        self._log = log
        self._query = dict(query or {})
        self._bells: list[Bell] = []
        self._pause = FIRST_PAUSE

    def wakes(self, *bells: Bell) -> None:
        self._bells += bells

    async def run(self) -> None:
        clock = asyncio.get_running_loop()
        while True:
            began = clock.time()
            await self._try()
            # What held for a while is no reason to be slow now. Where only lists are allowed, we look this often.
            self._pause = FIRST_PAUSE if clock.time() - began > LONGEST_PAUSE else min(LONGEST_PAUSE, self._pause * 2)
            await asyncio.sleep(self._pause * random.uniform(0.5, 1.0))  # noqa: S311 - not in step with the others

    async def _try(self) -> None:
        """List and follow until something goes wrong."""
        try:
            version = await self._list()
            while version:
                version = await self._follow(version)
        except Refused as refusal:
            if refusal.status == NOT_FOUND:
                self._replace({})
            self._log.once(self._path, f"Watching {self._path} has to wait: {refusal}.")
        except Unreachable as trouble:
            self._log.once(self._path, f"Watching {self._path} broke off and starts over: {trouble}.")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as nonsense:
            self._log.once(self._path, f"Watching {self._path} brought something else than changes: {nonsense}.")
        except Exception as surprise:
            self._log.failure(f"Watching {self._path} failed in a way nobody foresaw and starts over.", surprise)

    async def _list(self) -> str:
        """Replace everything; from which version on to watch."""
        found: dict[str, T] = {}
        query = {**self._query, "limit": str(PAGE)}
        while True:
            page = await self._kube.read(_Listed, self._path, query=query)
            for raw in page.items or ():
                self._put(found, raw)
            if not page.metadata.next:
                break
            query["continue"] = page.metadata.next
        self._replace(found)
        return page.metadata.resource_version

    async def _follow(self, version: str) -> str:
        """Take changes until the server ends the watch; where to go on, or nothing to list anew."""
        query = {
            **self._query,
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        clock = asyncio.get_running_loop()
        began = clock.time()
        async with self._kube.stream(self._path, query=query, silence_limit=SILENCE_SECONDS) as answer:
            if answer.status_code >= ERRORS_FROM:
                if answer.status_code == GONE:
                    return ""
                raise self._kube.refused(answer.status_code, await answer.aread())
            async for line in lines(answer):
                event = msgspec.json.decode(line, type=_Event)
                if event.type == "ERROR":
                    failure = msgspec.json.decode(event.object, type=_Failure)
                    if failure.code == GONE:
                        return ""
                    raise self._kube.refused(failure.code, bytes(event.object))
                version = self._take(event) or version
        # A server ends a watch when its time is over; one that ends it at once is not asked again at once.
        return version if clock.time() - began >= SHORTEST_WATCH else ""

    def _take(self, event: _Event) -> str:
        if event.type == "BOOKMARK":
            return msgspec.json.decode(event.object, type=KubeObject).metadata.resource_version
        items = dict(self.items)
        which = msgspec.json.decode(event.object, type=KubeObject)
        if event.type == "DELETED":
            items.pop(which.key, None)
        else:
            self._put(items, event.object)
        self._replace(items)
        return which.metadata.resource_version

    def _put(self, into: dict[str, T], raw: msgspec.Raw) -> None:
        try:
            one = msgspec.json.decode(raw, type=self._type)
        except msgspec.ValidationError as reason:
            self._log.once(f"{self._path}!", f"An object of {self._path} cannot be understood: {reason}.")
        else:
            into[one.key] = one

    def _replace(self, items: Mapping[str, T]) -> None:
        changed = items != self.items or not self.synced
        self.items = items
        self.synced = True
        if changed:
            for bell in self._bells:
                bell.ring()
