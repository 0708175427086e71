"""Logging in to a new cluster, and the certificate its controller adds."""

import base64
import dataclasses
from typing import Final

import pytest
import yaml
from msgspec.structs import replace

from firstlight.core.install.kubeconfig import CERTIFICATE
from firstlight.core.model.cluster_status import ClusterStatus, OperatorStatus
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, an_app, event_names, reason
from tests.api.files import CLUSTER, WITH_FILES, a_prepared_cluster, changed, console, follow
from tests.builders.moments import CLUSTER_ID
from tests.core.install.clusters import a_cluster
from tests.core.install.installations import certificates_for
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio

FILES: Final = f"{CLUSTER}/downloads/credentials"
UPLOAD: Final = f"{CLUSTER}/uploads/ingress-cert"
NO_CONSOLE: Final = '{"capabilities": {"baselineCapabilitySet": "None"}}'


def a_certificate() -> str:
    return certificates_for(a_cluster()).pairs["root-ca"].certificate


async def trusted(call: Client) -> list[str]:
    document = (await call("GET", FILES, query="file_name=kubeconfig")).json()
    data = document["clusters"][0]["cluster"]["certificate-authority-data"]
    return CERTIFICATE.findall(base64.b64decode(data).decode())


class TestLogin:
    async def test_name_password_and_console(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world, operators=console(OperatorStatus.AVAILABLE))
        password = (await call("GET", FILES, query="file_name=kubeadmin-password")).body.decode()
        assert (await call("GET", f"{CLUSTER}/credentials")).json() == {
            "username": "kubeadmin",
            "password": password,
            "console_url": "https://console-openshift-console.apps.east.example.com",
        }
        assert len(password) == 23

    @pytest.mark.parametrize("status", [None, OperatorStatus.PROGRESSING, OperatorStatus.FAILED])
    async def test_not_before_the_console_is_there(
        self, call: Client, world: World, status: OperatorStatus | None
    ) -> None:
        await a_prepared_cluster(world, operators=console(status))
        assert "console" in reason(await call("GET", f"{CLUSTER}/credentials"), 409)

    async def test_without_a_console_nobody_waits_for_it(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world, operators=(), install_config_overrides=NO_CONSOLE)
        answer = await call("GET", f"{CLUSTER}/credentials")
        assert answer.status == 200
        assert "console_url" not in answer.json()

    async def test_the_agent_based_installer_does_not_wait(self, world: World) -> None:
        await a_prepared_cluster(world, operators=console(None))
        other = dataclasses.replace(world, service=replace(world.service, install_invoker="agent-installer"))
        answer = await Client(an_app(other))("GET", f"{CLUSTER}/credentials")
        assert answer.json()["console_url"].startswith("https://console")

    async def test_a_cluster_without_password(self, call: Client, world: World) -> None:
        await put_cluster(world, operators=console(OperatorStatus.AVAILABLE))
        assert "password" in reason(await call("GET", f"{CLUSTER}/credentials"), 409)

    async def test_an_unknown_cluster(self, call: Client) -> None:
        assert reason(await call("GET", f"/clusters/{UNKNOWN}/credentials"), 404)
        assert reason(
            await call("GET", f"/clusters/{UNKNOWN}/downloads/credentials", query="file_name=kubeconfig"), 404
        )


class TestFiles:
    @pytest.mark.parametrize("name", ["kubeadmin-password", "kubeconfig-noingress", "kubeconfig"])
    @pytest.mark.parametrize("status", list(ClusterStatus))
    async def test_which_state_allows_which(self, call: Client, world: World, status: ClusterStatus, name: str) -> None:
        await a_prepared_cluster(world, status=status)
        allowed = status in WITH_FILES and not (name == "kubeconfig" and status is ClusterStatus.INSTALLING)
        answer = await call("GET", FILES, query=f"file_name={name}")
        assert answer.status == (200 if allowed else 409)
        if allowed:
            assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'

    async def test_the_kubeconfig_falls_back_to_the_one_without_ingress(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world, status=ClusterStatus.FINALIZING)
        whole = await call("GET", FILES, query="file_name=kubeconfig")
        assert whole.body == (await call("GET", FILES, query="file_name=kubeconfig-noingress")).body

    async def test_links(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world, status=ClusterStatus.INSTALLED)
        for name in ("kubeconfig", "kubeadmin-password"):
            link = (await call("GET", f"{FILES}-presigned", query=f"file_name={name}")).json()
            assert (await follow(call, link["url"])).body == (await call("GET", FILES, query=f"file_name={name}")).body
            other = link["url"].replace(name, "kubeconfig-noingress")
            assert (await follow(call, other)).status == 403

    async def test_nothing_made_yet(self, call: Client, world: World) -> None:
        await put_cluster(world, status=ClusterStatus.INSTALLED)
        assert reason(await call("GET", FILES, query="file_name=kubeconfig"), 409)
        assert reason(await call("GET", f"{FILES}-presigned", query="file_name=kubeadmin-password"), 409)

    async def test_a_name_nobody_knows(self, call: Client, world: World) -> None:
        await put_cluster(world)
        assert (await call("GET", FILES, query="file_name=bootstrap.ign")).status == 400


