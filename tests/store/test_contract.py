"""What every database promises, tried on each with the same tests."""

import asyncio
import time

import pytest

from firstlight.core.errors import Conflict, Unavailable
from firstlight.server.ports.database import Database, LostRace, Notify, Sql, Statement
from firstlight.server.store.connect import open_database
from tests.store.rows import (
    ADD_SECRET,
    CHECK_IN,
    CLAIM,
    DROP_SECRETS,
    DUE,
    EVENTS,
    PRESENCE,
    SECRET,
    SECRETS,
    SECRETS_NOT_OF,
    SECRETS_OF,
    SET_SECRET,
    add_secret,
    events,
)

pytestmark = pytest.mark.anyio


async def subjects(database: Database) -> list[str]:
    return [row["subject"] for row in await database.fetch(SECRETS)]


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [b"", b"\0\xff", bytes(range(256)) * 200])
async def test_bytes_come_back_as_they_went(database: Database, value: bytes) -> None:
    assert await database.commit(add_secret("a", value=value)) == (1,)
    row = await database.fetch_one(SECRET, subject="a", name="n")
    assert row is not None
    assert row["value"] == value
    assert type(row["value"]) is bytes


@pytest.mark.parametrize("text", ["", "ünï 😀", "it's", "a:b ::c $1", "x" * 10_000, "-- no comment", "%s {}"])
async def test_text_comes_back_as_it_went(database: Database, text: str) -> None:
    await database.commit(add_secret("a", name=text))
    assert [row["name"] for row in await database.fetch(SECRETS)] == [text]


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63 - 1, -(2**63), None])
async def test_numbers_have_64_bits_and_null_stays_null(database: Database, number: int | None) -> None:
    row = {"infra_env_id": "e", "host_id": "h", "checked_in_at": 1, "clock_offset_ms": number, "agent_version": None}
    await database.commit(Statement(CHECK_IN, row))
    found = await database.fetch_one(PRESENCE)
    assert found is not None
    assert (found["clock_offset_ms"], found["agent_version"]) == (number, None)


async def test_text_sorts_by_its_bytes(database: Database) -> None:
    names = ["a", "B", "ä", "_", "aa", "Z", "-", "10", "9"]
    await database.commit(*(add_secret(name) for name in names))
    assert await subjects(database) == sorted(names)


