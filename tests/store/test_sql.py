"""Parameters are found where they are and nowhere else; every statement of the service fits both databases."""

import importlib
import pkgutil
import sqlite3
from pathlib import Path

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import firstlight.server.store
from firstlight.server.ports.sql import KNOWN, Sql
from firstlight.server.store.places import place
from firstlight.server.store.sqlite import connect


@pytest.mark.parametrize(
    ("text", "postgres", "names"),
    [
        ("SELECT 1", "SELECT 1", ()),
        ("a = :a AND b = :b AND c = :a", "a = $1 AND b = $2 AND c = $1", ("a", "b")),
        ("x = :x::bigint", "x = $1::bigint", ("x",)),
        ("now()::text, :x", "now()::text, $1", ("x",)),
        ("':a' || :b || 'it''s :c'", "':a' || $1 || 'it''s :c'", ("b",)),
        ("E'\\':a' || :b", "E'\\':a' || $1", ("b",)),
        ('":a" = :b', '":a" = $1', ("b",)),
        ("a := :b", "a := $1", ("b",)),
        ("a:=:b", "a:=$1", ("b",)),
        ("-- :a\n:b", "-- :a\n$1", ("b",)),
        ("/* :a\n:c */ :b", "/* :a\n:c */ $1", ("b",)),
        ("$$ :a $$, $x$ :b $$ $x$, :c", "$$ :a $$, $x$ :b $$ $x$, $1", ("c",)),
        ("list[1:2], list[lo:hi], (:a)", "list[1:2], list[lo:hi], ($1)", ("a",)),
        ("(:a,:b)", "($1,$2)", ("a", "b")),
        ("=:a_1", "=$1", ("a_1",)),
        (":ab :a", "$1 $2", ("ab", "a")),
    ],
)
def test_parameters_are_numbered(text: str, postgres: str, names: tuple[str, ...]) -> None:
    sql = Sql(text)
    assert (sql.postgres, sql.names, sql.sqlite) == (postgres, names, text)


OPAQUE = st.sampled_from(
    ["':x'", '":x"', "/*:x*/", "::text", "--:x\n", "$$:x$$", "$a$:x$a$", "E'\\':x'", ":=", "7", "f(", ")", ","]
)
PIECES = st.lists(st.one_of(OPAQUE, st.sampled_from("abcd").map(lambda name: f" :{name} ")))


@given(pieces=PIECES)
def test_only_parameters_change(pieces: list[str]) -> None:
    text = " ".join(["SELECT", *pieces])
    sql = Sql(text)
    back = sql.postgres
    for number, name in reversed(list(enumerate(sql.names, 1))):
        back = back.replace(f"${number} ", f":{name} ")
    assert back == text
    assert list(sql.names) == list(dict.fromkeys(piece.strip(" :") for piece in pieces if piece.startswith(" :")))


def test_lists_are_json_for_sqlite() -> None:
    sql = Sql("SELECT 1 WHERE a = ANY(:a) AND b <> all ( :b ) AND c = :c")
    assert sql.postgres == "SELECT 1 WHERE a = ANY($1) AND b <> all ( $2 ) AND c = $3"
    assert sql.sqlite == (
        "SELECT 1 WHERE a IN (SELECT value FROM json_each(:a))"
        " AND b NOT IN (SELECT value FROM json_each(:b)) AND c = :c"
    )
    assert sql.for_sqlite({"a": ["x", 'y"'], "b": [1], "c": "z"}) == {"a": '["x","y\\""]', "b": "[1]", "c": "z"}


def test_variants_need_both_texts() -> None:
    sql = Sql(postgres="SELECT :b, :a", sqlite="SELECT :a, :b")
    assert sql.for_postgres({"a": 1, "b": 2, "more": 3}) == [2, 1]
    for texts in ({}, {"postgres": "SELECT 1"}, {"sqlite": "SELECT 1"}):
        with pytest.raises(ValueError, match="each database"):
            Sql(**texts)


def test_batches_become_columns() -> None:
    sql = Sql(
        "INSERT INTO t VALUES (:a, :b)", postgres_many="INSERT INTO t SELECT * FROM unnest(:b::text[], :a::bigint[])"
    )
    assert sql.postgres_many == "INSERT INTO t SELECT * FROM unnest($1::text[], $2::bigint[])"
    assert sql.columns([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]) == [["x", "y"], [1, 2]]


def known() -> list[Sql]:
    """Every statement of the package: SQL lives in `store` and nowhere else."""
    for module in pkgutil.walk_packages(firstlight.server.store.__path__, "firstlight.server.store."):
        if ".migrations." not in module.name:
            importlib.import_module(module.name)
    assert KNOWN
    return KNOWN


def test_every_statement_prepares_on_sqlite(sqlite_url: str) -> None:
    target = place(sqlite_url)
    connection = connect(getattr(target, "path", Path()), read_only=False)
    for sql in known():
        names = dict.fromkeys(sql.names, "[]")
        try:
            connection.execute(f"EXPLAIN {sql.sqlite}", names)
        except sqlite3.Error as error:
            pytest.fail(f"{sql.module}: {sql}: {error}")
    connection.close()


@pytest.mark.anyio
async def test_every_statement_prepares_on_postgresql(server_url: str) -> None:
    connection = await asyncpg.connect(server_url)
    for sql in known():
        for text in filter(None, (sql.postgres, sql.postgres_many)):
            try:
                await connection.prepare(text)
            except asyncpg.PostgresError as error:
                pytest.fail(f"{sql.module}: {text}: {error}")
    await connection.close()
