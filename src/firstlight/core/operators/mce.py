"""Multicluster engine: makes the new cluster a hub for others."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.operators.machines import CLUSTER_IS_FINE, MCE_VOLUMES_GB, has_room, too_old
from firstlight.core.operators.spec import (
    NOTHING,
    Candidate,
    Document,
    Group,
    Need,
    OperatorSpec,
    Preflight,
    Setting,
)
from firstlight.core.rules import Verdict
from firstlight.core.versions.feature_ids import FeatureId

TITLE: Final = "Multicluster engine"
SINCE: Final = "4.10"
GIB_IN_MIB: Final = 1024
STORAGE_CLASSES: Final = {"odf": "ocs-storagecluster-cephfs", "lvm": "lvms-vg1"}


def own_need(setting: Setting) -> Need:
    if setting.single_node:
        return Need(cpu_cores=8, ram_mib=32 * GIB_IN_MIB)
    return Need(cpu_cores=4, ram_mib=16 * GIB_IN_MIB)


def need(candidate: Candidate, setting: Setting) -> Need:
    return NOTHING if candidate.host.effective_role is HostRole.ARBITER else own_need(setting)


def host_rule(candidate: Candidate, setting: Setting) -> Verdict:
    return has_room(candidate, need=need(candidate, setting), title=TITLE)


def cluster_rule(_hosts: Sequence[HostState], setting: Setting) -> Verdict:
    return too_old(setting, title=TITLE, since=SINCE) or CLUSTER_IS_FINE


def preflight(setting: Setting) -> Preflight:
    return Preflight(master=own_need(setting), worker=own_need(setting))


def resources(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    engine = {
        "apiVersion": "multicluster.openshift.io/v1",
        "kind": "MultiClusterEngine",
        "metadata": {"name": "mce"},
        "spec": {"targetNamespace": "multicluster-engine"},
    }
    return (engine,)


def infrastructure_service(storage_class: str) -> Document:
    """The hub's own installer, with its volumes on the storage the cluster brings."""
    database, filesystem, image = (_claim(storage_class, size) for size in MCE_VOLUMES_GB)
    return {
        "apiVersion": "agent-install.openshift.io/v1beta1",
        "kind": "AgentServiceConfig",
        "metadata": {"name": "agent"},
        "spec": {"databaseStorage": database, "filesystemStorage": filesystem, "imageStorage": image},
    }


def _claim(storage_class: str, size: int) -> Document:
    return {
        "storageClassName": storage_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{size}Gi"}},
    }


SPEC: Final = OperatorSpec(
    name="mce",
    title=TITLE,
    feature=FeatureId.MCE,
    namespace="multicluster-engine",
    subscription="multicluster-engine",
    timeout_minutes=60,
    group=Group(name="mce"),
    need=need,
    preflight=preflight,
    host_rule=host_rule,
    cluster_rule=cluster_rule,
    resources=resources,
)