class TestIngressCertificate:
    async def test_it_joins_those_the_kubeconfig_trusts(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world, status=ClusterStatus.FINALIZING)
        before = await trusted(call)
        assert (await call("POST", UPLOAD, a_certificate())).status == 201
        assert await trusted(call) == [*before, a_certificate().strip()]
        cluster = await world.store.cluster(CLUSTER_ID)
        assert cluster is not None
        assert cluster.kubeconfig_complete

    async def test_the_kubeconfig_of_a_releases_installer(self, call: Client, world: World) -> None:
        """That one is YAML in blocks."""
        await a_prepared_cluster(world, status=ClusterStatus.FINALIZING)
        before = await trusted(call)
        ours = (await call("GET", FILES, query="file_name=kubeconfig-noingress")).json()
        theirs = yaml.safe_dump(ours).encode()
        assert not theirs.startswith(b"{")
        await world.blobs.put(f"{CLUSTER_ID}/kubeconfig-noingress", theirs)
        assert (await call("POST", UPLOAD, a_certificate())).status == 201
        assert await trusted(call) == [*before, a_certificate().strip()]

    async def test_a_kubeconfig_that_is_none(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world, status=ClusterStatus.FINALIZING)
        for broken in (b"", b"{", b"clusters: [", b"\xff\xfe"):
            await world.blobs.put(f"{CLUSTER_ID}/kubeconfig-noingress", broken)
            assert "kubeconfig" in reason(await call("POST", UPLOAD, a_certificate()), 400)

    async def test_twice_is_once(self, call: Client, world: World) -> None:
        await a_prepared_cluster(world, status=ClusterStatus.FINALIZING)
        assert (await call("POST", UPLOAD, a_certificate())).status == 201
        once, told = await trusted(call), await event_names(world, CLUSTER_ID)
        await changed(world, status=ClusterStatus.INSTALLED)
        assert (await call("POST", UPLOAD, a_certificate())).status == 201
        assert await trusted(call) == once
        assert (await event_names(world, CLUSTER_ID)).count("cluster_updated") == told.count("cluster_updated")

    @pytest.mark.parametrize("status", sorted(set(ClusterStatus) - {ClusterStatus.FINALIZING, ClusterStatus.INSTALLED}))
    async def test_only_at_the_end(self, call: Client, world: World, status: ClusterStatus) -> None:
        await a_prepared_cluster(world, status=status)
        assert status.value in reason(await call("POST", UPLOAD, a_certificate()), 400)

    @pytest.mark.parametrize(
        "pem",
        [
            "",
            "hello",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        ],
    )
    async def test_what_is_no_certificate(self, call: Client, world: World, pem: str) -> None:
        await a_prepared_cluster(world, status=ClusterStatus.FINALIZING)
        before = await trusted(call)
        assert reason(await call("POST", UPLOAD, pem), 400)
        assert await trusted(call) == before

    async def test_no_kubeconfig_to_add_it_to(self, call: Client, world: World) -> None:
        await put_cluster(world, status=ClusterStatus.FINALIZING)
        assert "kubeconfig" in reason(await call("POST", UPLOAD, a_certificate()), 409)

    async def test_an_unknown_cluster(self, call: Client) -> None:
        assert reason(await call("POST", f"/clusters/{UNKNOWN}/uploads/ingress-cert", a_certificate()), 404)

    async def test_a_body_that_is_no_string(self, call: Client, world: World) -> None:
        await put_cluster(world)
        assert (await call("POST", UPLOAD, {"pem": "x"})).status == 400
