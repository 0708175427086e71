"""Files of a cluster: which state allows which, and links that stop working."""

import dataclasses
import json
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.server.blobs.connect import open_blobs
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, an_app, reason
from tests.api.files import CLUSTER, WITH_FILES, a_prepared_cluster, changed, follow
from tests.core.install.validator import verdict
from tests.peers import S3
from tests.usecases.preparing import put_manifest
from tests.worlds import PULL_SECRET, SetClock, put_cluster

pytestmark = pytest.mark.anyio

FILES: Final = f"{CLUSTER}/downloads/files"
LINKS: Final = f"{CLUSTER}/downloads/files-presigned"


@pytest.mark.parametrize("name", ["bootstrap.ign", "master.ign", "worker.ign"])
async def test_ignition_files_are_what_ignition_takes(call: Client, world: World, name: str) -> None:
    await a_prepared_cluster(world)
    answer = await call("GET", FILES, query=f"file_name={name}")
    assert answer.status == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["content-length"] == str(len(answer.body))
    assert verdict(answer.body) == ""


async def test_the_install_config_holds_what_day_two_needs(call: Client, world: World) -> None:
    await a_prepared_cluster(world)
    answer = await call("GET", FILES, query="file_name=install-config.yaml")
    assert json.loads(answer.body)["pullSecret"] == PULL_SECRET


async def test_the_controller_finds_its_manifests(call: Client, world: World) -> None:
    await a_prepared_cluster(world)
    assert (await call("GET", FILES, query="file_name=custom_manifests.json")).json() == []


@pytest.mark.parametrize("status", list(ClusterStatus))
async def test_which_state_allows_files(call: Client, world: World, status: ClusterStatus) -> None:
    await a_prepared_cluster(world, status=status)
    answer = await call("GET", FILES, query="file_name=metadata.json")
    assert answer.status == (200 if status in WITH_FILES else 409)
    if answer.status == 409:
        assert status.value in reason(answer, 409)


@pytest.mark.parametrize("name", ["arbiter.ign", "custom_manifests.yaml"])
async def test_a_file_that_was_never_made(call: Client, world: World, name: str) -> None:
    await a_prepared_cluster(world)
    assert name in reason(await call("GET", FILES, query=f"file_name={name}"), 409)


@pytest.mark.parametrize("query", ["", "file_name=", "file_name=kubeconfig", "file_name=../x", "file_name=logs"])
async def test_names_nobody_knows(call: Client, world: World, query: str) -> None:
    await a_prepared_cluster(world)
    answer = await call("GET", FILES, query=query)
    assert answer.status == 400
    assert answer.json()["code"] == 400


async def test_an_unknown_cluster(call: Client) -> None:
    for path in ("files", "files-presigned"):
        answer = await call("GET", f"/clusters/{UNKNOWN}/downloads/{path}", query="file_name=master.ign")
        assert reason(answer, 404)


class TestLinks:
    async def test_a_link_gives_the_file_for_ten_minutes(self, call: Client, world: World, clock: SetClock) -> None:
        await a_prepared_cluster(world)
        link = (await call("GET", LINKS, query="file_name=worker.ign")).json()
        assert link["url"].startswith("http://127.0.0.1:8090/api/assisted-install/v2/")
        assert link["expires_at"] == "2025-06-01T12:10:00.000Z"
        clock.forward(timedelta(minutes=10))
        answer = await follow(call, link["url"])
        assert (answer.status, answer.body) == (200, await world.blobs.get(f"{CLUSTER.split('/')[2]}/worker.ign"))
        clock.forward(timedelta(seconds=1))
        late = await follow(call, link["url"])
        assert (late.status, late.json()["code"]) == (403, 403)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("file_name=worker.ign", "file_name=bootstrap.ign"),
            ("expires=1", "expires=2"),
            ("signature=", "signature=0"),
            ("&signature=", "&other="),
            ("&expires=", "&other="),
            ("c0000000", "c0000001"),
        ],
    )
    async def test_an_altered_link_opens_nothing(self, call: Client, world: World, old: str, new: str) -> None:
        await a_prepared_cluster(world)
        url = (await call("GET", LINKS, query="file_name=worker.ign")).json()["url"]
        assert old in url
        answer = await follow(call, url.replace(old, new))
        assert (answer.status, answer.json()["code"]) == (403, 403)

    async def test_a_link_to_a_manifest(self, call: Client, world: World) -> None:
        state = await put_cluster(world)
        await put_manifest(world, state.cluster.id, "a b&c.yaml", b"kind: A", folder="openshift")
        query = "file_name=manifests&additional_name=openshift%2Fa%20b%26c.yaml"
        url = (await call("GET", LINKS, query=query)).json()["url"]
        assert parse_qs(urlsplit(url).query)["file_name"] == ["a b&c.yaml"]
        assert (await follow(call, url)).body == b"kind: A"

    @pytest.mark.parametrize(
        ("name", "status"),
        [("", 400), ("elsewhere/a.yaml", 400), ("manifests/", 400), ("manifests/a/b.yaml", 400), ("a.yaml", 404)],
    )
    async def test_a_link_to_no_manifest(self, call: Client, world: World, name: str, status: int) -> None:
        await put_cluster(world)
        assert reason(await call("GET", LINKS, query=f"file_name=manifests&additional_name={name}"), status)

    async def test_links_to_logs(self, call: Client, world: World) -> None:
        state = await a_prepared_cluster(world)
        host = state.hosts[0].host.id
        await world.blobs.put(f"{state.cluster.id}/logs/{host}/logs.tar.gz", b"of the host")
        query = f"file_name=logs&logs_type=host&host_id={host}"
        assert (await follow(call, (await call("GET", LINKS, query=query)).json()["url"])).body == b"of the host"
        assert reason(await call("GET", LINKS, query="file_name=logs&logs_type=controller"), 409)
        assert reason(await call("GET", LINKS, query="file_name=logs&logs_type=host"), 400)
        everything = (await call("GET", LINKS, query="file_name=logs")).json()["url"]
        assert (await follow(call, everything)).status == 200

    async def test_no_link_to_what_cannot_be_had(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world)
        assert reason(await call("GET", LINKS, query="file_name=arbiter.ign"), 409)
        await changed(world, status=ClusterStatus.READY)
        assert reason(await call("GET", LINKS, query="file_name=master.ign"), 409)

    async def test_a_store_that_makes_links_itself_is_asked(self, world: World, s3: S3, s3_bucket: str) -> None:
        blobs = open_blobs(
            f"s3://{s3_bucket}?endpoint={s3.endpoint}&region={s3.region}",
            access_key=s3.access_key,
            secret_key=s3.secret_key,
        )
        there = dataclasses.replace(world, blobs=blobs)
        await a_prepared_cluster(there)
        link = (await Client(an_app(there))("GET", LINKS, query="file_name=worker.ign")).json()
        assert link["url"].startswith(s3.endpoint)
        assert link["expires_at"] == "2025-06-01T12:10:00.000Z"
        async with httpx2.AsyncClient() as client:
            answer = await client.get(link["url"])
        assert verdict(answer.content) == ""
        await blobs.close()
