"""A whole service without its network: the real store on a fresh database, files in a folder, a clock to turn."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from starlette.types import ASGIApp

from firstlight.core.model.policy import Policy
from firstlight.core.versions.defaults import default_catalogue
from firstlight.server.blobs.folder import FolderBlobs
from firstlight.server.composition import step_inputs
from firstlight.server.engine.evaluator import Evaluator
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.store.connect import open_database
from firstlight.server.store.sql_store import open_store
from firstlight.server.usecases.check_ins import CheckIns
from firstlight.server.usecases.sessions import Sessions
from firstlight.server.usecases.world import ServiceFacts, World
from tests.builders.moments import NOW
from tests.databases import fresh_sqlite


class TestClock:
    """Stands still until it is turned."""

    __test__ = False

    def __init__(self, now: datetime = NOW) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time

    def forward(self, **parts: float) -> None:
        self.time += timedelta(**parts)


@asynccontextmanager
async def a_world(
    folder: Path,
    *,
    clock: TestClock | None = None,
    policy: Policy | None = None,
    service: ServiceFacts | None = None,
    database_url: str = "",
    **changes: Any,
) -> AsyncIterator[World]:
    """Ids and random bytes are predictable; `changes` replace other parts of the world."""
    policy = policy or Policy()
    database = await open_database(database_url or fresh_sqlite(folder))
    blobs = FolderBlobs(folder / "blobs")
    store = open_store(database)
    catalogue = default_catalogue()
    evaluator = Evaluator(policy, inputs_of=lambda state: step_inputs(state, catalogue))
    numbers = itertools.count(1)
    parts: dict[str, Any] = {
        "store": store,
        "blobs": blobs,
        "clock": clock or TestClock(),
        "policy": policy,
        "catalogue": catalogue,
        "service": service or ServiceFacts(link_key=b"k" * 32),
        "new_id": lambda: UUID(f"b0000000-0000-4000-8000-{next(numbers):012x}"),
        "random_bytes": lambda count: (next(numbers).to_bytes(8, "big") * count)[:count],
        "evaluate_cluster": evaluator.cluster,
        "evaluate_pool_host": evaluator.pool_host,
        "sessions": Sessions(),
        "check_ins": CheckIns(store),
    }
    try:
        yield World(**(parts | changes))
    finally:
        await blobs.close()
        await database.close()


def an_app(world: World, *modules: Any, **options: Any) -> ASGIApp:
    """The HTTP application with the operations of these modules, without a server."""
    return build_app(world, operations=operations_of(*modules), **options)
