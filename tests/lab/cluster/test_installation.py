"""The controller finishes real installations: a real API server, its own account, stand-ins for kubelets."""

import asyncio
import base64
import ssl
import subprocess
from pathlib import Path
from uuid import UUID

import httpx2
import pytest
import yaml

from firstlight.core.install.controller_manifests import ControllerJob
from firstlight.host.recognising import ignited_addresses
from firstlight.simulate.calls import Service, connect
from firstlight.simulate.ingress import ingress_certificate
from firstlight.simulate.machines import Plan
from lab.cluster.bootkube import ControlPlane, unpack
from lab.cluster.machine_configs import MachineConfigServer
from lab.cluster.objects import put_operator, put_router_certificate
from tests.lab.cluster.clusters import furnished, join_all, joiners, running_controller, status_is, wait_until
from tests.lab.cluster.fleets import reboot_all
from tests.lab.cluster.rogues import approved, rogue_requests, serving_rogues
from tests.services import RunningService

pytestmark = pytest.mark.anyio


def job_for(live: RunningService, cluster_id: UUID, *, count: int) -> ControllerJob:
    return ControllerJob(
        image="registry.example.com/firstlight-controller:1",
        cluster_id=str(cluster_id),
        service_url=live.url,
        openshift_version="4.18.4",
        control_plane_count=count,
    )


async def kubeconfig_of(service: Service, cluster_id: UUID, *, router: str) -> str:
    """The user's kubeconfig, which trusts the router by now."""
    text = (await service.credentials(cluster_id, "kubeconfig")).decode()
    cluster = yaml.safe_load(text)["clusters"][0]["cluster"]
    assert router.strip() in base64.b64decode(cluster["certificate-authority-data"]).decode()
    return text


def nodes_by_kubectl(kubectl: Path, kubeconfig: str, plane: ControlPlane, folder: Path) -> set[str]:
    file = folder / "kubeconfig"
    file.write_text(kubeconfig)
    server = yaml.safe_load(kubeconfig)["clusters"][0]["cluster"]["server"]
    name = server.removeprefix("https://").partition(":")[0]
    # The laboratory has no name server: where the API is has to be said, who it is comes from the kubeconfig.
    command = [kubectl, f"--kubeconfig={file}", f"--server={plane.server}", f"--tls-server-name={name}"]
    shown = subprocess.run([*command, "get", "nodes", "-o", "name"], capture_output=True, text=True, check=True)
    return {line.removeprefix("node/") for line in shown.stdout.split()}


async def test_single_node(live: RunningService, kubectl: Path, tmp_path: Path) -> None:
    async with connect(live.url) as service:
        cluster_id, machines = await reboot_all(service, "alone", Plan(masters=1))
        bootstrap = await service.cluster_file(cluster_id, "bootstrap.ign")
        job, router = job_for(live, cluster_id, count=1), ingress_certificate(str(cluster_id))
        with (
            furnished(bootstrap, tmp_path, job) as plane,
            running_controller(plane, job, tmp_path) as controller,
            joiners(plane, machines) as nodes,
        ):
            put_router_certificate(plane.admin, router)
            await asyncio.to_thread(join_all, nodes)
            await status_is(service, cluster_id, "finalizing")
            put_operator(plane.admin, "version", Available=True, Progressing=False)
            put_operator(plane.admin, "console", Degraded=False, Available=True)
            await status_is(service, cluster_id, "installed")
            assert await asyncio.to_thread(controller.end) == 0
            assert "Traceback" not in controller.said()
            assert "forbidden" not in controller.said()
            kubeconfig = await kubeconfig_of(service, cluster_id, router=router)
            assert nodes_by_kubectl(kubectl, kubeconfig, plane, tmp_path) == {machines[0].name}
            told = yaml.safe_load(await service.ask("GET", f"/v2/clusters/{cluster_id}"))
            assert told["logs_info"] == "completed"
            events = plane.admin.get("/api/v1/namespaces/assisted-installer/events")["items"]
            assert [event["metadata"]["name"] for event in events] == ["AssistedControllerIsReady"]
            ready = "/api/v1/namespaces/assisted-installer/configmaps/assisted-installer-controller-ready"
            assert plane.admin.get(ready)["data"]["ready"] == "true"


