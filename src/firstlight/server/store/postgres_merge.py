"""Several statements of a commit in one trip: PostgreSQL runs data-modifying WITH parts together.

Parts do not see each other's changes, so only statements on different tables that read nothing else are put together;
any other begins a trip of its own. Their order in time is then nobody's concern.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from firstlight.server.ports.database import Notify, Param, Statement

TARGET: Final = re.compile(r"\s*(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)", re.IGNORECASE)
READS_ELSEWHERE: Final = re.compile(r"\bSELECT\b(?!.*\bFROM\s+unnest\()|\bEXISTS\b|\bRETURNING\b", re.I | re.S)
NUMBER: Final = re.compile(r"\$(\d+)")

Item = Statement | Notify


def text_of(item: Statement) -> str:
    return item.sql.postgres if item.rows is None else item.sql.postgres_many


@lru_cache(maxsize=256)
def table_of(text: str) -> str | None:
    """The table a statement changes; None when it may not share a trip."""
    found = TARGET.match(text)
    return None if found is None or READS_ELSEWHERE.search(text) else found[1].lower()


def trips(work: Iterable[Item]) -> Iterator[list[Item]]:
    """The work in order, cut into pieces that can go together."""
    trip: list[Item] = []
    tables: set[str] = set()
    for item in work:
        table = "" if isinstance(item, Notify) else table_of(text_of(item)) if item.rows is None or item.rows else None
        if table is None or table in tables:
            if trip:
                yield trip
            trip, tables = [], set()
        if table is None:
            yield [item]
            continue
        trip.append(item)
        if table:
            tables.add(table)
    if trip:
        yield trip


@lru_cache(maxsize=512)
def _merged_text(parts: tuple[tuple[str, int], ...], notices: int) -> str:
    """`parts` are the texts with the number of their parameters; each notice takes two more."""
    clauses: list[str] = []
    used = 0
    for place, (text, count) in enumerate(parts):
        shifted = NUMBER.sub(lambda match, by=used: f"${int(match[1]) + by}", text)
        clauses.append(f"s{place} AS ({shifted} RETURNING 1)")
        used += count
    # The texts are this package's own constants; only places are filled in.
    counts = [f"(SELECT count(*) FROM s{place}) AS c{place}" for place in range(len(parts))]  # noqa: S608
    told = [f"pg_notify(${used + 2 * place + 1}, ${used + 2 * place + 2}) AS n{place}" for place in range(notices)]
    return f"WITH {', '.join(clauses)} SELECT {', '.join((*counts, *told))}"


def merged(trip: Sequence[Item]) -> tuple[str, list[object]]:
    """One statement for all of the trip: its answer counts the rows of each part, in order."""
    statements = [item for item in trip if isinstance(item, Statement)]
    notices = [item for item in trip if isinstance(item, Notify)]
    arguments: list[object] = []
    parts: list[tuple[str, int]] = []
    for item in statements:
        own: Sequence[Param] | Sequence[list[Param]]
        own = item.sql.for_postgres(item.params) if item.rows is None else item.sql.columns(item.rows)
        arguments.extend(own)
        parts.append((text_of(item), len(own)))
    for notice in notices:
        arguments.extend((notice.channel, notice.payload))
    return _merged_text(tuple(parts), len(notices)), arguments
