"""INSERT statements that work for one row and, on PostgreSQL, for a whole batch in one round trip."""

from collections.abc import Mapping
from typing import Final

from firstlight.server.ports.sql import Sql

ONE: Final = "INSERT INTO {table} ({names}) VALUES ({values}) {then}"
MANY: Final = "INSERT INTO {table} ({names}) SELECT {values} FROM unnest({arrays}) AS batch ({columns}) {then}"


def insert(table: str, columns: Mapping[str, str], *, fixed: Mapping[str, str] | None = None, then: str = "") -> Sql:
    """`columns`: name and PostgreSQL type, bound by name; `fixed`: name and SQL expression; `then`: ON CONFLICT ….

    Everything here is text of this package, never a value.
    """
    expressions = fixed or {}
    names = ", ".join((*columns, *expressions))
    return Sql(
        ONE.format(
            table=table,
            names=names,
            values=", ".join((*(f":{column}" for column in columns), *expressions.values())),
            then=then,
        ),
        postgres_many=MANY.format(
            table=table,
            names=names,
            values=", ".join((*(f"batch.{column}" for column in columns), *expressions.values())),
            arrays=", ".join(f":{column}::{kind}[]" for column, kind in columns.items()),
            columns=", ".join(columns),
            then=then,
        ),
    )
