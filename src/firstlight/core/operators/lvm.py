"""Logical Volume Manager Storage: local volumes on spare disks, for one node or several."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.operators.machines import (
    CLUSTER_IS_FINE,
    HOST_IS_FINE,
    NO_INVENTORY,
    hub_disk_gb,
    spare_disks,
    too_old,
)
from firstlight.core.operators.spec import (
    NOTHING,
    Candidate,
    Document,
    Group,
    Membership,
    Need,
    OperatorSpec,
    Preflight,
    Setting,
)
from firstlight.core.rules import Verdict, failed
from firstlight.core.versions.feature_ids import FeatureId
from firstlight.core.versions.numbers import at_least

TITLE: Final = "Logical Volume Manager Storage"
SINCE: Final = "4.11"
SEVERAL_NODES_SINCE: Final = "4.15"
WITH_VIRTUALIZATION_SINCE: Final = "4.12"
NAMESPACE: Final = "openshift-storage"


def subscription_for(version: str) -> str:
    return "lvms-operator" if not version or at_least(version, "4.12") else "odf-lvm-operator"


def own_need(setting: Setting) -> Need:
    ram = 100 if setting.reaches("4.16") else 400 if setting.reaches("4.13") else 1200
    return Need(cpu_cores=1, ram_mib=ram)


def need(candidate: Candidate, setting: Setting) -> Need:
    role = candidate.host.effective_role
    idle = role is HostRole.ARBITER or (role is HostRole.MASTER and not setting.schedulable_masters)
    return NOTHING if idle else own_need(setting)


def host_rule(candidate: Candidate, setting: Setting) -> Verdict:
    if candidate.inventory is None:
        return NO_INVENTORY
    role = candidate.host.effective_role
    if role is not HostRole.WORKER and (role is HostRole.ARBITER or not setting.schedulable_masters):
        if role is HostRole.AUTO_ASSIGN:
            return failed(
                f"{TITLE} runs on workers only in this cluster, and this host has no role yet. Make it a master or"
                " a worker.",
                cause="role-undecided",
            )
        return HOST_IS_FINE
    minimum = hub_disk_gb(setting)
    if spare_disks(candidate, minimum_gb=minimum):
        return HOST_IS_FINE
    size = f" of at least {minimum} GB" if minimum else ""
    return failed(
        f"{TITLE} needs an SSD or HDD{size} beside the installation disk on this host. Add one.",
        cause="no-spare-disk",
        evidence={"minimum_gb": minimum, "spare_disks": [disk.id for disk in spare_disks(candidate)]},
    )


def cluster_rule(_hosts: Sequence[HostState], setting: Setting) -> Verdict:
    refused = too_old(setting, title=TITLE, since=SINCE)
    if refused is None and not setting.single_node:
        refused = too_old(setting, title=f"{TITLE} on several nodes", since=SEVERAL_NODES_SINCE)
    if refused is None and "cnv" in setting.selected:
        refused = too_old(setting, title=f"{TITLE} together with Virtualization", since=WITH_VIRTUALIZATION_SINCE)
    return refused or CLUSTER_IS_FINE


def preflight(setting: Setting) -> Preflight:
    own = own_need(setting)
    notes = (
        "A spare disk on each host",
        f"{own.ram_mib} MiB more RAM",
        f"{own.cpu_cores} more CPU core",
    )
    return Preflight(master=own, worker=own, master_notes=notes, worker_notes=notes)


def resources(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    pool = {"name": "thin-pool-1", "sizePercent": 90, "overprovisionRatio": 10}
    volumes = {
        "apiVersion": "lvm.topolvm.io/v1alpha1",
        "kind": "LVMCluster",
        "metadata": {"name": "lvmcluster-sample", "namespace": NAMESPACE},
        "spec": {"storage": {"deviceClasses": [{"name": "vg1", "thinPoolConfig": pool}]}},
    }
    return (volumes,)


SPEC: Final = OperatorSpec(
    name="lvm",
    title=TITLE,
    feature=FeatureId.LVM,
    namespace=NAMESPACE,
    subscription="",
    subscription_for=subscription_for,
    memberships=(Membership(bundle="openshift-ai", on_several_nodes=False),),
    group=Group(name="openshift-storage-operatorgroup"),
    monitored_namespace=True,
    need=need,
    preflight=preflight,
    host_rule=host_rule,
    cluster_rule=cluster_rule,
    resources=resources,
)
