"""`make bench`: prints one JSON document; `docs/performance.md` keeps the history."""

import argparse
import asyncio
import json
import os
import platform
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

from bench import agent, core
from bench.inventory import inventory_costs
from bench.load import Load
from bench.machines import inventory
from bench.measure import loads_100_inventories_ms
from bench.pages import first_load
from bench.preparations import PREPARED, preparation_costs
from bench.reaction import seconds_to_visible
from bench.ready import seconds_to_ready
from bench.service import Running, running_service
from bench.tables import host_table_ms
from tests.peers import running_postgres

PARTS = ["core", "ready", "reaction", "tables", "pages", "inventory", "agent", "preparations", "sqlite", "postgresql"]
CLUSTERS, SIZE, ROUNDS, IDLE_SECONDS = 200, 5, 3, 60


async def service_costs(running: Running, *, clusters: int, rounds: int, idle_seconds: int) -> dict[str, Any]:
    hosts = clusters * SIZE
    async with Load(running.url, clusters=clusters, size=SIZE) as load:
        await load.create_clusters()
        before = running.total_cpu()
        await load.register_all()
        registration = (running.total_cpu() - before) / hosts
        statuses = await load.settle()
        before, service_before, own_before = running.total_cpu(), running.service_cpu(), time.process_time()
        polls, instructions = await load.poll_all(rounds=rounds)
        await asyncio.sleep(2)
        poll = (running.total_cpu() - before) / polls
        service_poll = (running.service_cpu() - service_before) / polls
        own = (time.process_time() - own_before) / polls
        before = running.total_cpu()
        living, _ = await load.poll_all(rounds=1, withhold=True)
        await asyncio.sleep(2)
        living_cost = (running.total_cpu() - before) / living
        before = running.total_cpu()
        await asyncio.sleep(idle_seconds)
        idle = (running.total_cpu() - before) / hosts * 60 / idle_seconds
    return {
        "hosts": hosts,
        "cluster_statuses": statuses,
        "cpu_ms_per_poll": round(poll * 1000, 3),
        "instructions_per_poll": round(instructions / polls, 2),
        "polls_per_service_cpu_second": round(1 / service_poll),
        "generator_cpu_ms_per_poll": round(own * 1000, 3),
        "cpu_ms_per_registration_with_first_poll": round(registration * 1000, 3),
        "cpu_ms_per_living_host_minute": round(living_cost * 1000, 3),
        "cpu_ms_per_idle_host_minute": round(idle * 1000, 3),
        "service_resident_mb": round(running.resident_mb(), 1),
    }


async def on_database(kind: str, options: argparse.Namespace) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        url = pid = None
        if kind == "postgresql":
            server = stack.enter_context(running_postgres(durable=True))
            url, pid = server.fresh_database(), server.pid
        running = await stack.enter_async_context(
            running_service(database_url=url, database_pid=pid, images=options.images)
        )
        return await service_costs(
            running, clusters=options.clusters, rounds=options.rounds, idle_seconds=options.idle_seconds
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--clusters", type=int, default=CLUSTERS, help="clusters of five hosts")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="polls of each host that are measured")
    parser.add_argument("--preparations", type=int, default=PREPARED, help="installations that are prepared at once")
    parser.add_argument("--idle-seconds", type=int, default=IDLE_SECONDS)
    parser.add_argument(
        "--without-images",
        dest="images",
        action="store_false",
        help="measure the API alone; by default the image service runs beside it, as with `make run`",
    )
    options = parser.parse_args()
    wanted = set(options.only or PARTS)
    document = json.dumps(inventory(1, 1)).encode()
    result: dict[str, Any] = {
        "machine": {"python": platform.python_version(), "cores": os.cpu_count(), "load": os.getloadavg()[0]},
        "json_loads_100_inventories_cpu_ms": round(loads_100_inventories_ms(document), 2),
        "inventory_bytes": len(document),
        "image_service_beside": options.images,
    }
    if "core" in wanted:
        result["evaluate"] = {f"{hosts}_hosts": core.measure(hosts) for hosts in (5, 50, 125, 250, 500)}
    if "ready" in wanted:
        result["five_hosts_from_registration_to_ready_seconds"] = asyncio.run(seconds_to_ready())
    if "reaction" in wanted:
        result["changed_reply_visible_seconds"] = {
            f"{hosts}_hosts": asyncio.run(seconds_to_visible(hosts)) for hosts in (5, 50, 500)
        }
    if "tables" in wanted:
        result["table_of_hosts_answer_ms"] = {
            f"{hosts}_hosts": asyncio.run(host_table_ms(hosts)) for hosts in (500, 5_000)
        }
    if "pages" in wanted:
        result["first_load_of_the_page"] = asyncio.run(first_load())
    if "inventory" in wanted:
        result["inventory_on_the_host"] = inventory_costs()
    if "agent" in wanted:
        result["agent"] = agent.measure(seconds=options.idle_seconds)
    if "preparations" in wanted:
        result["preparations"] = asyncio.run(preparation_costs(count=options.preparations))
    for kind in ("sqlite", "postgresql"):
        if kind in wanted:
            result[kind] = asyncio.run(on_database(kind, options))
    json.dump(result, sys.stdout, indent=2)
    print()


main()
