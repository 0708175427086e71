"""Logs over HTTP: taken whole or not at all, handed out one by one or as one archive."""

import io
import json
import tarfile
from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import FencingCredentials
from firstlight.core.model.host_status import LogsState
from firstlight.core.model.infra_env import Proxy
from firstlight.core.roles import key_of
from firstlight.server.http.operations import LOG_UPLOAD_CAP
from firstlight.server.ports.writes import DeleteCluster
from firstlight.server.usecases.object_names import logs_object
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, an_app, event_names, reason
from tests.api.files import CLUSTER, a_prepared_cluster
from tests.builders.clusters import cluster_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.http.client import Answer, ask
from tests.usecases.preparing import put_manifest
from tests.worlds import PULL_SECRET, put_cluster

pytestmark = pytest.mark.anyio

LOGS: Final = f"{CLUSTER}/logs"
HOST: Final = host_id(1)


def multipart(content: bytes, *, field: str = "upfile") -> bytes:
    head = f'--xx\r\nContent-Disposition: form-data; name="{field}"; filename="logs.tar.gz"\r\n\r\n'
    return head.encode() + content + b"\r\n--xx--\r\n"


async def upload(world: World, query: str, body: bytes | Iterable[bytes], *, cluster: UUID = CLUSTER_ID) -> Answer:
    return await ask(
        an_app(world),
        "POST",
        f"/api/assisted-install/v2/clusters/{cluster}/logs",
        query=query,
        body=body,
        headers={"content-type": "multipart/form-data; boundary=xx"},
    )


async def current(world: World) -> ClusterState:
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    return state


class TestTaking:
    async def test_logs_of_a_host(self, world: World, call: Client) -> None:
        await put_cluster(world)
        answer = await upload(world, f"logs_type=host&host_id={HOST}&infra_env_id={INFRA_ENV_ID}", multipart(b"abc"))
        assert (answer.status, answer.body) == (204, b"")
        host = (await current(world)).hosts[0].host
        assert (host.logs, host.logs_collected_at) == (LogsState.COLLECTING, NOW)
        assert await world.blobs.get(logs_object(CLUSTER_ID, HOST)) == b"abc"
        assert "host_logs_uploaded" in await event_names(world, CLUSTER_ID)
        file = await call("GET", LOGS, query=f"logs_type=host&host_id={HOST}")
        assert (file.status, file.body) == (200, b"abc")
        assert file.headers["content-disposition"] == 'attachment; filename="east_master_host-1.tar.gz"'

    async def test_the_controller_sends_again_and_is_told_of_once(self, world: World, call: Client) -> None:
        await put_cluster(world)
        for content in (b"first", b"second"):
            assert (await upload(world, "logs_type=controller", multipart(content))).status == 204
        assert (await event_names(world, CLUSTER_ID)).count("cluster_logs_uploaded") == 1
        assert (await current(world)).cluster.logs is LogsState.COLLECTING
        file = await call("GET", LOGS, query="logs_type=controller")
        assert file.body == b"second"
        assert file.headers["content-disposition"] == f'attachment; filename="east_{CLUSTER_ID}_controller.tar.gz"'

    @pytest.mark.parametrize(
        ("query", "status"),
        [
            ("logs_type=host", 400),
            (f"logs_type=host&host_id={UNKNOWN}", 404),
            ("logs_type=all", 400),
            ("", 400),
            ("logs_type=host&host_id=x", 400),
        ],
    )
    async def test_refused(self, world: World, query: str, status: int) -> None:
        await put_cluster(world)
        assert (await upload(world, query, multipart(b"abc"))).status == status
        assert await world.blobs.list_under(str(CLUSTER_ID)) == []

    @pytest.mark.parametrize("kind", ["host", "controller"])
    async def test_an_unknown_cluster(self, world: World, kind: str) -> None:
        answer = await upload(world, f"logs_type={kind}&host_id={HOST}", multipart(b"abc"), cluster=UNKNOWN)
        assert reason(answer, 404)

    @pytest.mark.parametrize(
        "body", [b"", b"not multipart", multipart(b"abc", field="other"), multipart(b"abc")[:-12], b"--xx--\r\n"]
    )
    async def test_a_broken_upload_leaves_the_earlier_logs(self, world: World, body: bytes) -> None:
        await put_cluster(world)
        await upload(world, "logs_type=controller", multipart(b"earlier"))
        assert reason(await upload(world, "logs_type=controller", body), 400)
        assert await world.blobs.get(logs_object(CLUSTER_ID, "controller")) == b"earlier"

    async def test_more_than_allowed(self, world: World) -> None:
        await put_cluster(world)
        piece = bytes(1_048_576)
        start, end = multipart(b"").split(b"\r\n\r\n")[0] + b"\r\n\r\n", b"\r\n--xx--\r\n"
        full = LOG_UPLOAD_CAP // len(piece)
        fits = [start, *[piece] * full, end]
        assert (await upload(world, "logs_type=controller", fits)).status == 204
        over = [start, *[piece] * full, b"!", end]
        assert reason(await upload(world, "logs_type=controller", over), 413)
        assert (await world.blobs.head(logs_object(CLUSTER_ID, "controller"))).size == LOG_UPLOAD_CAP

    @pytest.mark.parametrize("state", ["requested", "collecting", "completed", "timeout"])
    async def test_progress(self, world: World, call: Client, state: str) -> None:
        await put_cluster(world)
        path = f"/infra-envs/{INFRA_ENV_ID}/hosts/{HOST}/logs-progress"
        answer = await call("PUT", path, {"logs_state": state})
        assert (answer.status, answer.body) == (204, b"")
        host = (await current(world)).hosts[0].host
        assert host.logs == state
        assert host.logs_started_at == (NOW if state == "requested" else None)

    async def test_progress_refused(self, world: World, call: Client) -> None:
        await put_cluster(world)
        path = f"/infra-envs/{INFRA_ENV_ID}/hosts"
        assert (await call("PUT", f"{path}/{HOST}/logs-progress", {"logs_state": "lost"})).status == 400
        assert reason(await call("PUT", f"{path}/{UNKNOWN}/logs-progress", {"logs_state": "completed"}), 404)


