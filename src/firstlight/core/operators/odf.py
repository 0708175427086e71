"""OpenShift Data Foundation: replicated storage on the spare disks of three hosts or more."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.operators.machines import NO_INVENTORY, hub_disk_gb, spare_disks
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
from firstlight.core.operators.storage_cluster import storage_cluster, storage_system
from firstlight.core.rules import Verdict, failed, passed, pending
from firstlight.core.versions.feature_ids import FeatureId

FEWEST_HOSTS: Final = 3
SMALLEST_DISK_GB: Final = 25
GIB_IN_MIB: Final = 1024
CPU_PER_DISK, RAM_GIB_PER_DISK = 2, 5
RAM_GIB_PER_HOST: Final = 19


class Mode(StrEnum):
    COMPACT = "compact"
    """The control plane carries the storage."""
    STANDARD = "standard"
    """Dedicated workers do."""
    UNKNOWN = "unknown"


CPU_PER_HOST: Final = {Mode.COMPACT: 6, Mode.STANDARD: 8}


def mode_of(setting: Setting) -> Mode:
    masters, arbiters = setting.count(HostRole.MASTER), setting.count(HostRole.ARBITER)
    workers, undecided = setting.count(HostRole.WORKER), setting.count(HostRole.AUTO_ASSIGN)
    if not workers and (masters + undecided == 3 or (not undecided and masters + arbiters >= FEWEST_HOSTS)):
        return Mode.COMPACT
    if (masters >= 3 or (masters >= 2 and arbiters)) and workers >= FEWEST_HOSTS:
        return Mode.STANDARD
    return Mode.UNKNOWN


def carries_storage(role: HostRole, mode: Mode) -> bool:
    if mode is Mode.COMPACT:
        return role is not HostRole.WORKER
    return mode is Mode.STANDARD and role is HostRole.WORKER


def is_undecided(role: HostRole, setting: Setting) -> bool:
    """Only in a cluster of three is it clear what a host without a role becomes."""
    return role is HostRole.AUTO_ASSIGN and setting.host_count != 3


def need(candidate: Candidate, setting: Setting) -> Need:
    mode, role = mode_of(setting), candidate.host.role
    if is_undecided(role, setting) or not carries_storage(role, mode):
        return NOTHING
    disks = len(spare_disks(candidate, minimum_gb=SMALLEST_DISK_GB))
    if mode is Mode.COMPACT:
        disks = max(1, disks)
    return Need(
        cpu_cores=CPU_PER_HOST[mode] + CPU_PER_DISK * disks,
        ram_mib=(RAM_GIB_PER_HOST + RAM_GIB_PER_DISK * disks) * GIB_IN_MIB,
    )


def host_rule(candidate: Candidate, setting: Setting) -> Verdict:
    mode, role = mode_of(setting), candidate.host.role
    if is_undecided(role, setting):
        return pending(
            "Data Foundation places storage by role, and this host has none. Give it a role: only in a cluster of"
            " exactly three hosts may that be left to the service.",
            cause="role-undecided",
        )
    if not carries_storage(role, mode):
        return passed("This host carries no Data Foundation storage.")
    if candidate.inventory is None:
        return NO_INVENTORY
    minimum = max(SMALLEST_DISK_GB, hub_disk_gb(setting))
    if spare_disks(candidate, minimum_gb=minimum):
        return passed("The host has a disk for Data Foundation.")
    return failed(
        f"Data Foundation in {mode} mode needs an SSD or HDD of at least {minimum} GB on this host beside the"
        " installation disk. Add one.",
        cause="no-spare-disk",
        evidence={"minimum_gb": minimum, "spare_disks": [disk.id for disk in spare_disks(candidate)]},
    )


def storage_of(hosts: Sequence[HostState], setting: Setting) -> tuple[int, int, bool]:
    """(disks, hosts with disks, whether some host is still unknown)."""
    mode = mode_of(setting)
    counts: list[int] = []
    unknown = False
    for member in hosts:
        if is_undecided(member.host.role, setting) or not carries_storage(member.host.effective_role, mode):
            continue
        unknown = unknown or member.reports.inventory is None
        candidate = Candidate(member.host, member.reports.inventory)
        counts.append(len(spare_disks(candidate, minimum_gb=SMALLEST_DISK_GB)))
    return sum(counts), sum(1 for count in counts if count), unknown


def cluster_rule(hosts: Sequence[HostState], setting: Setting) -> Verdict:
    mode = mode_of(setting)
    if mode is Mode.UNKNOWN:
        return failed(
            "Data Foundation needs either no dedicated workers or at least three. Add or remove hosts, or change"
            " their roles.",
            cause="roles-do-not-fit",
        )
    disks, owners, unknown = storage_of(hosts, setting)
    if unknown:
        return pending("Some hosts have not sent their inventory yet.", cause="no-inventory")
    if disks >= FEWEST_HOSTS and owners >= FEWEST_HOSTS:
        return passed(f"Data Foundation fits in {mode} mode.")
    return failed(
        f"Data Foundation in {mode} mode needs a disk of at least {SMALLEST_DISK_GB} GB beside the installation disk"
        f" on three hosts; {owners} of them have one. Add disks or hosts.",
        cause="too-few-disks",
        evidence={"disks": disks, "hosts_with_disks": owners},
    )


def preflight(_setting: Setting) -> Preflight:
    ram = RAM_GIB_PER_HOST * GIB_IN_MIB
    return Preflight(
        master=Need(cpu_cores=CPU_PER_HOST[Mode.COMPACT], ram_mib=ram),
        worker=Need(cpu_cores=CPU_PER_HOST[Mode.STANDARD], ram_mib=ram),
        master_notes=(
            "These numbers count only in clusters without dedicated workers",
            "Three hosts or more",
            "A spare SSD or HDD on three of them",
        ),
        worker_notes=(
            "These numbers count only in clusters with dedicated workers",
            f"{RAM_GIB_PER_DISK} GiB more RAM for each spare disk",
            f"{CPU_PER_DISK} more CPU cores for each spare disk",
            "Three workers or more",
            "A spare SSD or HDD on three of them",
        ),
    )


def resources(hosts: Sequence[HostState], setting: Setting) -> tuple[Document, ...]:
    disks, _, _ = storage_of(hosts, setting)
    cluster = storage_cluster(disks=disks, lean=mode_of(setting) is Mode.COMPACT)
    return (cluster,) if setting.reaches("4.19") else (storage_system(), cluster)


SPEC: Final = OperatorSpec(
    name="odf",
    title="OpenShift Data Foundation",
    feature=FeatureId.ODF,
    namespace="openshift-storage",
    subscription="odf-operator",
    dependencies=("lso",),
    memberships=(Membership(bundle="openshift-ai", on_single_node=False),),
    group=Group(name="openshift-storage-operatorgroup"),
    monitored_namespace=True,
    need=need,
    preflight=preflight,
    host_rule=host_rule,
    cluster_rule=cluster_rule,
    resources=resources,
)
