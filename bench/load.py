"""The load generator: clusters, registrations, polls. It runs beside the service and counts its own CPU too."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import aiohttp

from bench.machines import Machine

PULL_SECRET = json.dumps({"auths": {"quay.io": {"auth": "YTpi"}, "cloud.openshift.com": {"auth": "YTpi"}}})
API = "/api/assisted-install/v2"
WORKERS = 16
Machines = list[Machine]


async def in_parallel(jobs: Iterable[Callable[[], Awaitable[None]]], *, workers: int = WORKERS) -> None:
    queue = list(jobs)
    queue.reverse()

    async def work() -> None:
        while queue:
            await queue.pop()()

    await asyncio.gather(*(work() for _ in range(workers)))


class Load:
    def __init__(self, url: str, *, clusters: int, size: int) -> None:
        self.url = url
        self.clusters = clusters
        self.size = size
        self.machines: Machines = []
        self.cluster_ids: list[str] = []
        self.requests = 0
        self.agent_version = ""

    async def __aenter__(self) -> "Load":
        self._session = aiohttp.ClientSession(self.url, connector=aiohttp.TCPConnector(limit=WORKERS * 2))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def call(self, method: str, path: str, body: object = None, *, raw: bytes | None = None) -> Any:
        self.requests += 1
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "discovery_agent_version": self.agent_version}
        async with self._session.request(method, path, data=data, headers=headers) as answer:
            content = await answer.read()
            if answer.status >= 400:
                raise RuntimeError(f"{method} {path} answered {answer.status}: {content[:300]!r}")
            return json.loads(content) if content else None

    async def create_clusters(self) -> None:
        versions = await self.call("GET", f"{API}/component-versions")
        self.agent_version = versions["versions"]["discovery-agent"]

        async def create(index: int) -> None:
            cluster = await self.call(
                "POST",
                f"{API}/clusters",
                {
                    "name": f"bench-{index}",
                    "openshift_version": "4.18",
                    "base_dns_domain": "example.com",
                    "pull_secret": PULL_SECRET,
                    "api_vips": [{"ip": "192.0.2.5"}],
                    "ingress_vips": [{"ip": "192.0.2.6"}],
                },
            )
            infra_env = await self.call(
                "POST",
                f"{API}/infra-envs",
                {"name": f"bench-{index}_infra-env", "pull_secret": PULL_SECRET, "cluster_id": cluster["id"]},
            )
            self.cluster_ids.append(cluster["id"])
            self.machines.extend(Machine(index, number, infra_env["id"]) for number in range(self.size))

        await in_parallel([lambda index=index: create(index) for index in range(self.clusters)])

    async def register_all(self) -> None:
        """Registration with the first poll and its replies."""
        await in_parallel([lambda machine=machine: self.register(machine) for machine in self.machines])

    async def register(self, machine: Machine) -> None:
        body = {"host_id": machine.host_id, "discovery_agent_version": self.agent_version}
        await self.call("POST", machine.path.rpartition("/")[0], body)
        await self.poll(machine)

    async def poll(self, machine: Machine, *, withhold: bool = False) -> int:
        """One poll: GET instructions and one POST per instruction (none when unchanged replies are withheld)."""
        steps = await self.call("GET", f"{machine.path}/instructions?timestamp={int(time.time())}")
        instructions: list[dict[str, Any]] = steps.get("instructions") or []
        if not withhold:
            for step in instructions:
                await self.call("POST", f"{machine.path}/instructions", raw=machine.answer(step))
        return len(instructions)

    async def poll_all(self, *, rounds: int = 1, withhold: bool = False) -> tuple[int, int]:
        """Every machine `rounds` times, each round at least a second apart; answers polls and instructions."""
        polls = instructions = 0
        for _ in range(rounds):
            started = time.monotonic()

            async def one(machine: Machine) -> None:
                nonlocal polls, instructions
                handed_out = await self.poll(machine, withhold=withhold)
                instructions += handed_out
                polls += 1

            await in_parallel([lambda machine=machine: one(machine) for machine in self.machines])
            await asyncio.sleep(max(0.0, 1.05 - (time.monotonic() - started)))
        return polls, instructions

    async def settle(self) -> dict[str, int]:
        """Poll until no cluster changes its status any more; answers how many clusters have which."""
        counts: dict[str, int] = {}
        for _ in range(20):
            await self.poll_all()
            listed = await self.call("GET", f"{API}/clusters")
            before, counts = counts, {}
            for cluster in listed:
                counts[cluster["status"]] = counts.get(cluster["status"], 0) + 1
            if counts == before:
                break
        return counts
