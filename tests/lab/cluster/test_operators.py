"""Operators that OLM installs, one well and one not, while the service goes away and comes back."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firstlight.simulate.calls import connect
from firstlight.simulate.ingress import ingress_certificate
from firstlight.simulate.machines import Plan
from lab.cluster.api import Api, Json, wait_for
from lab.cluster.objects import OLM, definition, place, put_operator, put_router_certificate, put_status
from tests.lab.cluster.clusters import furnished, join_all, joiners, running_controller, status_is
from tests.lab.cluster.fleets import reboot_all
from tests.lab.cluster.test_installation import job_for
from tests.services import loopback_listeners, run_service

pytestmark = pytest.mark.anyio
CLUSTERS = ("lvm.topolvm.io", "v1alpha1", "LVMCluster", "lvmclusters", "Namespaced")
OLM_VERSION = "operators.coreos.com/v1alpha1"


def put_csv(admin: Api, operator: Json, *, phase: str, message: str) -> None:
    """What OLM does for a subscription."""
    space, name = operator["namespace"], operator["subscription_name"]
    place(admin, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
    root = f"{OLM}/namespaces/{space}"
    csv: Json = {"phase": phase, "message": message}
    put_status(
        admin,
        f"{root}/clusterserviceversions/{name}.v1",
        api_version=OLM_VERSION,
        kind="ClusterServiceVersion",
        status=csv,
        version="1.2.3",
    )
    chosen: Json = {"currentCSV": f"{name}.v1"}
    put_status(admin, f"{root}/subscriptions/{name}", api_version=OLM_VERSION, kind="Subscription", status=chosen)


async def test_one_operator_fails_and_the_service_is_away(kubectl: Path, tmp_path: Path) -> None:
    settings = {**loopback_listeners(), "FIRSTLIGHT_POLL_SECONDS": "5"}
    router = ingress_certificate("olm")
    with run_service(tmp_path, **settings) as live:
        async with connect(live.url) as service:
            wanted = [{"name": "lvm"}, {"name": "lso"}]
            cluster_id, machines = await reboot_all(service, "olm", Plan(masters=1), olm_operators=wanted)
            bootstrap = await service.cluster_file(cluster_id, "bootstrap.ign")
            path = f"/v2/clusters/{cluster_id}/monitored-operators"

            async def operators() -> dict[str, Any]:
                return {one["name"]: one for one in msgspec.json.decode(await service.ask("GET", path))}

            job = job_for(live, cluster_id, count=1)
            with (
                furnished(bootstrap, tmp_path, job) as plane,
                running_controller(plane, job, tmp_path) as controller,
                joiners(plane, machines) as nodes,
            ):
                await asyncio.to_thread(join_all, nodes)
                await status_is(service, cluster_id, "finalizing")
                listed = await operators()
                put_operator(plane.admin, "version", Available=True)
                put_operator(plane.admin, "console", Available=True)
                put_router_certificate(plane.admin, router)
                # The kind that the first operator brings; the second is not even subscribed yet.
                place(plane.admin, definition(*CLUSTERS))
                put_csv(plane.admin, listed["lvm"], phase="Succeeded", message="all is well")
                space = listed["lvm"]["namespace"]
                where = f"/apis/lvm.topolvm.io/v1alpha1/namespaces/{space}/lvmclusters"

                def applied() -> object:
                    return plane.admin.get(where)["items"]

                await asyncio.to_thread(wait_for, applied, what="applying what the first operator understands")
                os.kill(live.pid, signal.SIGKILL)
                put_csv(plane.admin, listed["lso"], phase="Failed", message="no such image")
                with run_service(tmp_path, **settings):
                    await status_is(service, cluster_id, "installed", seconds=90)
                    found = await operators()
                    assert await asyncio.to_thread(controller.end) == 0
                assert (found["lvm"]["status"], found["lso"]["status"]) == ("available", "failed")
                assert found["lso"]["status_info"] == "no such image"
                assert "Traceback" not in controller.said()
                assert "forbidden" not in controller.said()
