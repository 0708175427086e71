"""Five machines become a running cluster: real agents, openshift-install, installers, control plane, controller."""

from pathlib import Path

import pytest

from firstlight.simulate.ingress import ingress_certificate
from tests.lab.agents.laboratory import API_VIP, INGRESS_VIP, PLANS
from tests.lab.agents.watching import V1
from tests.lab.installs.site import CLUSTER, IMAGE_BYTES, Site, the_peer

pytestmark = pytest.mark.timeout(900)
LAST = ("Rebooting", "Configuring", "Joined", "Done")
BOTH = ("Starting installation", "Installing", "Writing image to disk")
STAGES = {
    "bootstrap": (
        *BOTH,
        "Waiting for control plane",
        "Waiting for bootkube",
        "Waiting for controller",
        *LAST,
    ),
    "master": (*BOTH, *LAST),
    "worker": (*BOTH, "Waiting for control plane", *LAST),
}


def status_of(site: Site) -> str:
    return str(site.watcher.cluster.status)


def test_it_becomes_ready(site: Site) -> None:
    infra_env_id = site.create(CLUSTER, api_vip=API_VIP, ingress_vip=INGRESS_VIP)
    site.watcher.cluster_id = site.watcher.call(lambda: site._aicli.cluster(CLUSTER)["id"])
    for plan in PLANS:
        site.switch_on(plan, infra_env_id)
    site.until(lambda: len(site.watcher.cluster.hosts) == len(PLANS), what="five hosts", seconds=120)
    for role, names in (("master", "cp"), ("worker", "w-")):
        site.aicli("update", "host", "-P", f"role={role}", "-P", f"infraenv={CLUSTER}", names)
    site.until(lambda: status_of(site) == "ready", what="the cluster is ready", seconds=180)


def test_it_is_installed(site: Site) -> None:
    cluster = site.a_cluster(
        CLUSTER, address=API_VIP, where=lambda: site.network.plug("api", f"{API_VIP}/24", mac="52:54:00:77:01:02")
    )
    site.aicli("start", "cluster", CLUSTER)
    site.installs_until("finalizing", seconds=400)
    cluster.settle_operators(ingress_certificate(CLUSTER))
    site.installs_until("installed", seconds=120)


def test_everybody_went_through_every_stage(site: Site) -> None:
    lanes = site.watcher.get(f"{V1}/v1/clusters/{site.watcher.cluster_id}/timeline")["lanes"]
    found = {lane["name"]: tuple(span["stage"] for span in lane["spans"]) for lane in lanes}
    kinds = {lane["name"]: "bootstrap" if lane["bootstrap"] else lane["role"] for lane in lanes}
    assert found == {name: STAGES[kind] for name, kind in kinds.items()}


def test_the_image_is_on_every_disk(site: Site) -> None:
    wanted = (site.folder / "disk.raw").read_bytes()
    for machine in site.machines.values():
        with Path(machine.host.device).open("rb") as disk:
            assert disk.read(IMAGE_BYTES) == wanted, machine.name


def test_kubectl_takes_the_kubeconfig(site: Site) -> None:
    site.aicli("download", "kubeconfig", CLUSTER)
    kubeconfig = site.home / f"kubeconfig.{CLUSTER}"
    shown = site.at_desk(the_peer("kubectl"), f"--kubeconfig={kubeconfig}", "get", "nodes", "--no-headers")
    assert {tuple(line.split()[:2]) for line in shown.splitlines()} == {(plan.name, "Ready") for plan in PLANS}
