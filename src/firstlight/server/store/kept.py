"""Documents of one table, read by version: what is cached is not even fetched.

The reader first asks which versions there are (narrow columns), then comes here for the documents.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from firstlight.server.ports.database import Database, Row, Sql
from firstlight.server.store.cache import Cache

T = TypeVar("T")

Identity = tuple[str, ...]
"""The values of the key columns."""

SLICE_BYTES: Final = 400_000
"""Decoded in one go, some milliseconds; then the loop has its turn."""
MANY_ROWS: Final = 50


class Kept(Generic[T]):
    def __init__(self, sql: Sql, keys: Mapping[str, str], decode: Callable[[Row], T], *, limit: int) -> None:
        """`sql` gives the key columns, `version` and `doc`; `keys` names the list parameter of each key column."""
        self._sql = sql
        self._keys = dict(keys)
        self._decode = decode
        self._cache: Cache[tuple[T, bytes]] = Cache(limit=limit)

    def get(self, row: Identity, version: object) -> T | None:
        found = self._cache.get(row, version)
        return None if found is None else found[0]

    def recalled(self, row: Identity) -> T | None:
        """The value that was met last, of whatever version."""
        found = self._cache.any_version(row)
        return None if found is None else found[0]

    def keep(self, row: Identity, found: Row) -> T:
        """The value to use: an older version with the same bytes lends its object."""
        document: bytes = found["doc"]
        old = self._cache.any_version(row)
        value = old[0] if old is not None and old[1] == document else self._decode(found)
        self._cache.put(row, found["version"], (value, document), size=len(document))
        return value

    def remember(self, row: Identity, version: object, value: T, document: bytes) -> None:
        """This very value has just been written: it need not be read back. The same bytes keep their object."""
        old = self._cache.any_version(row)
        value = old[0] if old is not None and old[1] == document else value
        self._cache.put(row, version, (value, document), size=len(document))

    def renumber(self, row: Identity, version: object, *, later: object) -> None:
        """The row was written again as it was; only its version moved."""
        found = self._cache.get(row, version)
        if found is not None:
            self._cache.put(row, later, found, size=len(found[1]))

    def decoded(self, row: Row) -> T:
        return self._decode(row)

    async def load(self, database: Database, wanted: Mapping[Identity, object]) -> "Loaded[T]":
        values: dict[Identity, T] = {}
        missing: list[Identity] = []
        for row, version in wanted.items():
            found = self._cache.get(row, version)
            if found is None:
                missing.append(row)
            else:
                values[row] = found[0]
        torn = await self._fetch(database, missing, wanted, values) if missing else False
        return Loaded(values, torn=torn)

    async def _fetch(
        self,
        database: Database,
        missing: list[Identity],
        wanted: Mapping[Identity, object],
        values: dict[Identity, T],
    ) -> bool:
        lists: dict[str, list[str]] = {
            name: sorted({row[place] for row in missing}) for place, name in enumerate(self._keys.values())
        }
        asked = set(missing)
        torn, since = False, 0
        for found in await database.fetch(self._sql, large=len(missing) > MANY_ROWS, **lists):
            row = tuple(str(found[column]) for column in self._keys)
            if row not in asked:
                continue
            values[row] = self.keep(row, found)
            torn = torn or found["version"] != wanted[row]
            since += len(found["doc"])
            if since > SLICE_BYTES:
                since = 0
                await asyncio.sleep(0)
        return torn or any(row not in values for row in missing)


class Loaded(Generic[T]):
    """What was found. `torn`: something was written between the two reads; use it, but do not build caches on it."""

    def __init__(self, values: Mapping[Identity, T], *, torn: bool) -> None:
        self.values = values
        self.torn = torn

    def get(self, row: Identity) -> T | None:
        return self.values.get(row)


def decoding(decode: Callable[[bytes], T]) -> Callable[[Row], T]:
    def of(row: Row) -> T:
        document: Any = row["doc"]
        return decode(document)

    return of