def unpacked(body: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        found = {}
        for member in archive.getmembers():
            file = archive.extractfile(member)
            assert file is not None
            found[member.name] = file.read()
        return found


class TestHandingOut:
    @pytest.mark.parametrize(
        ("query", "status"),
        [
            ("logs_type=host", 400),
            (f"logs_type=host&host_id={HOST}", 409),
            (f"logs_type=host&host_id={UNKNOWN}", 404),
            ("logs_type=controller", 409),
        ],
    )
    async def test_refused(self, world: World, call: Client, query: str, status: int) -> None:
        await put_cluster(world)
        assert reason(await call("GET", LOGS, query=query), status)

    async def test_an_unknown_cluster(self, call: Client) -> None:
        for query in ("", "logs_type=controller", f"logs_type=host&host_id={HOST}"):
            assert reason(await call("GET", f"/clusters/{UNKNOWN}/logs", query=query), 404)

    @pytest.mark.parametrize("query", ["", "logs_type=all"])
    async def test_everything(self, world: World, call: Client, query: str) -> None:
        state = await a_prepared_cluster(world)
        await put_manifest(world, CLUSTER_ID, "mine.yaml", b"kind: A")
        await world.blobs.put(logs_object(CLUSTER_ID, HOST), b"x" * 100_000)
        await world.blobs.put(logs_object(CLUSTER_ID, "controller"), b"")
        answer = await call("GET", LOGS, query=query)
        assert answer.status == 200
        assert answer.headers["content-disposition"] == f'attachment; filename="east_{CLUSTER_ID}.tar"'
        found = unpacked(answer.body)
        assert found["east_bootstrap_host-1.tar.gz"] == b"x" * 100_000
        assert found[f"east_{CLUSTER_ID}_controller.tar.gz"] == b""
        assert found["manifests/manifests/mine.yaml"] == b"kind: A"
        assert json.loads(found["metadata.json"])["id"] == str(CLUSTER_ID)
        assert len(json.loads(found["metadata.json"])["hosts"]) == len(state.hosts)
        assert "cluster_prepare_installation_started" in [one["name"] for one in json.loads(found["events.json"])]
        assert len(answer.body) % 512 == 0

    async def test_it_tells_no_secrets(self, world: World, call: Client) -> None:
        state = cluster_state(
            proxy=Proxy(http="http://user:proxy-secret@proxy.example.com:3128"),
            install_config_overrides='{"pullSecret": "override-secret"}',
        )
        fencing = FencingCredentials(address="redfish://bmc", username="root", password="fencing-secret")
        first = replace(state.hosts[0], host=replace(state.hosts[0].host, fencing=fencing))
        await put_cluster(world, replace(state, hosts=(first, *state.hosts[1:])))
        body = (await call("GET", LOGS)).body
        for secret in ("proxy-secret", "override-secret", "fencing-secret", PULL_SECRET, "dXNlcjpwYXNz"):
            assert secret.encode() not in body

    async def test_hostile_names_stay_inside(self, world: World, call: Client) -> None:
        state = cluster_state(name='../"x\r\ny')
        names = ("../../etc/passwd", "ä/ö", "..", '"; filename="evil')
        hosts = [
            replace(one, host=replace(one.host, requested_hostname=name))
            for one, name in zip(state.hosts, names, strict=False)
        ]
        await put_cluster(world, replace(state, hosts=tuple(hosts)))
        for one in hosts:
            await world.blobs.put(logs_object(CLUSTER_ID, one.host.id), b"x")
        answer = await call("GET", LOGS)
        assert answer.headers["content-disposition"] == f'attachment; filename="_x_y_{CLUSTER_ID}.tar"'
        found = [name for name in unpacked(answer.body) if name.endswith(".tar.gz")]
        assert len(found) == 3
        assert not [name for name in found if "/" in name or ".." in name.removesuffix(".tar.gz")[:2]]
        one_file = await call("GET", LOGS, query=f"logs_type=host&host_id={HOST}")
        assert one_file.headers["content-disposition"].count('"') == 2

    async def test_hosts_of_the_same_name_do_not_hide_each_other(self, world: World, call: Client) -> None:
        state = cluster_state()
        hosts = tuple(replace(one, host=replace(one.host, requested_hostname="twin")) for one in state.hosts)
        await put_cluster(world, replace(state, hosts=hosts))
        for number in (1, 2):
            await world.blobs.put(logs_object(CLUSTER_ID, host_id(number)), b"%d" % number)
        found = unpacked((await call("GET", LOGS)).body)
        assert {found["east_master_twin.tar.gz"], found["2_east_master_twin.tar.gz"]} == {b"1", b"2"}

    async def test_a_cluster_given_up_keeps_its_logs(self, world: World, call: Client) -> None:
        state = await put_cluster(world)
        await world.blobs.put(logs_object(CLUSTER_ID, HOST), b"of the host")
        await world.blobs.put(logs_object(CLUSTER_ID, "controller"), b"of the controller")
        await world.store.commit(DeleteCluster(cluster_id=CLUSTER_ID, expect_revision=state.revision, at=NOW))
        assert (await call("GET", LOGS, query="logs_type=controller")).body == b"of the controller"
        assert (await call("GET", LOGS, query=f"logs_type=host&host_id={HOST}")).body == b"of the host"
        found: dict[str, Any] = unpacked((await call("GET", LOGS)).body)
        assert found[f"east_host_{HOST}.tar.gz"] == b"of the host"


def test_the_examples_have_this_host() -> None:
    assert key_of(cluster_state().hosts[0]) == (INFRA_ENV_ID, HOST)
