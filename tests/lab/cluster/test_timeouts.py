"""Time that is over: without mercy the cluster fails and its logs are there, with soft limits it is only told."""

import asyncio
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from firstlight.simulate.calls import Service, connect
from firstlight.simulate.ingress import ingress_certificate
from firstlight.simulate.machines import Plan
from lab.cluster.kubelet import Kubelet
from lab.cluster.objects import put_operator, put_router_certificate
from tests.lab.cluster import furniture
from tests.lab.cluster.clusters import (
    ControllerProcess,
    furnished,
    join_all,
    joiners,
    running_controller,
    status_is,
    wait_until,
)
from tests.lab.cluster.fleets import reboot_all
from tests.lab.cluster.test_installation import job_for
from tests.lab.cluster.test_operators import put_csv
from tests.services import run_service

pytestmark = pytest.mark.anyio
LIMIT = "FINALIZING_STAGE_{}_TIMEOUT"
POLLS = {"FIRSTLIGHT_POLL_SECONDS": "5"}
OC = """#!/bin/sh
for word in "$@"; do
    case $word in --dest-dir=*) folder=${{word#*=}} ;; --kubeconfig=*) kubeconfig=$word ;; esac
done
echo "$@" > "$folder/arguments"
{kubectl} "$kubeconfig" get secrets --all-namespaces -o name > "$folder/secrets"
"""
OPERATORS, ROUTER, OBJECTS = "Waiting for cluster operators", "Adding router ca", "Applying olm manifests"


async def events_of(service: Service, cluster_id: UUID) -> list[Any]:
    return json.loads(await service.ask("GET", "/v2/events", query={"cluster_id": str(cluster_id)}))


async def said_by(controller: ControllerProcess, words: str) -> bool:
    return words in controller.said()


async def gathered(service: Service, cluster_id: UUID) -> dict[str, bytes]:
    """Files in the controller's logs as a user downloads them, those of an archive inside them too."""
    query = {"logs_type": "controller"}
    archive = await service.ask("GET", f"/v2/clusters/{cluster_id}/logs", query=query)
    return unpacked(archive)


