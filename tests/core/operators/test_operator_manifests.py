"""Operators as files."""

import base64
import json
import subprocess
from typing import Any

import pytest

from firstlight.core.model.cluster import Operator
from firstlight.core.model.cluster_status import OperatorKind
from firstlight.core.model.host_status import HostRole
from firstlight.core.operators.catalogue import OPERATORS
from firstlight.core.operators.manifests import (
    CONFIG_MAP_FILE,
    custom_manifests,
    custom_manifests_file,
    openshift_manifests,
)
from tests.builders.clusters import a_cluster, a_policy
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import GB, a_disk, an_inventory

SPARE = an_inventory(1, disks=(a_disk(1), a_disk(2, size_bytes=30 * GB), a_disk(3, size_bytes=30 * GB)))
HOSTS = tuple(
    host_state(number, role=HostRole.MASTER, reports=some_reports(number, inventory=SPARE)) for number in (1, 2, 3)
)


def cluster_with(*names: str, **changes: Any) -> Any:
    operators = tuple(Operator(name=name, kind=OperatorKind.OLM) for name in names)
    return a_cluster(operators=(Operator(name="console", kind=OperatorKind.BUILTIN), *operators), **changes)


def files_of(*names: str, **changes: Any) -> dict[str, dict[str, Any]]:
    files = openshift_manifests(cluster_with(*names, **changes), HOSTS, policy=a_policy())
    return {name: json.loads(text) for name, text in files.items()}


def documents_of(*names: str, **changes: Any) -> list[tuple[str, list[dict[str, Any]]]]:
    found = custom_manifests(cluster_with(*names, **changes), HOSTS, policy=a_policy())
    return [
        (
            manifest.name,
            [json.loads(part) for part in base64.b64decode(manifest.content).decode().split("\n---\n") if part],
        )
        for manifest in found
    ]


def kinds_of(name: str, *also: str, **changes: Any) -> list[str]:
    return [document["kind"] for document in dict(documents_of(name, *also, **changes))[name]]


def test_without_operators_there_is_nothing() -> None:
    assert files_of() == {}
    assert documents_of() == []
    assert custom_manifests_file(cluster_with(), HOSTS, policy=a_policy()) == "[]"


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_every_operator_is_subscribed_to(name: str) -> None:
    files = files_of(name)
    spec = OPERATORS[name]
    subscription = files[f"50_openshift-{name}_subscription.yaml"]
    assert subscription["kind"] == "Subscription"
    assert subscription["metadata"] == {"name": spec.subscription_name("4.18.3"), "namespace": spec.namespace}
    assert subscription["spec"]["installPlanApproval"] == "Automatic"
    assert subscription["spec"]["sourceNamespace"] == "openshift-marketplace"
    for document in files.values():
        assert document.keys() >= {"apiVersion", "kind", "metadata"}
        assert document["metadata"]["name"]
    for _, documents in documents_of(name):
        assert all(document.keys() >= {"apiVersion", "kind", "metadata"} for document in documents)


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_a_namespace_comes_with_its_group(name: str) -> None:
    files = files_of(name)
    spec = OPERATORS[name]
    own = f"50_openshift-{name}_ns.yaml" in files
    assert own is (f"50_openshift-{name}_operator_group.yaml" in files)
    if own:
        assert files[f"50_openshift-{name}_ns.yaml"]["metadata"]["name"] == spec.namespace
        targets = files[f"50_openshift-{name}_operator_group.yaml"]["spec"].get("targetNamespaces")
        assert targets in (None, [spec.namespace])
    else:
        providers = {other.namespace for other in map(OPERATORS.get, spec.dependencies) if other is not None}
        assert spec.namespace in {"openshift-operators", *providers}


def test_what_the_controller_applies() -> None:
    found = {name: kinds_of(name) for name in OPERATORS}
    assert found == {
        "amd-gpu": ["MachineConfig", "MachineConfig", "DeviceConfig"],
        "authorino": [],
        "cluster-observability": ["MonitoringStack", "ThanosQuerier"],
        "cnv": ["HyperConverged"],
        "fence-agents-remediation": [],
        "kmm": [],
        "kube-descheduler": ["KubeDescheduler"],
        "loki": [],
        "lso": ["LocalVolumeSet"],
        "lvm": ["LVMCluster"],
        "mce": ["MultiClusterEngine"],
        "metallb": ["MetalLB"],
        "mtv": ["ForkliftController"],
        "nmstate": ["NMState"],
        "node-feature-discovery": ["NodeFeatureDiscovery"],
        "node-healthcheck": ["NodeHealthCheck"],
        "node-maintenance": [],
        "numaresources": ["NUMAResourcesOperator"],
        "nvidia-gpu": ["ClusterPolicy"],
        "oadp": ["DataProtectionApplication"],
        "odf": ["StorageSystem", "StorageCluster"],
        "openshift-ai": ["DSCInitialization", "DataScienceCluster"],
        "openshift-logging": [],
        "osc": ["KataConfig"],
        "pipelines": [],
        "self-node-remediation": [],
        "serverless": [],
        "servicemesh": [],
    }


def test_the_controllers_file() -> None:
    text = custom_manifests_file(cluster_with("lso", "odf"), HOSTS, policy=a_policy())
    entries = json.loads(text)
    assert [entry["Name"] for entry in entries] == ["lso", "odf"]
    assert all(entry.keys() == {"Name", "Content"} for entry in entries)


def test_storage_counts_the_spare_disks() -> None:
    (_, documents) = documents_of("odf")[0]
    cluster = documents[1]
    assert cluster["spec"]["storageDeviceSets"][0]["count"] == 6
    assert cluster["spec"]["resources"]["mds"]["limits"] == {"cpu": "3", "memory": "8Gi"}
    assert kinds_of("odf", openshift_version="4.19.0") == ["StorageCluster"]


