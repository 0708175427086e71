"""Several statements of a commit in one trip: PostgreSQL runs data-modifying WITH parts together.

Parts do not see each other's changes, so only statements on different tables that read nothing else are put together;
any other begins a trip of its own. The answer counts the rows of each part, in the order of the work, which is also the
order in which the parts run and lock. A part that touches another number of rows than it must fails the statement.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from firstlight.server.ports.database import Notify, Param, Statement
from firstlight.server.store.postgres_notices import CHANNEL, payloads

OWN_COUNTER: Final = re.compile(r"\s*WITH\s+(last)\s+AS\s+\((.*?RETURNING\s+value)\)\s*(.*)", re.IGNORECASE | re.DOTALL)
"""Events take their numbers from a counter that the same statement raises first."""
TARGET: Final = re.compile(r"\s*(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)", re.IGNORECASE)
READS_ELSEWHERE: Final = re.compile(
    r"\bSELECT\b(?!.*\bFROM\s+(?:unnest\(|last\b))|\bEXISTS\b|\bRETURNING\b", re.IGNORECASE | re.DOTALL
)
NUMBER: Final = re.compile(r"\$(\d+)")
LOST: Final = re.compile(r"lost part (\d+) of this commit")
RELAXED: Final = "set_config('synchronous_commit', 'off', true)"
"""For the transaction it is called in: a power cut may lose it."""

Item = Statement | Notify


class Trip(Struct, frozen=True):
    """Work that goes together, and its one statement; none when the only item has to go row by row."""

    items: Sequence[Item]
    text: str = ""
    arguments: Sequence[object] = ()

    def counts(self, row: Iterable[int]) -> list[int]:
        """The rows each item touched, from the statement's answer."""
        touched = iter(row)
        return [0 if isinstance(item, Notify) else next(touched) for item in self.items]

    def loser(self, *, message: str = "", table: str | None = None) -> Statement | None:
        """Which item an error is about, by the text our own check raises or by the table the server names."""
        parts = [item for item in self.items if isinstance(item, Statement)]
        found = LOST.search(message)
        if found is not None:
            return parts[int(found[1])]
        return next((item for item in parts if len(parts) == 1 or table_of(text_of(item)) == table), None)


class _Part(Struct, frozen=True):
    text: str
    parameters: int
    checked: bool
    """One more parameter says how many rows it must touch."""


def text_of(item: Statement) -> str:
    return item.sql.postgres if item.rows is None else item.sql.postgres_many


@lru_cache(maxsize=256)
def table_of(text: str) -> str | None:
    """The table a statement changes; None when it may not share a trip."""
    counted = OWN_COUNTER.fullmatch(text)
    body = text if counted is None else counted[3]
    found = TARGET.match(body)
    return None if found is None or READS_ELSEWHERE.search(body) else found[1].lower()


def trips(work: Iterable[Item], *, relaxed: bool = False) -> list[Trip]:
    """The work in order, cut into pieces that can go together."""
    made: list[Trip] = []
    together: list[Item] = []
    tables: set[str] = set()
    for item in work:
        table = "" if isinstance(item, Notify) else table_of(text_of(item)) if item.rows is None or item.rows else None
        if table is None or table in tables:
            if together:
                made.append(merged(together, relaxed=relaxed))
            together, tables = [], set()
        if table is None:
            made.append(Trip([item]))
            continue
        together.append(item)
        if table:
            tables.add(table)
    if together:
        made.append(merged(together, relaxed=relaxed))
    return made


def merged(items: Sequence[Item], *, relaxed: bool) -> Trip:
    arguments: list[object] = []
    parts: list[_Part] = []
    notices = [item for item in items if isinstance(item, Notify)]
    for item in items:
        if isinstance(item, Notify):
            continue
        own: Sequence[Param] | Sequence[list[Param]]
        own = item.sql.for_postgres(item.params) if item.rows is None else item.sql.columns(item.rows)
        arguments.extend(own)
        if item.expect_rows is not None:
            arguments.append(item.expect_rows)
        parts.append(_Part(text_of(item), len(own), item.expect_rows is not None))
    told = list(payloads(notices))
    arguments.extend(told)
    return Trip(items, _merged_text(tuple(parts), len(told), relaxed=relaxed), arguments)


@lru_cache(maxsize=512)
def _merged_text(parts: tuple[_Part, ...], notices: int, *, relaxed: bool) -> str:
    """The texts are this package's own constants; only places are filled in."""
    clauses: list[str] = []
    wanted: list[str] = []
    used = 0
    for place, part in enumerate(parts):
        shifted = NUMBER.sub(lambda match, by=used: f"${int(match[1]) + by}", part.text)
        counted = OWN_COUNTER.fullmatch(shifted)
        if counted is not None:
            clauses.append(f"{counted[1]} AS ({counted[2]})")
            shifted = counted[3]
        clauses.append(f"s{place} AS ({shifted} RETURNING 1)")
        used += part.parameters + part.checked
        wanted.append(_counted(place, f"${used}" if part.checked else ""))
    wanted.extend(f"pg_notify('{CHANNEL}', ${used + place})" for place in range(1, notices + 1))
    wanted.extend((RELAXED,) if relaxed else ())
    head = f"WITH {', '.join(clauses)} " if clauses else ""
    return f"{head}SELECT {', '.join(wanted)}"


def _counted(place: int, expected: str) -> str:
    """The number of rows of a part. Another number than expected is made an error that names the part."""
    count = "count(*)"
    if expected:
        error = f"CAST('lost part {place} of this commit: ' || count(*) AS bigint)"
        count = f"CASE WHEN count(*) = CAST({expected} AS bigint) THEN count(*) ELSE {error} END"
    return f"(SELECT {count} FROM s{place})"  # noqa: S608 -- no value in it
