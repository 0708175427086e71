"""SQL text with `:name` parameters, turned once at import into what each database wants.

One text serves both databases wherever their dialects agree; the few that differ carry a variant. Two things
are translated on the way: parameters (`$1` for PostgreSQL) and lists, written `x = ANY(:names)` or
`x <> ALL(:names)`, which SQLite reads from a JSON array. The function `now_us()` (microseconds since 1970, by the
database's own clock) exists on both.
"""

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

JSON: Final = msgspec.json.Encoder()

Param = str | int | float | bytes | None | Sequence[str] | Sequence[int]
"""What may be bound: text, numbers, bytes, NULL, and lists where the text says ANY or ALL."""

# Everything in which a colon is not ours comes before the parameter itself: the first branch that fits wins.
TOKEN: Final = re.compile(
    r"""
      [eE]'(?:\\.|''|[^'\\])*'            # PostgreSQL escape string
    | '(?:''|[^'])*'                      # string
    | "(?:""|[^"])*"                      # quoted name
    | --[^\n]*                            # comment to the end of the line
    | /\*.*?\*/                           # comment
    | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$     # dollar-quoted string
    | ::                                  # cast
    | :=                                  # assignment
    | (?<![\w\]]):(?P<name>[A-Za-z_]\w*)  # parameter, but not the upper bound of an array slice
    """,
    re.VERBOSE | re.DOTALL,
)
ANY_OF: Final = re.compile(r"=\s*ANY\s*\(\s*:(\w+)\s*\)", re.IGNORECASE)
NONE_OF: Final = re.compile(r"<>\s*ALL\s*\(\s*:(\w+)\s*\)", re.IGNORECASE)

KNOWN: Final[list["Sql"]] = []
"""Every statement of the package itself, so that a test can prepare each on both databases."""


class Sql:
    """One statement. Make it a module constant: creating it costs a parse, using it costs nothing."""

    __slots__ = ("lists", "many_names", "module", "names", "postgres", "postgres_many", "sqlite")

    sqlite: str
    """For sqlite3: `:name` parameters."""
    postgres: str
    """For asyncpg: `$n`, in the order of `names`."""
    postgres_many: str
    """For a batch on PostgreSQL in one round trip: each parameter is the array of its column. Empty: row by row."""
    names: tuple[str, ...]
    many_names: tuple[str, ...]
    lists: frozenset[str]

    def __init__(self, common: str = "", *, postgres: str = "", sqlite: str = "", postgres_many: str = "") -> None:
        self.postgres, self.names = numbered(postgres or common)
        self.postgres_many, self.many_names = numbered(postgres_many)
        self.lists = frozenset(ANY_OF.findall(sqlite or common) + NONE_OF.findall(sqlite or common))
        text = ANY_OF.sub(r"IN (SELECT value FROM json_each(:\1))", sqlite or common)
        self.sqlite = NONE_OF.sub(r"NOT IN (SELECT value FROM json_each(:\1))", text)
        if not self.postgres or not self.sqlite:
            raise ValueError("a statement needs one common text, or a text for each database")
        here = inspect.currentframe()
        caller = here and here.f_back
        self.module = str(caller.f_globals.get("__name__", "")) if caller else ""
        if self.module.startswith("firstlight."):
            KNOWN.append(self)

    def __repr__(self) -> str:
        return f"Sql({' '.join(self.sqlite.split())!r})"

    def for_sqlite(self, params: Mapping[str, Param]) -> Mapping[str, Param]:
        if not self.lists:
            return params
        return {**params, **{name: JSON.encode(params[name]).decode() for name in self.lists}}

    def for_postgres(self, params: Mapping[str, Param]) -> list[Param]:
        return [params[name] for name in self.names]

    def columns(self, rows: Sequence[Mapping[str, Param]]) -> list[list[Param]]:
        """The parameters of `postgres_many`."""
        return [[row[name] for row in rows] for name in self.many_names]


def numbered(text: str) -> tuple[str, tuple[str, ...]]:
    names: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        name = match["name"]
        return f"${names.setdefault(name, len(names) + 1)}" if name else match[0]

    return TOKEN.sub(number, text), tuple(names)
