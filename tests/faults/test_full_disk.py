"""A disk without space, or one that cannot be written: refused in a sentence, nothing by half, and on it goes."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest

from firstlight.server.service import Service, service
from firstlight.server.settings import Settings
from tests.api.calling import PULL_SECRET, Client, event_names, reason
from tests.api.machines import a_document, a_site
from tests.disks import MIB, read_only, tiny_disk
from tests.http.client import Answer

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS: Final = 120
MANIFEST: Final = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {filling: %s}\n"


@asynccontextmanager
async def a_service(folder: Path) -> AsyncIterator[tuple[Service, Client]]:
    async with service(Settings(data_dir=folder, log_level="error"), environment={}) as running:
        yield running, Client(running.app)


def a_cluster(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "openshift_version": "4.19",
        "pull_secret": PULL_SECRET,
        "base_dns_domain": "example.com",
        "additional_ntp_source": "ntp.example.com",
    }


async def fill(call: Client) -> tuple[set[str], Answer]:
    """Clusters until one is refused: the names that were taken, and the refusal."""
    taken: set[str] = set()
    for number in range(10_000):
        answer = await call("POST", "/clusters", a_cluster(f"lab-{number}"))
        if answer.status != 201:
            return taken, answer
        taken.add(f"lab-{number}")
    raise AssertionError("the disk was never full")


async def names(call: Client) -> set[str]:
    answer = await call("GET", "/clusters")
    assert answer.status == 200, answer.body
    return {cluster["name"] for cluster in answer.json()}


async def eventually(ask: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = await ask()
            if holds(found):
                return found
            await asyncio.sleep(0.05)


async def test_a_full_disk_refuses_writes_and_nothing_else(tmp_path: Path) -> None:
    with tiny_disk(tmp_path, size=2 * MIB) as (folder, enlarge):
        async with a_service(folder) as (running, call):
            taken, refusal = await fill(call)
            assert taken
            said = reason(refusal, 503)
            assert "firstlight.sqlite" in said
            assert await names(call) == taken, "what was taken is there, what was refused is not"
            refused = [await call("POST", "/clusters", a_cluster(f"more-{number}")) for number in range(5)]
            assert {answer.status for answer in refused} <= {201, 503}
            taken |= {f"more-{number}" for number, answer in enumerate(refused) if answer.status == 201}
            assert await names(call) == taken
            enlarge()
            assert (await call("POST", "/clusters", a_cluster("after"))).status == 201
            assert await names(call) == taken | {"after"}
            shown = (await call("GET", "/clusters")).json()
            for cluster in shown:
                told = await event_names(running.world, UUID(cluster["id"]))
                assert told.count("cluster_registration_succeeded") == 1
            site = await a_site(call, running.world, cluster_id=shown[0]["id"])
            assert (await site.boot()).status == 201
            assert (await site.reply("inventory", a_document(1))).status == 204
            await eventually(site.shown, lambda host: host["status"] != "discovering")


async def test_files_that_cannot_be_written_are_refused_in_a_sentence(tmp_path: Path) -> None:
    async with a_service(tmp_path) as (_, call):
        cluster = (await call("POST", "/clusters", a_cluster("lab"))).json()["id"]
        await check_refusal_and_recovery(call, cluster, tmp_path / "blobs", read_only(tmp_path / "blobs"))


async def test_a_full_folder_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """The database has a disk of its own and goes on."""
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    with tiny_disk(blobs, size=64 * 1024) as (_, enlarge):
        async with a_service(tmp_path) as (_, call):
            cluster = (await call("POST", "/clusters", a_cluster("lab"))).json()["id"]
            path = f"/clusters/{cluster}/manifests"
            assert "no space left" in reason(await call("POST", path, a_manifest("a.yaml", size=200_000)), 503)
            assert (await call("GET", path)).json() == []
            assert (await call("POST", path, a_manifest("a.yaml", size=10))).status == 201
            enlarge()
            assert (await call("POST", path, a_manifest("b.yaml", size=200_000))).status == 201
            assert {row["file_name"] for row in (await call("GET", path)).json()} == {"a.yaml", "b.yaml"}


def a_manifest(name: str, *, size: int) -> dict[str, str]:
    content = (MANIFEST % (name, "x" * size)).encode()
    return {"folder": "manifests", "file_name": name, "content": base64.b64encode(content).decode()}


async def check_refusal_and_recovery(call: Client, cluster: str, folder: Path, spoiled: Any) -> None:
    path = f"/clusters/{cluster}/manifests"
    first = a_manifest("a.yaml", size=10)
    assert (await call("POST", path, first)).status == 201
    with spoiled:
        for document in (a_manifest("a.yaml", size=20), a_manifest("b.yaml", size=10)):
            assert str(folder) in reason(await call("POST", path, document), 503)
        assert [row["file_name"] for row in (await call("GET", path)).json()] == ["a.yaml"]
        stored = await call("GET", f"{path}/files", query="folder=manifests&file_name=a.yaml")
        assert base64.b64encode(stored.body).decode() == first["content"]
    assert (await call("POST", path, a_manifest("b.yaml", size=10))).status == 201
    assert {row["file_name"] for row in (await call("GET", path)).json()} == {"a.yaml", "b.yaml"}
