"""Judging one machine for an operator: spare disks, cores and memory, secure boot, accelerators."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import Disk, Inventory
from firstlight.core.operators.spec import Candidate, Need, Setting
from firstlight.core.rules import Evidence, Verdict, failed, passed, pending

MIB: Final = 1024**2
GB: Final = 10**9
SPARE_DRIVES: Final = frozenset({"SSD", "HDD"})
STORAGE_OPERATORS: Final = frozenset({"odf", "lvm"})
MCE_VOLUMES_GB: Final = (10, 10, 50)

NO_INVENTORY: Final = pending("The host has not sent its inventory yet.", cause="no-inventory")
HOST_IS_FINE: Final = passed("The host has all the operator needs.")
CLUSTER_IS_FINE: Final = passed("The cluster has all the operator needs.")


def spare_disks(candidate: Candidate, *, minimum_gb: int = 0) -> list[Disk]:
    """Local disks nothing is installed on."""
    if candidate.inventory is None:
        return []
    return [
        disk
        for disk in candidate.inventory.disks
        if disk.drive_type in SPARE_DRIVES
        and disk.id != candidate.host.installation_disk_id
        and disk.size_bytes > 0
        and disk.size_bytes >= minimum_gb * GB
    ]


def hub_disk_gb(setting: Setting) -> int:
    """What the hub's own volumes need on a storage disk: all of them on one node, else the largest."""
    if "mce" not in setting.selected or not setting.selected & STORAGE_OPERATORS:
        return 0
    return sum(MCE_VOLUMES_GB) if setting.single_node else max(MCE_VOLUMES_GB)


def has_room(candidate: Candidate, *, need: Need, title: str) -> Verdict:
    """Whether the machine has what the operator alone needs; both shortages are named."""
    inventory = candidate.inventory
    if inventory is None:
        return NO_INVENTORY
    usable_mib = inventory.memory.usable_bytes // MIB
    short: list[str] = []
    if inventory.cpu.count < need.cpu_cores:
        short.append(f"{need.cpu_cores} CPU cores, found {inventory.cpu.count}")
    if inventory.memory.usable_bytes < need.ram_mib * MIB:
        short.append(f"{need.ram_mib} MiB of usable memory, found {usable_mib} MiB")
    if not short:
        return HOST_IS_FINE
    evidence: Evidence = {
        "required_cpu_cores": need.cpu_cores,
        "cpu_cores": inventory.cpu.count,
        "required_ram_mib": need.ram_mib,
        "usable_ram_mib": usable_mib,
    }
    return failed(
        f"{title} needs {' and '.join(short)}. Use a larger machine or remove the operator.",
        cause="too-small",
        evidence=evidence,
    )


def boots_securely(inventory: Inventory) -> bool:
    return inventory.boot.secure_boot == "Enabled"


def has_accelerator(inventory: Inventory, *, vendor: str) -> bool:
    return any(gpu.vendor_id.lower().removeprefix("0x") == vendor for gpu in inventory.gpus)


def runs_workloads(member: HostState, setting: Setting) -> bool:
    role = member.host.effective_role
    if role is HostRole.ARBITER:
        return False
    return role is not HostRole.MASTER or setting.schedulable_masters


def any_accelerator(hosts: Sequence[HostState], setting: Setting, *, vendor: str) -> bool:
    return any(
        has_accelerator(member.reports.inventory, vendor=vendor)
        for member in hosts
        if member.reports.inventory is not None and runs_workloads(member, setting)
    )


def too_old(setting: Setting, *, title: str, since: str) -> Verdict | None:
    if setting.reaches(since):
        return None
    return failed(
        f"{title} needs OpenShift {since} or newer; this cluster is to run {setting.version or 'an unknown version'}."
        " Choose a newer version or remove the operator.",
        cause="version-too-old",
        evidence={"version": setting.version, "since": since},
    )


def wrong_architecture(setting: Setting, *, title: str, allowed: frozenset[str]) -> Verdict | None:
    if setting.architecture in allowed:
        return None
    names = ", ".join(sorted(allowed))
    return failed(
        f"{title} does not run on {setting.architecture}, only on {names}. Remove the operator.",
        cause="architecture-unsupported",
        evidence={"architecture": setting.architecture},
    )


X86_ONLY: Final = frozenset({"x86_64", "multi"})