async def test_the_clock_counts_microseconds(database: Database) -> None:
    now = Sql("SELECT now_us() AS now")
    row = await database.fetch_one(now)
    assert row is not None
    assert abs(row["now"] - time.time_ns() // 1000) < 60_000_000


# --- reading ----------------------------------------------------------------------------------------------------------


async def test_one_row_or_none(database: Database) -> None:
    assert await database.fetch_one(SECRETS) is None
    assert list(await database.fetch(SECRETS)) == []
    await database.commit(add_secret("a"), add_secret("b"))
    row = await database.fetch_one(SECRETS)
    assert row is not None
    assert row["subject"] == "a"


async def test_lists_match_any_or_none(database: Database) -> None:
    await database.commit(*(add_secret(name) for name in ("a", "b", "c")))
    for wanted, found, rest in (
        (["a", "c", "x"], ["a", "c"], ["b"]),
        ([], [], ["a", "b", "c"]),
        (["'"], [], ["a", "b", "c"]),
    ):
        assert [row["subject"] for row in await database.fetch(SECRETS_OF, subjects=wanted)] == found
        assert [row["subject"] for row in await database.fetch(SECRETS_NOT_OF, subjects=wanted, large=True)] == rest


async def test_large_reads_see_every_commit_before_them(database: Database) -> None:
    for number in range(20):
        await database.commit(add_secret(f"{number:02}", value=bytes(10_000)))
        assert len(await database.fetch(SECRETS, large=True)) == number + 1


async def test_a_missing_parameter_is_our_mistake_not_the_databases(database: Database) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 -- each driver has its own class for it
        await database.fetch(SECRET, subject="a")
    assert not isinstance(caught.value, Unavailable)
    with pytest.raises(Exception) as caught:  # noqa: PT011
        await database.commit(add_secret("kept"), Statement(Sql("INSERT INTO no_such_table VALUES (1)")))
    assert not isinstance(caught.value, Unavailable | Conflict)
    assert await subjects(database) == []


# --- committing -------------------------------------------------------------------------------------------------------


async def test_counts_come_one_per_argument(database: Database) -> None:
    await database.commit(add_secret("a"), add_secret("a", name="m"), add_secret("b"))
    change = Statement(SET_SECRET, {"subject": "a", "value": b"w"})
    drop = Statement(DROP_SECRETS, {"subject": "none"})
    assert await database.commit(change, Notify("c"), drop) == (2, 0, 0)
    assert await database.commit(change) == (2,)
    assert await database.commit(Notify("c")) == (0,)
    assert await database.commit() == ()


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize(("expected", "kept"), [(1, False), (2, True), (3, False), (0, False)])
async def test_another_number_of_rows_undoes_everything(
    database: Database, expected: int, kept: bool, relaxed: bool
) -> None:
    await database.commit(add_secret("a"), add_secret("a", name="m"))
    change = Statement(SET_SECRET, {"subject": "a", "value": b"new"}, expect_rows=expected)
    for work in ((add_secret("before"), change, add_secret("after")), (change,)):
        if kept:
            await database.commit(*work, relaxed=relaxed)
        else:
            with pytest.raises(LostRace) as caught:
                await database.commit(*work, relaxed=relaxed)
            assert caught.value.statement is change
    assert ("before" in await subjects(database)) is kept
    assert ("after" in await subjects(database)) is kept
    row = await database.fetch_one(SECRET, subject="a", name="m")
    assert row is not None
    assert row["value"] == (b"new" if kept else b"v")


async def test_a_key_that_exists_is_a_lost_race(database: Database) -> None:
    await database.commit(add_secret("a"))
    with pytest.raises(LostRace) as caught:
        await database.commit(add_secret("b"), taken := add_secret("a"))
    assert caught.value.statement is taken
    with pytest.raises(LostRace):
        await database.commit(add_secret("a"))
    assert await subjects(database) == ["a"]


async def test_one_loser_does_not_sink_its_neighbours(database: Database) -> None:
    """All at once, so that the drivers may join them: every third fails after it has written something."""

    async def attempt(number: int) -> bool:
        subject = f"{number:03}"
        expected = 1 if number % 3 else 7
        try:
            await database.commit(
                add_secret(subject), Statement(SET_SECRET, {"subject": subject, "value": b"w"}, expect_rows=expected)
            )
        except LostRace:
            return False
        return True

    done = await asyncio.gather(*(attempt(number) for number in range(150)))
    assert done == [bool(number % 3) for number in range(150)]
    assert await subjects(database) == [f"{number:03}" for number in range(150) if number % 3]


async def test_only_one_of_many_wins_a_revision(database: Database) -> None:
    bump = Sql("UPDATE counters SET value = value + 1 WHERE name = 'r' AND value = :seen")
    await database.commit(Statement(Sql("INSERT INTO counters (name, value) VALUES ('r', 0)")))

    async def attempt() -> bool:
        try:
            await database.commit(Statement(bump, {"seen": 0}, expect_rows=1), add_secret("won"))
        except LostRace:
            return False
        return True

    assert sum(await asyncio.gather(*(attempt() for _ in range(20)))) == 1
    assert await subjects(database) == ["won"]


@pytest.mark.parametrize("count", [0, 1, 2, 1200])
@pytest.mark.parametrize("relaxed", [False, True])
async def test_batches(database: Database, count: int, relaxed: bool) -> None:
    def rows(version: str) -> list[dict[str, str | int | None]]:
        return [
            {
                "infra_env_id": "e",
                "host_id": f"{number:04}",
                "checked_in_at": number,
                "clock_offset_ms": None if number % 2 else number,
                "agent_version": version,
            }
            for number in range(count)
        ]

    assert await database.commit(Statement(CHECK_IN, rows=rows("1")), relaxed=relaxed) == (count,)
    assert await database.commit(Statement(CHECK_IN, rows=rows("2"), expect_rows=count), relaxed=relaxed) == (count,)
    found = await database.fetch(PRESENCE, large=True)
    assert [(row["host_id"], row["checked_in_at"], row["clock_offset_ms"], row["agent_version"]) for row in found] == [
        (row["host_id"], row["checked_in_at"], row["clock_offset_ms"], "2") for row in rows("2")
    ]


async def test_a_batch_row_by_row_counts_what_it_touched(database: Database) -> None:
    new = [{"subject": name, "name": "n", "value": b"1"} for name in ("a", "b", "c")]
    assert await database.commit(Statement(ADD_SECRET, rows=new, expect_rows=3)) == (3,)
    change = [{"subject": name, "value": b"2"} for name in ("a", "x", "c")]
    assert await database.commit(Statement(SET_SECRET, rows=change)) == (2,)
    with pytest.raises(LostRace):
        await database.commit(Statement(SET_SECRET, rows=change, expect_rows=3))
    with pytest.raises(LostRace):
        await database.commit(Statement(ADD_SECRET, rows=[{**new[0], "subject": "d"}, new[1]]))
    assert await subjects(database) == ["a", "b", "c"]


# --- claims -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relaxed", [False, True])
async def test_every_due_row_is_claimed_once(database: Database, relaxed: bool) -> None:
    await database.commit(Statement(DUE, rows=[{"subject": f"{number:02}", "at": 5} for number in range(30)]))
    await database.commit(Statement(DUE, {"subject": "00", "at": 9}), Statement(DUE, {"subject": "later", "at": 2**60}))
    claims = await asyncio.gather(*(database.claim(CLAIM, owner="me", number=7, relaxed=relaxed) for _ in range(8)))
    taken = sorted((row["subject"], row["generation"]) for rows in claims for row in rows)
    assert taken == [(f"{number:02}", 1 if number else 2) for number in range(30)]
    assert list(await database.claim(CLAIM, owner="me", number=7)) == []


# --- the sequence of events -------------------------------------------------------------------------------------------


async def test_a_reader_never_sees_a_gap_in_the_sequence(database: Database) -> None:
    async def write(writer: int) -> None:
        for number in range(15):
            work = (add_secret(f"{writer}-{number}"), *events(f"{writer}-{number}-a", f"{writer}-{number}-b"))
            if number % 5 == 4:
                with pytest.raises(LostRace):
                    await database.commit(*work, Statement(DROP_SECRETS, {"subject": "none"}, expect_rows=1))
            else:
                await database.commit(*work)

    writing = asyncio.gather(*(write(number) for number in range(6)))
    looks = 0
    while not writing.done():
        seen = [row["seq"] for row in await database.fetch(EVENTS)]
        assert seen == list(range(1, len(seen) + 1))
        looks += 1
        await asyncio.sleep(0)
    await writing
    rows = await database.fetch(EVENTS)
    assert [row["seq"] for row in rows] == list(range(1, 6 * 12 * 2 + 1))
    assert all(
        first["message"][:-1] == second["message"][:-1] for first, second in zip(rows[::2], rows[1::2], strict=True)
    )
    assert looks > 1


# --- notices ----------------------------------------------------------------------------------------------------------


async def test_notices_follow_the_commit_and_only_a_commit(database: Database) -> None:
    async with database.subscribe("c") as notices, database.subscribe("other") as other:
        assert await anext(notices) == ""
        assert await anext(other) == ""
        with pytest.raises(LostRace):
            await database.commit(Notify("c", "never"), Statement(DROP_SECRETS, {"subject": "none"}, expect_rows=1))
        await database.commit(add_secret("a"), Notify("c", "first"), Notify("c", "ünï"), Notify("other", "o"))
        assert await anext(notices) == "first"
        assert await subjects(database) == ["a"]
        assert await anext(notices) == "ünï"
        await database.notify("c", "alone")
        assert await anext(notices) == "alone"
        assert await anext(other) == "o"


async def test_every_reader_hears_and_a_closed_one_ends(database: Database) -> None:
    first, second = database.subscribe("c"), database.subscribe("c")
    assert [await anext(first), await anext(second)] == ["", ""]
    await database.notify("c", "1")
    assert [await anext(first), await anext(second)] == ["1", "1"]
    waiting = asyncio.ensure_future(anext(first, "end"))
    await asyncio.sleep(0)
    await first.aclose()
    assert await waiting == "end"
    await database.notify("c", "2")
    assert await anext(second) == "2"
    await second.aclose()
    assert [notice async for notice in second] == []


async def test_a_slow_reader_is_told_to_look_instead(database: Database) -> None:
    async with database.subscribe("c") as notices, database.subscribe("end") as end:
        assert [await anext(notices), await anext(end)] == ["", ""]
        await database.commit(*(Notify("c", str(number)) for number in range(1500)), Notify("c", "last"), Notify("end"))
        await anext(end)  # comes on the same way, so the others are here as well
        heard: list[str] = []
        while not heard or heard[-1] != "last":
            heard.append(await anext(notices))
    assert "" in heard
    assert len(heard) <= 1001


def test_a_notice_fits_into_postgresqls_limit() -> None:
    Notify("c", "x" * 7_999)
    with pytest.raises(ValueError, match="7999"):
        Notify("c", "x" * 8_000)


# --- the end ----------------------------------------------------------------------------------------------------------


async def test_closing_finishes_what_was_asked_and_refuses_the_rest(database_url: str) -> None:
    database = await open_database(database_url)
    reader = database.subscribe("c")
    asked = [asyncio.create_task(database.commit(add_secret(f"{number:02}"))) for number in range(10)]
    await asyncio.sleep(0)
    await database.close()
    await database.close()
    assert await asyncio.gather(*asked) == [(1,)] * 10
    assert [notice async for notice in reader] == []
    for call in (database.fetch(SECRETS), database.fetch_one(SECRETS), database.commit(add_secret("x"))):
        with pytest.raises(Unavailable, match="stopping"):
            await call
    again = await open_database(database_url)
    assert len(await subjects(again)) == 10
    await again.close()


async def test_a_cancelled_caller_leaves_the_database_in_order(database: Database) -> None:
    for number in range(30):
        task = asyncio.create_task(database.commit(add_secret(f"{number:02}"), *events(str(number))))
        for _ in range(number % 6):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await database.commit(add_secret("z"), *events("z"))
    kept = await subjects(database)
    assert [row["message"] for row in await database.fetch(EVENTS)] == [
        str(int(name)) if name != "z" else name for name in kept
    ]