def test_storage_on_workers_keeps_the_usual_sizes() -> None:
    workers = tuple(
        host_state(number, role=HostRole.WORKER, reports=some_reports(number, inventory=SPARE)) for number in (4, 5, 6)
    )
    manifests = custom_manifests(cluster_with("odf"), HOSTS + workers, policy=a_policy())
    text = base64.b64decode(manifests[0].content).decode().split("\n---\n")[1]
    assert "resources" not in json.loads(text)["spec"]


@pytest.mark.parametrize(("storage", "class_name"), [("odf", "ocs-storagecluster-cephfs"), ("lvm", "lvms-vg1")])
def test_a_hub_with_storage_brings_its_own_installer(storage: str, class_name: str) -> None:
    name, (service,) = documents_of("mce", storage)[-1]
    assert name == storage
    assert service["kind"] == "AgentServiceConfig"
    claims = [service["spec"][part] for part in ("databaseStorage", "filesystemStorage", "imageStorage")]
    assert [claim["resources"]["requests"]["storage"] for claim in claims] == ["10Gi", "10Gi", "50Gi"]
    assert {claim["storageClassName"] for claim in claims} == {class_name}


def test_the_cluster_keeps_a_copy_for_itself() -> None:
    files = files_of("mce", "lvm")
    data = files[CONFIG_MAP_FILE]["data"]
    about = json.loads(data["lvm.metadata.yaml"])
    assert about == {
        "namespace": "openshift-storage",
        "subscriptionName": "lvms-operator",
        "manifests": ["lvm-01.yaml", "lvm-02.yaml"],
    }
    assert json.loads(base64.b64decode(data["lvm-01.yaml"]))["kind"] == "LVMCluster"
    assert json.loads(base64.b64decode(data["lvm-02.yaml"]))["kind"] == "AgentServiceConfig"


@pytest.mark.parametrize(
    ("version", "profile", "tuned", "kinds"),
    [
        ("4.16.1", "DevPreviewLongLifecycle", True, 1),
        ("4.17.1", "LongLifecycle", True, 1),
        ("4.18.0", "DevKubeVirtRelieveAndMigrate", True, 3),
        ("4.19.0", "DevKubeVirtRelieveAndMigrate", False, 3),
        ("4.20.0", "KubeVirtRelieveAndMigrate", False, 3),
    ],
)
def test_the_descheduler_moves_virtual_machines(version: str, profile: str, kinds: int, *, tuned: bool) -> None:
    documents = dict(documents_of("kube-descheduler", "cnv", openshift_version=version))["kube-descheduler"]
    assert documents[0]["spec"]["profiles"][0] == profile
    assert ("profileCustomizations" in documents[0]["spec"]) is tuned
    assert len(documents) == kinds


def test_hostpath_volumes_on_old_single_nodes() -> None:
    old = {"openshift_version": "4.11.0", "control_plane_count": 1}
    assert kinds_of("cnv", **old) == ["HyperConverged", "HostPathProvisioner"]
    assert "50_openshift-cnv_hpp_sc.yaml" in files_of("cnv", **old)
    assert "50_openshift-cnv_hpp_sc.yaml" not in files_of("cnv")


def test_models_get_a_default_storage_class_and_profiles() -> None:
    script = script_of(files_of("openshift-ai")["50_openshift-openshift-ai_setup_job.yaml"])
    assert "ocs-storagecluster-ceph-rbd" in script
    single = files_of("openshift-ai", control_plane_count=1)["50_openshift-openshift-ai_setup_job.yaml"]
    assert "lvms-vg1" in json.dumps(single)
    documents = dict(documents_of("openshift-ai", "nvidia-gpu", "amd-gpu"))["openshift-ai"]
    assert [document["metadata"]["name"] for document in documents[2:]] == ["amd-gpu", "nvidia-gpu"]
    assert kinds_of("openshift-ai", "nvidia-gpu")[2:] == ["HardwareProfile"]


def script_of(job: dict[str, Any]) -> str:
    return job["spec"]["template"]["spec"]["containers"][0]["command"][2]


def test_the_registry_patch_is_json() -> None:
    """Run as the shell would, with the cluster's tool replaced by one that shows what it is given."""
    script = script_of(files_of("kmm", "odf")["50_openshift-kmm_setup_job.yaml"])
    stand_in = 'oc() { case "$*" in *phase*) echo Bound;; *patch*) echo "PATCH ${@: -1}";; *) echo eA==;; esac; }\n'
    shown = subprocess.run(["bash", "-ec", stand_in + script], capture_output=True, text=True, check=True, timeout=20)
    patch = next(line for line in shown.stdout.splitlines() if line.startswith("PATCH "))
    spec = json.loads(patch.removeprefix("PATCH "))["spec"]
    assert spec["storage"]["s3"]["trustedCA"] == {"name": "registry-ca"}
    assert spec["disableRedirect"] is True


def test_modules_are_built_where_the_registry_has_storage() -> None:
    assert "50_openshift-kmm_setup_job.yaml" not in files_of("kmm")
    job = files_of("kmm", "odf")["50_openshift-kmm_setup_job.yaml"]
    assert job["metadata"]["labels"] == {"agent-install.openshift.io/setup-job": "kmm"}


def test_features_of_amd_are_labelled_when_wanted() -> None:
    assert kinds_of("node-feature-discovery", "amd-gpu") == [
        "NodeFeatureDiscovery",
        "NodeFeatureRule",
        "NodeFeatureRule",
    ]
