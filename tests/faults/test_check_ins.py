"""Check-ins while the database is away: they wait, the newest wins, and no batch is spoiled for good."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

import pytest

from firstlight.core.errors import Unavailable
from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.store import Store
from firstlight.server.ports.writes import PutPresence, PutReport
from firstlight.server.usecases.check_ins import CheckIns
from tests.builders.moments import INFRA_ENV_ID, NOW, host_id

pytestmark = pytest.mark.anyio


class Flaky:
    """A store that fails as told and remembers what it took."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.seen: list[PutPresence] = []
        self.measured: list[PutReport] = []

    async def check_in(self, batch: Sequence[PutPresence]) -> None:
        self._fail()
        self.seen.extend(batch)

    async def measure(self, batch: Sequence[PutReport]) -> None:
        self._fail()
        self.measured.extend(batch)

    def _fail(self) -> None:
        if self.failures:
            raise self.failures.pop(0)


def a_check_in(number: int, *, seconds: int = 0) -> PutPresence:
    moment = NOW + timedelta(seconds=seconds)
    key = (INFRA_ENV_ID, host_id(number))
    return PutPresence(key=key, checked_in_at=moment, clock_offset_seconds=None, agent_version="")


def a_report(number: int, raw: bytes) -> PutReport:
    key = (INFRA_ENV_ID, host_id(number))
    kind = ReportKind.CONNECTIVITY
    return PutReport(key=key, kind=kind, digest="d", facts=b"{}", raw=raw, measured_at=NOW)


def check_ins_of(store: Flaky) -> CheckIns:
    return CheckIns(cast(Store, cast(Any, store)))


async def test_what_could_not_be_written_is_written_later() -> None:
    store = Flaky(Unavailable("away"))
    check_ins = check_ins_of(store)
    check_ins.add(a_check_in(1))
    check_ins.add(a_check_in(2))
    check_ins.measured(a_report(1, b"old"))
    await check_ins.flush()
    assert store.seen == []
    check_ins.add(a_check_in(2, seconds=60))
    check_ins.measured(a_report(1, b"new"))
    await check_ins.flush()
    assert store.seen == [a_check_in(1), a_check_in(2, seconds=60)]
    assert store.measured == [a_report(1, b"new")]


async def test_what_was_written_is_not_written_again() -> None:
    store = Flaky()
    check_ins = check_ins_of(store)
    check_ins.add(a_check_in(1))
    await check_ins.flush()
    store.failures = [Unavailable("away")]
    check_ins.add(a_check_in(2))
    await check_ins.flush()
    await check_ins.flush()
    assert store.seen == [a_check_in(1), a_check_in(2)]


async def test_a_batch_nobody_can_write_does_not_stop_the_next() -> None:
    store = Flaky(ValueError("a mistake of ours"))
    check_ins = check_ins_of(store)
    check_ins.add(a_check_in(1))
    await check_ins.flush()
    check_ins.add(a_check_in(2))
    await check_ins.flush()
    assert store.seen == [a_check_in(2)]
