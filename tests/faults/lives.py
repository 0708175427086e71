"""One life of the service after another on the same data, in-process, with a clock that is set and no loop of its own:
what the engine would do by itself is done when the test says so."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from firstlight.core.model.policy import Policy
from firstlight.core.versions.configured import configured_catalogue
from firstlight.server.blobs.folder import FolderBlobs
from firstlight.server.engine.engine import Engine, Operation
from firstlight.server.engine.evaluator import Evaluator
from firstlight.server.engine.listening import Listening
from firstlight.server.nmstate.nmstatectl import Nmstatectl
from firstlight.server.ports.database import Database
from firstlight.server.store.connect import open_database
from firstlight.server.store.sql_store import open_store
from firstlight.server.usecases.check_ins import CheckIns
from firstlight.server.usecases.sessions import Sessions
from firstlight.server.usecases.world import ServiceFacts, World
from tests.api.calling import Client, an_app
from tests.worlds import Ids, SetClock

NO_OPERATIONS: Mapping[str, Operation] = {}


@dataclass(frozen=True, slots=True)
class Life:
    world: World
    engine: Engine
    listening: Listening
    call: Client
    database: Database

    async def work(self) -> int:
        """Everything that is due now, until nothing is; answers how much it was."""
        done = 0
        while served := await self.engine.serve_once():
            done += served
        return done


@asynccontextmanager
async def a_life(
    url: str,
    folder: Path,
    *,
    clock: SetClock,
    ids: Ids | None = None,
    replica: str = "replica",
    operations: Mapping[str, Operation] = NO_OPERATIONS,
) -> AsyncIterator[Life]:
    policy = Policy()
    database = await open_database(url)
    blobs = FolderBlobs(folder / "blobs")
    store = open_store(database)
    listening = Listening(store, clock, replica=replica, poll_seconds=policy.poll_seconds)
    evaluator = Evaluator(policy, forgiven_until=listening.forgiven_until)
    world = World(
        store=store,
        blobs=blobs,
        clock=clock,
        policy=policy,
        catalogue=configured_catalogue(),
        service=ServiceFacts(link_key=b"k" * 32),
        nmstate=Nmstatectl(Path("/nowhere")),
        new_id=ids or Ids(),
        random_bytes=lambda count: b"r" * count,
        evaluate_cluster=evaluator.cluster,
        evaluate_pool_host=evaluator.pool_host,
        sessions=Sessions(),
        check_ins=CheckIns(store),
    )
    engine = Engine(world, replica=replica, listening=listening, operations=operations, chores={})
    try:
        yield Life(world, engine, listening, Client(an_app(world)), database)
    finally:
        await blobs.close()
        await database.close()
