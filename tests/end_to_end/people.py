"""People around the fleets: somebody who changes things all the time, and somebody who follows every event."""

import asyncio
import base64
import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

import aiohttp
import msgspec

from firstlight.simulate import user
from firstlight.simulate.calls import Refused, Service, Unreachable
from tests.end_to_end.journal import Journal

PAUSE_SECONDS: Final = 0.03


class Busybody:
    """Creates, changes and deletes clusters of its own, their manifests and infra-envs, and tells events."""

    def __init__(self, service: Service, *, seed: int) -> None:
        self._service = service
        self._chance = random.Random(seed)
        self._clusters: list[UUID] = []
        self._infra_envs: list[UUID] = []
        self._count = 0

    async def live(self) -> None:
        while True:
            act = self._chance.choice(
                (self._create, self._rename, self._add_manifest, self._add_manifest, self._drop_manifest, self._time,
                 self._tell, self._delete)
            )  # fmt: skip
            try:
                await act()
            except (Refused, Unreachable):
                continue
            await asyncio.sleep(PAUSE_SECONDS)

    async def _create(self) -> None:
        if len(self._clusters) >= 4:
            return
        self._count += 1
        cluster, infra_env = await user.create_cluster(self._service, user.NewCluster(name=f"side-{self._count}"))
        self._clusters.append(cluster)
        self._infra_envs.append(infra_env)

    async def _rename(self) -> None:
        if self._clusters:
            path = f"/v2/clusters/{self._chance.choice(self._clusters)}"
            await self._service.send("PATCH", path, {"tags": f"tag{self._chance.randrange(10**6)}"})

    async def _time(self) -> None:
        if self._infra_envs:
            path = f"/v2/infra-envs/{self._chance.choice(self._infra_envs)}"
            sources = f"ntp{self._chance.randrange(10**6)}.example.com"
            await self._service.send("PATCH", path, {"additional_ntp_sources": sources})

    async def _add_manifest(self) -> None:
        if self._clusters:
            content = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{self._chance.randrange(10**6)}}}\n"
            document = {
                "folder": "manifests",
                "file_name": f"manifest-{self._chance.randrange(3)}.yaml",
                "content": base64.b64encode(content.encode()).decode(),
            }
            path = f"/v2/clusters/{self._chance.choice(self._clusters)}/manifests"
            await self._service.send("POST", path, document)

    async def _drop_manifest(self) -> None:
        if self._clusters:
            path = f"/v2/clusters/{self._chance.choice(self._clusters)}/manifests"
            query = {"folder": "manifests", "file_name": f"manifest-{self._chance.randrange(3)}.yaml"}
            await self._service.ask("DELETE", path, query=query)

    async def _tell(self) -> None:
        if self._clusters:
            self._count += 1
            event = {
                "cluster_id": str(self._chance.choice(self._clusters)),
                "name": "side_note",
                "category": "user",
                "severity": "info",
                "message": f"side note {self._count}",
                "event_time": "2025-06-01T12:00:00Z",
            }
            await self._service.send("POST", "/v2/events", event)

    async def _delete(self) -> None:
        if len(self._clusters) >= 3:
            gone = self._clusters.pop(self._chance.randrange(len(self._clusters)))
            await self._service.ask("DELETE", f"/v2/clusters/{gone}")


class Follower:
    """Follows the stream of events from the beginning and comes back to it whenever it is cut off."""

    def __init__(self, *urls: str) -> None:
        self._urls = urls
        self.heard: list[tuple[int, bytes]] = []
        self._turn = 0

    async def live(self) -> None:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_connect=5)) as session:
            while True:
                url = self._urls[self._turn % len(self._urls)]
                self._turn += 1
                with suppress(aiohttp.ClientError, OSError, TimeoutError):
                    await self._follow(session, url)
                await asyncio.sleep(0.1)

    async def _follow(self, session: aiohttp.ClientSession, url: str) -> None:
        last = self.heard[-1][0] if self.heard else 0
        async with session.get(f"{url}/api/firstlight/v1/events", headers={"Last-Event-ID": str(last)}) as answer:
            number = 0
            async for line in answer.content:
                if line.startswith(b"id:"):
                    number = int(line[3:])
                elif line.startswith(b"data:"):
                    self.heard.append((number, line[5:].strip()))

    @property
    def numbers(self) -> Sequence[int]:
        return [number for number, _ in self.heard]

    async def until(self, number: int) -> None:
        while not self.heard or self.heard[-1][0] < number:
            await asyncio.sleep(0.05)


async def newest_event(url: str) -> int:
    """The number a follower from now on is told first."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}/api/firstlight/v1/events") as answer:
        async for line in answer.content:
            if line.startswith(b"id:"):
                return int(line[3:])
    raise AssertionError("the stream ended without a number")


async def heard_again(url: str) -> list[tuple[int, bytes]]:
    """The whole sequence as it is told now."""
    follower, last = Follower(url), await newest_event(url)
    task = asyncio.create_task(follower.live())
    try:
        async with asyncio.timeout(60):
            await follower.until(last)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return [heard for heard in follower.heard if heard[0] <= last]


def names_of(journal: Journal) -> dict[str, int]:
    """How many writes of each kind were acknowledged."""
    kinds = sorted({thing[0] for thing in journal.things})
    return {kind: sum(register.counts for register in journal.of(kind).values()) for kind in kinds}


def decoded(heard: tuple[int, bytes]) -> dict[str, object]:
    return msgspec.json.decode(heard[1])
