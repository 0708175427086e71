"""The running cluster grows by a worker: its configuration comes from the cluster, its certificates from a person."""

import pytest

from tests.lab.agents.laboratory import API_VIP, PLANS
from tests.lab.installs.site import CLUSTER, LATE, Site

pytestmark = pytest.mark.timeout(600)
GROWN = f"{CLUSTER}-day2"


def host_status(site: Site) -> str:
    return next((str(host.status) for host in site.watcher.cluster.hosts), "")


def approve_all(site: Site) -> None:
    """As a person does who expects a new node."""
    lines = site.kubectl(CLUSTER, "get", "csr", "--no-headers").splitlines()
    pending = [line.split()[0] for line in lines if line.split()[-1] == "Pending"]
    if pending:
        site.kubectl(CLUSTER, "certificate", "approve", *pending)


def test_a_worker_joins_the_running_cluster(site: Site) -> None:
    infra_env_id = site.create(GROWN)
    machine = site.switch_on(LATE, infra_env_id)
    site.until(lambda: host_status(site) == "known", what="the worker may be installed", seconds=180)
    site.aicli("start", "cluster", GROWN)
    site.until(lambda: host_status(site) == "added-to-existing-cluster", what="the worker is added", seconds=180)
    site.until(lambda: machine.is_installed, what="the worker reboots", seconds=60)

    def joined() -> bool:
        approve_all(site)
        return site.nodes(CLUSTER).get(LATE.name) == "Ready"

    site.until(joined, what="the worker is a node", seconds=120)
    assert site.nodes(CLUSTER) == {plan.name: "Ready" for plan in (*PLANS, LATE)}
    assert site.has_image(machine)
    assert f"fetching http://{API_VIP}:22624/config/worker" in machine.node_log()
