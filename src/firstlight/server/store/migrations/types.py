"""The columns of every table, so that both databases store and sort alike."""

from typing import Any, Final

import sqlalchemy as sa

TEXT: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""Byte order on both databases; PostgreSQL's own order follows the locale and is slower."""
INTEGER: Final = sa.BigInteger()
"""Every number, flag (0, 1) and time (microseconds since 1970, UTC)."""
SERIAL: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""A numeric primary key; SQLite keeps the rows in this order when the type is called INTEGER."""
BYTES: Final = sa.LargeBinary()

Kind = sa.types.TypeEngine[str] | sa.types.TypeEngine[int] | sa.types.TypeEngine[bytes]


def required(name: str, kind: Kind = TEXT, *, key: bool = False) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=key, nullable=False, autoincrement=False)


def optional(name: str, kind: Kind = TEXT) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=True)
