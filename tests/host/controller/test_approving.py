"""Requests are settled one by one: what is wrong with one, or goes wrong with it, does not touch the others."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from firstlight.host.controller.approving import MOST_REFUSALS_TOLD, Approving
from firstlight.host.controller.csr_rules import BOOTSTRAPPER, BOOTSTRAPPER_GROUPS, CLIENT_SIGNER, MOST_PER_NODE
from firstlight.host.controller.documents import HostDocument
from lab.cluster.joiner import Identity
from tests.host.agent.scripted import Asked, Said, document
from tests.host.controller.sites import said, site_at

pytestmark = pytest.mark.anyio
HOSTS = tuple(
    HostDocument(id=UUID(int=number), requested_hostname=f"worker-{number}", status="installing-in-progress")
    for number in (1, 2)
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def a_request(name: str, identity: Identity) -> dict[str, Any]:
    spec = {
        "request": base64.b64encode(identity.request).decode(),
        "signerName": CLIENT_SIGNER,
        "usages": ["digital signature", "client auth"],
        "username": BOOTSTRAPPER,
        "groups": sorted(BOOTSTRAPPER_GROUPS),
    }
    return {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}, "spec": spec}


class RequestServer:
    """As the API server shows and takes certificate requests; the approval of `broken` fails for ever."""

    def __init__(self, requests: list[dict[str, Any]], *, broken: str = "") -> None:
        self.requests = {one["metadata"]["name"]: one for one in requests}
        self.broken = broken
        self.approved: list[str] = []
        self.held = asyncio.Event()

    async def hold(self) -> Said:
        await self.held.wait()
        return Said(body=b"")

    def __call__(self, asked: Asked) -> Any:
        if "watch=true" in asked.query:
            return self.hold()
        name = asked.path.removesuffix("/approval").rpartition("/")[2]
        if asked.method == "PUT":
            if name == self.broken:
                return document({"message": "a webhook is against it"}, status=500)
            self.approved.append(name)
            self.requests[name] = json.loads(asked.body)
            return document(self.requests[name])
        if name in self.requests:
            return document(self.requests[name])
        listed = list(self.requests.values()) if name == "certificatesigningrequests" else []
        return document({"metadata": {"resourceVersion": "1"}, "items": listed})


async def settled(server: RequestServer, folder: Path, *, until: int) -> str:
    """Run until so many are approved; the log."""
    async with site_at(server, folder) as (site, asked):
        site.hosts = HOSTS
        watches = [site.requests.run(), site.nodes.run(), Approving(site).run()]
        tasks = [asyncio.create_task(one) for one in watches]
        try:
            await asked.until(lambda _: len(server.approved) >= until, seconds=60)
            # Everything is looked at once more, and another answer could come.
            for _ in range(20):
                await asyncio.sleep(0)
        finally:
            server.held.set()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return said(site)


async def test_one_that_cannot_be_approved_keeps_nobody_waiting(tmp_path: Path) -> None:
    identity = [Identity(f"system:node:worker-{number}") for number in (1, 2)]
    server = RequestServer([a_request("a", identity[0]), a_request("b", identity[1])], broken="a")
    log = await settled(server, tmp_path, until=1)
    assert server.approved == ["b"]
    assert "a webhook is against it" in log


async def test_a_flood_gets_ten_certificates_and_so_many_lines(tmp_path: Path) -> None:
    right, wrong = Identity("system:node:worker-1"), Identity("system:node:intruder")
    flood = [a_request(f"flood-{number:03}", wrong) for number in range(MOST_REFUSALS_TOLD + 50)]
    many = [a_request(f"many-{number:03}", right) for number in range(MOST_PER_NODE + 5)]
    last = a_request("z", Identity("system:node:worker-2"))
    server = RequestServer([*flood, *many, last])
    log = await settled(server, tmp_path, until=MOST_PER_NODE + 1)
    assert server.approved == [*(f"many-{number:03}" for number in range(MOST_PER_NODE)), "z"]
    assert log.count("is not approved") == MOST_REFUSALS_TOLD
    assert "further ones are not told" in log
