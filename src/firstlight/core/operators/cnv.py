"""OpenShift Virtualization: virtual machines beside containers."""

from collections.abc import Mapping, Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import Inventory
from firstlight.core.operators.machines import (
    CLUSTER_IS_FINE,
    NO_INVENTORY,
    has_room,
    spare_disks,
    too_old,
    wrong_architecture,
)
from firstlight.core.operators.objects import machine_config, manifest_name
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

TITLE: Final = "OpenShift Virtualization"
MASTER: Final = Need(cpu_cores=4, ram_mib=150)
WORKER: Final = Need(cpu_cores=2, ram_mib=360)
GIB_IN_MIB: Final = 1024
HOSTPATH_GIB: Final = 50
GIB: Final = 1024**3
VIRTUALIZATION_FLAGS: Final = frozenset({"vmx", "svm"})
WITHOUT_FLAGS: Final = frozenset({"aarch64", "arm64"})
"""Architectures on which every CPU can do it and none says so."""
ARCHITECTURES: Final = frozenset({"x86_64", "multi", "arm64"})
PASSED_THROUGH_GPUS: Final = frozenset({"10de:1db6", "10de:1eb8"})
PASSED_THROUGH_NICS: Final = frozenset({"8086:158b", "15b3:1015", "15b3:1017", "15b3:1013", "15b3:101b"})


def devices_in(inventory: Inventory) -> int:
    """Devices that can be handed to a virtual machine; each costs memory."""
    gpus = [f"{gpu.vendor_id}:{gpu.device_id}" for gpu in inventory.gpus]
    nics = [f"{nic.vendor.removeprefix('0x')}:{nic.product.removeprefix('0x')}" for nic in inventory.interfaces]
    return sum(gpu.lower() in PASSED_THROUGH_GPUS for gpu in gpus) + sum(
        nic.lower() in PASSED_THROUGH_NICS for nic in nics
    )


def need(candidate: Candidate, setting: Setting) -> Need:
    role = candidate.host.effective_role
    overhead = GIB_IN_MIB * devices_in(candidate.inventory) if candidate.inventory is not None else 0
    if setting.single_node:
        return Need(cpu_cores=MASTER.cpu_cores + WORKER.cpu_cores, ram_mib=MASTER.ram_mib + WORKER.ram_mib + overhead)
    if role is HostRole.ARBITER:
        return NOTHING
    if role is HostRole.MASTER:
        return MASTER
    return Need(cpu_cores=WORKER.cpu_cores, ram_mib=WORKER.ram_mib + overhead)


def uses_hostpath(setting: Setting) -> bool:
    """On one node, before the volume manager came, virtual machines live on a folder of a spare disk."""
    fits = setting.reaches("4.10") and not setting.reaches("4.12")
    return setting.single_node and setting.hostpath_on_single_node and fits


def host_rule(candidate: Candidate, setting: Setting) -> Verdict:
    inventory = candidate.inventory
    if inventory is None:
        return NO_INVENTORY
    cpu = inventory.cpu
    if cpu.architecture not in WITHOUT_FLAGS and not VIRTUALIZATION_FLAGS & set(cpu.flags):
        return failed(
            f"{TITLE} needs a CPU that can virtualise. Switch Intel VT-x or AMD-V on in the firmware.",
            cause="no-virtualization",
        )
    if uses_hostpath(setting) and not any(disk.size_bytes > HOSTPATH_GIB * GIB for disk in spare_disks(candidate)):
        return failed(
            f"{TITLE} on a single node needs an SSD or HDD of more than {HOSTPATH_GIB} GiB beside the installation"
            " disk. Add one.",
            cause="no-spare-disk",
        )
    if candidate.host.effective_role is HostRole.AUTO_ASSIGN:
        return failed(f"{TITLE} needs to know what each host becomes. Give this host a role.", cause="role-undecided")
    return has_room(candidate, need=need(candidate, setting), title=TITLE)


def cluster_rule(_hosts: Sequence[HostState], setting: Setting) -> Verdict:
    refused = wrong_architecture(setting, title=TITLE, allowed=ARCHITECTURES)
    if refused is None and setting.architecture == "arm64":
        refused = too_old(setting, title=f"{TITLE} on arm64", since="4.14")
    return refused or CLUSTER_IS_FINE


def preflight(setting: Setting) -> Preflight:
    notes = (
        "1 GiB more RAM for each supported GPU",
        "1 GiB more RAM for each supported SR-IOV interface",
        "A CPU that can virtualise (vmx or svm)",
    )
    notes += (f"A spare disk of {HOSTPATH_GIB} GiB",) if uses_hostpath(setting) else ()
    master = MASTER
    if setting.single_node:
        master = Need(cpu_cores=MASTER.cpu_cores + WORKER.cpu_cores, ram_mib=MASTER.ram_mib + WORKER.ram_mib)
    return Preflight(master=master, worker=WORKER, master_notes=notes, worker_notes=notes)


def resources(_hosts: Sequence[HostState], setting: Setting) -> tuple[Document, ...]:
    converged = {
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": "openshift-cnv"},
        "spec": {"BareMetalPlatform": True},
    }
    if not uses_hostpath(setting):
        return (converged,)
    claim = {
        "storageClassName": "localblock-sc",
        "volumeMode": "Block",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{HOSTPATH_GIB}Gi"}},
    }
    provisioner = {
        "apiVersion": "hostpathprovisioner.kubevirt.io/v1beta1",
        "kind": "HostPathProvisioner",
        "metadata": {"name": "hostpath-provisioner"},
        "spec": {
            "imagePullPolicy": "IfNotPresent",
            "storagePools": [{"name": "sno", "pvcTemplate": claim, "path": "/var/hpvolumes"}],
            "workload": {"nodeSelector": {"kubernetes.io/os": "linux"}},
        },
    }
    return converged, provisioner


def extras(setting: Setting) -> Mapping[str, Document]:
    statistics = {"kernelArguments": ["schedstats=enable"]}
    found: dict[str, Document] = {
        manifest_name("cnv", f"{role}s_schedstats"): machine_config(
            f"50-{role}s-enable-schedstats", role=role, spec=statistics
        )
        for role in ("master", "worker")
    }
    if uses_hostpath(setting):
        found[manifest_name("cnv", "hpp_sc")] = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {
                "name": "sno-storage",
                "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
            },
            "provisioner": "kubevirt.io.hostpath-provisioner",
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "Immediate",
            "parameters": {"storagePool": "sno"},
        }
    return found


SPEC: Final = OperatorSpec(
    name="cnv",
    title=TITLE,
    feature=FeatureId.CNV,
    namespace="openshift-cnv",
    subscription="hco-operatorhub",
    package="kubevirt-hyperconverged",
    channel="stable",
    timeout_minutes=60,
    memberships=(Membership(bundle="virtualization"),),
    group=Group(name="kubevirt-hyperconverged-group"),
    need=need,
    preflight=preflight,
    host_rule=host_rule,
    cluster_rule=cluster_rule,
    resources=resources,
    extras=extras,
)
