"""A PostgreSQL of a test's own that goes away and comes back on the same port with the same data."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.conftest import missing
from tests.peers import Missing, Postgres, as_user, running_postgres, server_user


class Server:
    def __init__(self, peer: Postgres) -> None:
        self.peer = peer

    async def control(self, *arguments: str) -> None:
        command = [self.peer.binaries / "pg_ctl", "-s", "-w", "-D", self.peer.sockets / "data", *arguments]
        await asyncio.to_thread(
            subprocess.run, command, check=True, cwd="/", stdout=subprocess.DEVNULL, **as_user(server_user())
        )

    async def stop(self, how: str) -> None:
        await self.control("-m", how, "stop")

    async def start(self) -> None:
        where = f"-p {self.peer.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.peer.sockets}"
        await self.control("-l", "/dev/null", "-o", where, "start")


@contextmanager
def restarting_postgres() -> Iterator[Server]:
    """A fixture's body: without PostgreSQL the test is skipped."""
    try:
        with running_postgres(durable=True) as peer:
            server = Server(peer)
            yield server
            asyncio.run(server.stop("immediate"))
    except Missing as reason:
        missing(str(reason))
