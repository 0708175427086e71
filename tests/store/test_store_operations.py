"""Lasting work: one row per attempt, claims that raise the epoch, results that count with the current epoch only."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.server.ports.database import LostRace
from firstlight.server.ports.rows import OperationRow
from firstlight.server.ports.store import Store
from firstlight.server.ports.writes import PutOperation
from tests.builders.moments import EARLIER, NOW
from tests.store.stored import an_id

pytestmark = pytest.mark.anyio

STALE = NOW - timedelta(seconds=30)


def an_operation(number: int = 1, **changes: Any) -> OperationRow:
    row = OperationRow(
        id=an_id(number),
        kind="prepare",
        subject="cluster:x",
        attempt=number,
        state="waiting",
        created_at=EARLIER + timedelta(seconds=number),
        updated_at=EARLIER,
    )
    return replace(row, **changes)


async def test_an_attempt_exists_once(store: Store) -> None:
    first = an_operation(1)
    await store.commit(PutOperation(operation=first, expect_epoch=None))
    same = replace(first, id=an_id(2), progress="other")
    await store.commit(PutOperation(operation=same, expect_epoch=None))
    assert list(await store.operations("cluster:x")) == [first]
    await store.commit(PutOperation(operation=replace(same, attempt=2), expect_epoch=None))
    assert [row.attempt for row in await store.operations("cluster:x")] == [1, 2]
    with pytest.raises(LostRace):
        await store.commit(PutOperation(operation=replace(first, attempt=3), expect_epoch=None))
    assert list(await store.operations("cluster:y")) == []


async def test_a_claim_raises_the_epoch_and_only_its_result_counts(store: Store) -> None:
    await store.commit(PutOperation(operation=an_operation(1), expect_epoch=None))
    claimed = await store.claim_operations(owner="a", now=NOW, stale_before=STALE, limit=5)
    assert list(claimed) == [an_operation(1, state="running", owner="a", epoch=1, heartbeat_at=NOW, updated_at=NOW)]
    assert list(await store.claim_operations(owner="b", now=NOW, stale_before=STALE, limit=5)) == []
    assert await store.heartbeat_operation(an_id(1), epoch=1, now=NOW, progress="half\0way")
    assert not await store.heartbeat_operation(an_id(1), epoch=2, now=NOW, progress="")
    # Its owner goes silent: somebody else takes over, and the first one learns of it.
    later = NOW + timedelta(seconds=31)
    assert list(await store.claim_operations(owner="b", now=later, stale_before=NOW, limit=5)) == []
    taken = await store.claim_operations(owner="b", now=later, stale_before=NOW + timedelta(microseconds=1), limit=5)
    assert [(row.owner, row.epoch, row.progress) for row in taken] == [("b", 2, "half\N{REPLACEMENT CHARACTER}way")]
    assert not await store.heartbeat_operation(an_id(1), epoch=1, now=later, progress="")
    with pytest.raises(LostRace):
        await store.commit(PutOperation(operation=replace(claimed[0], state="done"), expect_epoch=1))
    done = replace(taken[0], state="done", progress="", updated_at=later)
    await store.commit(PutOperation(operation=done, expect_epoch=2))
    assert list(await store.operations("cluster:x")) == [done]
    assert not await store.heartbeat_operation(an_id(1), epoch=2, now=later, progress="")
    forever = later + timedelta(days=1)
    assert list(await store.claim_operations(owner="c", now=forever, stale_before=forever, limit=5)) == []


async def test_oldest_first_and_each_to_one(store: Store) -> None:
    await store.commit(*(PutOperation(operation=an_operation(number), expect_epoch=None) for number in (3, 1, 2)))
    first = await store.claim_operations(owner="a", now=NOW, stale_before=STALE, limit=2)
    assert [row.attempt for row in first] == [1, 2]
    await store.commit(*(PutOperation(operation=an_operation(number), expect_epoch=None) for number in range(4, 24)))
    claims = await asyncio.gather(
        *(store.claim_operations(owner=name, now=NOW, stale_before=STALE, limit=3) for name in "bcdefghi")
    )
    assert sorted(row.attempt for rows in claims for row in rows) == list(range(3, 24))
    assert {row.epoch for rows in claims for row in rows} == {1}