async def test_three_and_two_among_rogues(live: RunningService, kubectl: Path, tmp_path: Path) -> None:
    async with connect(live.url) as service:
        cluster_id, machines = await reboot_all(service, "five", Plan(masters=3, workers=2))
        bootstrap = await service.cluster_file(cluster_id, "bootstrap.ign")
        job, router = job_for(live, cluster_id, count=3), ingress_certificate(str(cluster_id))
        with (
            furnished(bootstrap, tmp_path, job) as plane,
            running_controller(plane, job, tmp_path) as controller,
            joiners(plane, machines) as nodes,
        ):
            rogues = await asyncio.to_thread(rogue_requests, plane, machines)
            await asyncio.to_thread(join_all, nodes[:2])
            rogues |= await asyncio.to_thread(serving_rogues, nodes[0], nodes[1], machines)
            assert "forbidden" not in controller.said()
            # The API server dies and comes back, at first without knowing anybody's rights: watches start over.
            await asyncio.to_thread(plane.api_server.kill)
            await asyncio.to_thread(plane.api_server.start)
            await asyncio.to_thread(join_all, nodes[2:])
            await status_is(service, cluster_id, "finalizing")
            put_operator(plane.admin, "version", Progressing=True, Available=False, Degraded=False)
            put_operator(plane.admin, "console", Available=False, Progressing=True, Degraded=True)
            await wait_until(lambda: operator_is(service, cluster_id, "console", "failed"), what="a failed console")
            put_operator(plane.admin, "console", Available=True, Degraded=False)
            put_operator(plane.admin, "version", Available=True)
            put_router_certificate(plane.admin, router)
            await status_is(service, cluster_id, "installed")
            assert await asyncio.to_thread(controller.end) == 0
            said = controller.said()
            assert "Traceback" not in said
            assert {name: approved(plane, name) for name in rogues} == dict.fromkeys(rogues, False)
            lines = [line for line in said.splitlines() if "is not approved" in line]
            for request, why in rogues.items():
                assert any(f" {request} " in line and why in line for line in lines), why
            kubeconfig = await kubeconfig_of(service, cluster_id, router=router)
            assert nodes_by_kubectl(kubectl, kubeconfig, plane, tmp_path) == {one.name for one in machines}
            hosts = await service.cluster_hosts(cluster_id)
            assert {host.reached.current_stage for host in hosts} == {"Done"}


async def operator_is(service: Service, cluster_id: UUID, name: str, status: str) -> bool:
    return any(one.name == name and one.status == status for one in await service.operators(cluster_id))


async def test_machine_configs_are_ours(live: RunningService, tmp_path: Path) -> None:
    """The stand-in serves by the certificate that pointer configs trust, and its log shows who asked."""
    async with connect(live.url) as service:
        cluster_id, _ = await reboot_all(service, "configs", Plan(masters=1))
        home = unpack(await service.cluster_file(cluster_id, "bootstrap.ign"), tmp_path)
    trust = ssl.create_default_context(cafile=str(home / "tls/root-ca.crt"))
    trust.check_hostname = False
    with MachineConfigServer(home, secure_port=0, plain_port=0).running() as server:
        url = f"https://127.0.0.1:{server.ports[0]}/config/worker"
        answer = httpx2.get(url, verify=trust, headers={"User-Agent": "Ignition/2.14.0"}, trust_env=False)
        assert answer.json()["storage"]["files"][0]["path"] == "/etc/kubernetes/kubeconfig"
        assert httpx2.get(f"http://127.0.0.1:{server.ports[1]}/config/nobody", trust_env=False).status_code == 404
        assert {str(one) for one in ignited_addresses(server.log)} == {"127.0.0.1"}