def unpacked(archive: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for member in opened.getmembers():
            file = opened.extractfile(member)
            if file is None:
                continue
            content = file.read()
            found[member.name] = content
            if member.name.endswith(".tar.gz"):
                found |= unpacked(content)
    return found


async def test_a_degraded_operator_until_the_time_is_over(kubectl: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "oc").write_text(OC.format(kubectl=kubectl))
    (programs / "oc").chmod(0o755)
    variables = {"PATH": f"{programs}:{os.environ['PATH']}", "MUST_GATHER_IMAGE": '{"ocp": "ocp-image"}'}
    settings = {LIMIT.format("WAITING_FOR_CLUSTER_OPERATORS"): "4s", **POLLS}
    with run_service(tmp_path, **settings) as live:
        async with connect(live.url) as service:
            cluster_id, machines = await reboot_all(service, "hard", Plan(masters=3))
            bootstrap = await service.cluster_file(cluster_id, "bootstrap.ign")
            job = job_for(live, cluster_id, count=3)
            with (
                furnished(bootstrap, tmp_path, job) as plane,
                running_controller(plane, job, tmp_path, **variables) as controller,
                joiners(plane, machines) as nodes,
            ):
                await asyncio.to_thread(nodes[0].join)
                kubelet = Kubelet(nodes[0])
                space, pod = furniture.MCS, "crashing"
                kubelet.logs[f"{space}/{pod}/main"] = "panic: no such disk\n"
                kubelet.logs[f"previous/{space}/{pod}/main"] = "panic: the life before\n"
                with kubelet.running():
                    furniture.put_pod(plane.admin, space, pod, node=nodes[0].name)
                    furniture.put_pod_status(plane.admin, space, pod, container="main", restarts=3, ready=False)
                    await asyncio.to_thread(nodes[0].become_ready)
                    await asyncio.to_thread(join_all, nodes[1:])
                    put_operator(plane.admin, "version", Available=True)
                    put_operator(plane.admin, "console", Available=False, Degraded=True)
                    await status_is(service, cluster_id, "error")
                    assert await asyncio.to_thread(controller.end) == 0
            assert "Traceback" not in controller.said()
            assert json.loads(await service.ask("GET", f"/v2/clusters/{cluster_id}"))["logs_info"] == "completed"
            await the_logs_tell(service, cluster_id)
            told = [one for one in await events_of(service, cluster_id) if "console" in one["message"]]
            assert any("Degraded is True" in one["message"] for one in told)


async def the_logs_tell(service: Service, cluster_id: UUID) -> None:
    async def all_there() -> dict[str, bytes] | None:
        files = {name.rpartition("must-gather/")[2]: content for name, content in (await listed()).items()}
        return files if "secrets" in files else None

    async def listed() -> dict[str, bytes]:
        return await gathered(service, cluster_id)

    files = await wait_until(all_there, what="all logs")
    by_end = {name.partition("cluster/")[2] or name.rpartition("/")[2]: text for name, text in files.items()}
    assert b"The installation is over" in by_end["assisted-installer-controller.logs"]
    assert b"console: Degraded is True" in by_end["cluster-operators.json"]
    assert by_end[f"pods/{furniture.MCS}/crashing/main.log"] == b"panic: no such disk\n"
    assert by_end[f"pods/{furniture.MCS}/crashing/main.previous.log"] == b"panic: the life before\n"
    assert b"--image=ocp-image" in by_end["arguments"]
    # The real kubectl could read what only the installation's own kubeconfig may.
    assert b"secret/assisted-installer-controller-secret" in by_end["secrets"]


async def test_soft_limits_are_told_and_the_installation_goes_on(kubectl: Path, tmp_path: Path) -> None:
    limits = {LIMIT.format(stage.upper().replace(" ", "_")): "2s" for stage in (OPERATORS, ROUTER, OBJECTS)}
    with run_service(tmp_path, ENABLE_SOFT_TIMEOUTS="true", **limits, **POLLS) as live:
        async with connect(live.url) as service:
            cluster_id, machines = await reboot_all(service, "soft", Plan(masters=1), olm_operators=[{"name": "lvm"}])
            bootstrap = await service.cluster_file(cluster_id, "bootstrap.ign")
            job = job_for(live, cluster_id, count=1)

            async def late(stage: str) -> bool:
                cluster = await service.cluster(cluster_id)
                assert cluster.status in ("installing", "finalizing")
                names = [one["name"] for one in await events_of(service, cluster_id) if stage in one["message"]]
                return "finalizing_stage_timed_out" in names

            with (
                furnished(bootstrap, tmp_path, job) as plane,
                running_controller(plane, job, tmp_path) as controller,
                joiners(plane, machines) as nodes,
            ):
                await asyncio.to_thread(join_all, nodes)
                put_operator(plane.admin, "version", Available=False, Progressing=True)
                await wait_until(lambda: late(OPERATORS), what="slow operators")
                await wait_until(
                    lambda: said_by(controller, "nothing can go on without it"), what="the controller's word"
                )
                put_operator(plane.admin, "console", Available=True)
                put_operator(plane.admin, "version", Available=True)
                await wait_until(lambda: late(ROUTER), what="a slow router")
                put_router_certificate(plane.admin, ingress_certificate("soft"))
                operators = json.loads(await service.ask("GET", f"/v2/clusters/{cluster_id}/monitored-operators"))
                lvm = next(one for one in operators if one["name"] == "lvm")
                # The operator runs, but the kind of its objects is never there: that is not waited for.
                put_csv(plane.admin, lvm, phase="Succeeded", message="")
                await wait_until(lambda: late(OBJECTS), what="slow objects")
                await status_is(service, cluster_id, "installed")
                assert await asyncio.to_thread(controller.end) == 0
            said = controller.said()
            assert "Traceback" not in said
            assert "Apply the objects of lvm by hand" in said
