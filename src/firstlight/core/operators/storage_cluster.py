"""The storage cluster Data Foundation is asked for: all local block devices of the workers."""

from typing import Final

from firstlight.core.operators.spec import Document

NAMESPACE: Final = "openshift-storage"
NAME: Final = "ocs-storagecluster"
_WORKER: Final = "node-role.kubernetes.io/worker"


def storage_system() -> Document:
    """Wanted by releases before 4.19."""
    return {
        "apiVersion": "odf.openshift.io/v1alpha1",
        "kind": "StorageSystem",
        "metadata": {"name": f"{NAME}-storagesystem", "namespace": NAMESPACE},
        "spec": {"kind": "storagecluster.ocs.openshift.io/v1", "name": NAME, "namespace": NAMESPACE},
    }


def storage_cluster(*, disks: int, lean: bool) -> Document:
    """`lean` trims the daemons so that they fit beside a control plane."""
    devices: dict[str, object] = {
        "name": "ocs-deviceset",
        "count": disks,
        "replica": 1,
        "portable": False,
        "dataPVCTemplate": {
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1"}},
                "storageClassName": "localblock-sc",
                "volumeMode": "Block",
            }
        },
        "placement": _placement("rook-ceph-osd"),
        "preparePlacement": _placement("rook-ceph-osd-prepare"),
    }
    spec: dict[str, object] = {
        "labelSelector": {"matchExpressions": [{"key": _WORKER, "operator": "In", "values": [""]}]},
        "manageNodes": False,
        "flexibleScaling": True,
        "monDataDirHostPath": "/var/lib/rook",
        "storageDeviceSets": [devices],
    }
    if lean:
        spec["resources"] = {"mds": _limits("3", "8Gi"), "rgw": _limits("2", "4Gi")}
        devices["resources"] = _limits("2", "5Gi")
    return {
        "apiVersion": "ocs.openshift.io/v1",
        "kind": "StorageCluster",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": spec,
    }


def _limits(cpu: str, memory: str) -> Document:
    return {"limits": {"cpu": cpu, "memory": memory}, "requests": {"cpu": "1", "memory": memory}}


def _placement(app: str) -> Document:
    """On workers, spread over hosts where possible."""
    term = {
        "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": [app]}]},
        "topologyKey": "kubernetes.io/hostname",
    }
    workers = {"nodeSelectorTerms": [{"matchExpressions": [{"key": _WORKER, "operator": "Exists"}]}]}
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": workers},
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]
        },
    }
