"""What can befall a database file: a kill, a second service, a full or read-only disk, damage."""

import asyncio
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from firstlight.core.errors import Unavailable
from firstlight.server.ports.database import Database, LostRace, Statement
from firstlight.server.store.connect import open_database
from firstlight.server.store.sqlite import SqliteDatabase
from tests.databases import fresh_sqlite
from tests.disks import tiny_disk
from tests.peers import ROOT
from tests.store.rows import DROP_SECRETS, EVENTS, SECRETS, add_secret, events

pytestmark = pytest.mark.anyio


def killed_after(answers: int, url: str, run: str) -> set[str]:
    """Let a child commit, kill it after so many answers, and return all it said before it died."""
    command = [sys.executable, "-m", "tests.store.committer", url, run]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        said = [child.stdout.readline() for _ in range(answers)]
        child.kill()
        said += child.stdout.read().splitlines(keepends=True)
    return {line.decode().strip() for line in said if line.endswith(b"\n")}


async def test_a_kill_loses_nothing_acknowledged(sqlite_url: str) -> None:
    acknowledged: set[str] = set()
    chance = random.Random(3)
    for run in range(6):
        acknowledged |= killed_after(chance.randint(1, 400), sqlite_url, str(run))
        database = await open_database(sqlite_url)
        rows = await database.fetch(SECRETS, large=True)
        kept = Counter(row["subject"] for row in rows)
        assert acknowledged <= set(kept)
        assert set(kept.values()) == {2}, "a commit was kept in part"
        numbered = await database.fetch(EVENTS, large=True)
        assert [row["seq"] for row in numbered] == list(range(1, len(kept) + 1))
        assert {row["message"] for row in numbered} == set(kept)
        await database.close()
    assert len(acknowledged) > 100


async def test_two_services_never_share_a_file(sqlite_url: str) -> None:
    first = await open_database(sqlite_url)
    with pytest.raises(
        Unavailable, match=rf"firstlight\.sqlite is in use by another service \(process {os.getpid()}\)"
    ):
        await open_database(sqlite_url)
    await first.commit(add_secret("a"))
    await first.close()
    second = await open_database(sqlite_url)
    assert len(await second.fetch(SECRETS)) == 1
    await second.close()


async def filled(database: Database) -> tuple[int, str]:
    """Commit until the disk is full; the number of commits that were acknowledged, and what was said then."""
    for number in range(1000):
        try:
            await database.commit(add_secret(f"{number:04}", value=os.urandom(30_000)), *events(str(number)))
        except Unavailable as error:
            return number, str(error)
    raise AssertionError("the disk was never full")


async def test_a_full_disk_refuses_and_recovers(tmp_path: Path) -> None:
    with tiny_disk(tmp_path) as (folder, enlarge):
        database = await open_database(fresh_sqlite(folder))
        kept, said = await filled(database)
        assert kept > 0
        assert "firstlight.sqlite" in said
        many = await asyncio.gather(
            *(database.commit(add_secret(f"x{number}", value=bytes(100_000))) for number in range(8)),
            return_exceptions=True,
        )
        assert any(isinstance(answer, Unavailable) for answer in many)
        kept += sum(not isinstance(answer, BaseException) for answer in many)
        assert len(await database.fetch(SECRETS)) == kept
        enlarge()
        await database.commit(add_secret("after"), *events("after"))
        rows = await database.fetch(EVENTS)
        assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
        assert rows[-1]["message"] == "after"
        await database.close()
        again = await open_database(f"sqlite://{folder / 'firstlight.sqlite'}")
        assert len(await again.fetch(SECRETS)) == kept + 1
        await again.close()


async def test_another_program_that_locks_the_file_is_named(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.server.store.sqlite.LOCK_WAIT_SECONDS", 0.05)
    database = await open_database(sqlite_url)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite://"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked by another program"):
        await database.commit(add_secret("a"))
    assert len(await database.fetch(SECRETS)) == 0
    other.execute("ROLLBACK")
    other.close()
    await database.commit(add_secret("a"))
    await database.close()


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary, " * 1000)
    with pytest.raises(Unavailable, match="not a database"):
        await open_database(str(path))
    assert path.read_text() == "dear diary, " * 1000


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 * 40 : 4096 * 150] = os.urandom(4096 * 110)
    path.write_bytes(content)


async def test_damage_is_reported_not_hidden(sqlite_url: str) -> None:
    database = await open_database(sqlite_url)
    await database.commit(*(add_secret(f"{number:03}", value=os.urandom(3000)) for number in range(200)))
    await database.close()
    damage(Path(sqlite_url.removeprefix("sqlite://")))
    database = await open_database(sqlite_url)
    for large in (False, True):
        with pytest.raises(Unavailable, match=r"damaged.*backup"):
            await database.fetch(SECRETS, large=large)
    await database.close()


async def test_a_folder_that_is_missing_is_made_and_one_that_cannot_be_is_named(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "db.sqlite"
    shutil.copy(fresh_sqlite(tmp_path).removeprefix("sqlite://"), tmp_path / "copy")
    path.parent.mkdir(parents=True)
    shutil.move(tmp_path / "copy", path)
    await (await open_database(str(path))).close()
    with pytest.raises(Unavailable, match=r"db\.sqlite"):
        await SqliteDatabase.open(tmp_path / "absent" / "db.sqlite")


async def test_nobody_else_may_read_a_new_file_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "data" / "it.sqlite"
    database = await open_database(str(path))
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["it.sqlite", "it.sqlite-shm", "it.sqlite-wal", "it.sqlite.lock"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    await database.close()
    path.chmod(0o640)
    await (await open_database(str(path))).close()
    assert path.stat().st_mode & 0o777 == 0o640


async def test_relaxed_and_durable_commits_keep_their_order(sqlite_url: str) -> None:
    database = await open_database(sqlite_url)
    await asyncio.gather(*(database.commit(*events(f"{number:03}"), relaxed=bool(number % 3)) for number in range(200)))
    assert [row["message"] for row in await database.fetch(EVENTS)] == [f"{number:03}" for number in range(200)]
    await database.close()


async def test_a_group_with_a_late_failure_is_told_one_by_one(sqlite_url: str) -> None:
    """Each of these fails after writing, with another kind of error: none may spill over to a neighbour."""
    database = await open_database(sqlite_url)
    broken = Statement(DROP_SECRETS, {})
    lost = Statement(DROP_SECRETS, {"subject": "none"}, expect_rows=1)
    answers = await asyncio.gather(
        database.commit(add_secret("a")),
        database.commit(add_secret("b"), broken),
        database.commit(add_secret("c"), lost),
        database.commit(add_secret("d"), add_secret("a")),
        database.commit(add_secret("e")),
        return_exceptions=True,
    )
    assert [type(answer) for answer in answers] == [tuple, sqlite3.ProgrammingError, LostRace, LostRace, tuple]
    assert [row["subject"] for row in await database.fetch(SECRETS)] == ["a", "e"]
    await database.close()
