"""The files of a whole preparation: 3+2, single node, arbiter."""

import json
from uuid import UUID

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.kube_objects import kube_object, manifest
from firstlight.core.install.outputs import installation_files
from firstlight.core.install.system_manifests import SystemSettings, system_manifests
from firstlight.core.model.host_status import HostRole
from tests.core.install.clusters import THREE_MASTERS, TWO_WORKERS, a_cluster, a_host, a_single_node
from tests.core.install.installations import IDENTITY, an_installation
from tests.core.install.validator import verdict

ARBITER = a_cluster(control_plane_count=2, version="4.20.1", hosts=(*THREE_MASTERS[:2], a_host(3, HostRole.ARBITER)))
TEXTS = {"install-config.yaml", "metadata.json", "kubeadmin-password", "kubeconfig-noingress"}


def made(cluster: ClusterInputs) -> dict[str, bytes]:
    plain = [one for one in system_manifests(cluster, SystemSettings()) if one.documents]
    return installation_files(an_installation(cluster), manifests=plain)


@pytest.mark.parametrize(
    ("cluster", "names"),
    [
        pytest.param(
            a_cluster(),
            {
                "bootstrap.ign",
                "master.ign",
                "worker.ign",
                *(f"master-{UUID(int=number)}.ign" for number in (1, 2, 3)),
                *(f"worker-{UUID(int=number)}.ign" for number in (4, 5)),
            },
            id="three-and-two",
        ),
        pytest.param(
            a_single_node(),
            {"bootstrap.ign", "master.ign", "worker.ign", f"master-{UUID(int=1)}.ign"},
            id="single-node",
        ),
        pytest.param(
            ARBITER,
            {
                "bootstrap.ign",
                "master.ign",
                "worker.ign",
                "arbiter.ign",
                *(f"master-{UUID(int=number)}.ign" for number in (1, 2)),
                f"arbiter-{UUID(int=3)}.ign",
            },
            id="arbiter",
        ),
    ],
)
def test_names(cluster: ClusterInputs, names: set[str]) -> None:
    files = made(cluster)
    assert set(files) == names | TEXTS
    assert files["kubeadmin-password"] == IDENTITY.kubeadmin_password.encode()
    assert json.loads(files["install-config.yaml"])["metadata"] == {"name": "sky"}


@pytest.mark.peer("ignition")
@pytest.mark.parametrize(
    "cluster", [a_cluster(), a_single_node(), ARBITER], ids=["three-and-two", "single-node", "arbiter"]
)
def test_the_peer_accepts_every_config(cluster: ClusterInputs) -> None:
    for name, content in made(cluster).items():
        if name.endswith(".ign"):
            assert verdict(content) == "", name


def test_the_services_manifests_are_on_board() -> None:
    config = ignition.parse(made(a_cluster())["bootstrap.ign"])
    path = "/opt/openshift/openshift/50-masters-chrony-configuration.yaml"
    assert ignition.content_of(config, path) is not None
    version = json.loads(ignition.content_of(config, "/opt/openshift/manifests/cvo-overrides.yaml") or b"")
    assert "50-masters-chrony-configuration" in {one["name"] for one in version["spec"]["overrides"]}


def test_a_single_node_points_nowhere() -> None:
    config = ignition.parse(made(a_single_node())[f"master-{UUID(int=1)}.ign"])
    assert config.ignition.config.merge == ()
    assert ignition.content_of(config, "/etc/hostname") == b"master-1"


def test_the_bootstrap_role_is_a_master_and_the_undecided_a_worker() -> None:
    hosts = (a_host(1, HostRole.BOOTSTRAP), *THREE_MASTERS[1:], *TWO_WORKERS, a_host(9, HostRole.AUTO_ASSIGN))
    files = made(a_cluster(hosts=hosts))
    assert f"master-{UUID(int=1)}.ign" in files
    assert f"worker-{UUID(int=9)}.ign" in files
    config = json.loads(files["install-config.yaml"])
    assert (config["controlPlane"]["replicas"], config["compute"][0]["replicas"]) == (3, 3)


def test_pools_come_from_the_manifests() -> None:
    cluster = a_cluster(hosts=(*THREE_MASTERS, a_host(4, HostRole.WORKER, machine_config_pool="infra")))
    with pytest.raises(Invalid, match="pool infra"):
        installation_files(an_installation(cluster))
    pool = kube_object("machineconfiguration.openshift.io/v1", "MachineConfigPool", "infra", spec={})
    files = installation_files(an_installation(cluster), manifests=[manifest("openshift", "pool.yaml", pool)])
    config = ignition.parse(files[f"worker-{UUID(int=4)}.ign"])
    assert (config.ignition.config.merge[0].source or "").endswith("/config/infra")
