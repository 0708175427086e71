"""Five machines become a running cluster: real agents, openshift-install, installers, control plane, controller."""

import pytest

from firstlight.simulate.ingress import ingress_certificate
from tests.lab.agents.laboratory import API_VIP, INGRESS_VIP, PLANS
from tests.lab.installs.release import PARTS
from tests.lab.installs.site import APPLIES, CLUSTER, FINALIZING, Site

pytestmark = pytest.mark.timeout(900)
BOTH = ("Starting installation", "Installing", "Writing image to disk")
LAST = ("Rebooting", "Configuring", "Joined", "Done")
WAITS = ("Waiting for control plane", "Waiting for bootkube", "Waiting for controller")
STAGES = {"master": (*BOTH, *LAST), "worker": (*BOTH, WAITS[0], *LAST), "bootstrap": (*BOTH, *WAITS, *LAST)}


def test_it_becomes_ready(site: Site) -> None:
    infra_env_id = site.create(CLUSTER, api_vip=API_VIP, ingress_vip=INGRESS_VIP)
    for plan in PLANS:
        site.switch_on(plan, infra_env_id)
    site.until(lambda: len(site.watcher.cluster.hosts) == len(PLANS), what="five hosts", seconds=120)
    for role, names in (("master", "cp"), ("worker", "w-")):
        site.aicli("update", "host", "-P", f"role={role}", "-P", f"infraenv={CLUSTER}", names)
    site.until(lambda: site.watcher.cluster.status == "ready", what="the cluster is ready", seconds=180)


def test_it_is_installed(site: Site) -> None:
    cluster = site.a_cluster(
        CLUSTER,
        *(plan.name for plan in PLANS),
        address=API_VIP,
        where=lambda: site.network.plug("api", f"{API_VIP}/24", mac="52:54:00:77:01:02"),
    )
    site.aicli("start", "cluster", CLUSTER)
    site.installs_until("finalizing", seconds=400)
    cluster.settle_operators(ingress_certificate(CLUSTER))
    site.installs_until("installed", seconds=120)


def test_everybody_went_through_every_stage(site: Site) -> None:
    hosts = site.watcher.cluster.hosts
    kinds = {host.requested_hostname: "bootstrap" if host.bootstrap else host.role for host in hosts}
    assert sorted(kinds.values()) == ["bootstrap", "master", "master", "worker", "worker"]
    assert site.stages() == {name: STAGES[kind] for name, kind in kinds.items()} | {"": FINALIZING}
    assert site.statuses() == ["preparing-for-installation", "installing", "finalizing", "installed"]


def test_the_first_boot_was_told(site: Site) -> None:
    """By the unit of our own that each machine's Ignition has; nobody joins before it was heard."""
    assert site.first_boots == {plan.name: APPLIES for plan in PLANS}


def test_logs_of_all_are_there(site: Site) -> None:
    assert {host.logs_info for host in site.watcher.cluster.hosts} == {"completed"}
    # The controller sends its last log after it has said that all is done.
    site.until(
        lambda: site.watcher.cluster.controller_logs_collected_at.year > 1, what="the controller's log", seconds=120
    )


def test_the_image_is_on_every_disk(site: Site) -> None:
    for plan in PLANS:
        machine = site.machines[plan.name]
        assert site.has_image(machine), machine.name
        [written] = machine.host.calls("coreos-installer")
        assert written.startswith(f"install --insecure -i /opt/install-dir/{plan.role}-{plan.uuid}.ign ")
        assert written.endswith(machine.host.device)


def test_the_bootstrap_ran_the_releases_own_daemon(site: Site) -> None:
    laid = [call for plan in PLANS for call in site.machines[plan.name].host.calls("podman") if "--once-from" in call]
    assert len(laid) == 1
    assert f" {PARTS['machine-config-operator']} start " in laid[0]


def test_kubectl_takes_the_kubeconfig(site: Site) -> None:
    assert site.nodes(CLUSTER) == {plan.name: "Ready" for plan in PLANS}
