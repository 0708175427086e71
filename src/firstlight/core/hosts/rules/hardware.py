"""What the machine is made of: inventory, cores, memory."""

from typing import Final

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import NO_INVENTORY, change_host, refused
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import MemoryMethod
from firstlight.core.rules import Fix, Verdict, errored, failed, passed

MIB: Final = 1024**2
TOLERANCE_MIB: Final = 100
"""Firmware keeps some memory for itself; machines sold with enough must not fail for that."""
PARTIAL, FULL = "partial", "full"


def has_inventory(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is not None:
        return passed("The inventory of the host has arrived.")
    return failed(
        "The host has not sent its inventory yet. It does so within a minute or two after its agent has started.",
        cause="no-inventory",
    )


def inventory_not_partially_truncated(facts: HostFacts) -> Verdict:
    return _not_truncated(
        facts,
        PARTIAL,
        "The inventory was too large and parts of it were left out. Checks that need those parts may be wrong",
    )


def inventory_not_fully_truncated(facts: HostFacts) -> Verdict:
    return _not_truncated(
        facts,
        FULL,
        "The inventory was too large to be sent, so nothing is known about the hardware. Detach what the cluster does"
        " not need, such as disks of a storage network",
    )


def has_min_cpu_cores(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is None:
        return NO_INVENTORY
    found, needed = facts.reports.inventory.cpu.count, facts.minimum.cpu_cores
    if found >= needed:
        return passed("The host has enough CPU cores for some role.")
    return refused(
        facts,
        f"Every role needs at least {needed} CPU cores; this host has {found}.",
        cause="too-few-cores",
        evidence={"found": found, "needed": needed},
    )


def has_min_memory(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is None:
        return NO_INVENTORY
    memory, needed = facts.reports.inventory.memory, facts.minimum.ram_mib
    tolerance = TOLERANCE_MIB
    if memory.method == MemoryMethod.MEMINFO:
        # meminfo knows only what the kernel got: up to 2 % of what is installed is missing there.
        tolerance += needed // 50
    if memory.physical_bytes >= (needed - tolerance) * MIB:
        return passed("The host has enough memory for some role.")
    return refused(
        facts,
        f"Every role needs at least {needed} MiB of memory; this host has {memory.physical_bytes // MIB} MiB.",
        cause="too-little-memory",
        evidence={"found_mib": memory.physical_bytes // MIB, "needed_mib": needed, "method": memory.method},
    )


def has_cpu_cores_for_role(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is None:
        return NO_INVENTORY
    found, needed, role = facts.reports.inventory.cpu.count, facts.requirements.cpu_cores, facts.host.effective_role
    if found >= needed:
        return passed(f"The host has enough CPU cores for the role {role}.")
    return refused(
        facts,
        f"The role {role}, with the operators chosen, needs {needed} CPU cores; this host has {found}.",
        cause="too-few-cores-for-role",
        evidence={"found": found, "needed": needed, "role": role.value},
        fixes=_lighter_role(facts),
    )


def has_memory_for_role(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is None:
        return NO_INVENTORY
    found, needed, role = facts.reports.inventory.memory, facts.requirements.ram_mib, facts.host.effective_role
    if found.physical_bytes >= (needed - TOLERANCE_MIB) * MIB:
        return passed(f"The host has enough memory for the role {role}.")
    return refused(
        facts,
        f"The role {role}, with the operators chosen, needs {needed} MiB of memory;"
        f" this host has {found.physical_bytes // MIB} MiB.",
        cause="too-little-memory-for-role",
        evidence={"found_mib": found.physical_bytes // MIB, "needed_mib": needed, "role": role.value},
        fixes=_lighter_role(facts),
    )


def _lighter_role(facts: HostFacts) -> tuple[Fix, ...]:
    cluster = facts.context.cluster
    if facts.host.effective_role is not HostRole.MASTER or (cluster is not None and cluster.is_single_node):
        return ()
    return (change_host("Make this host a worker", host_role="worker"),)


def _not_truncated(facts: HostFacts, kind: str, consequence: str) -> Verdict:
    if facts.reports.inventory is None:
        return NO_INVENTORY
    truncation = facts.reports.inventory.truncation
    if truncation is None:
        return passed("The inventory is complete.")
    if truncation.type not in (PARTIAL, FULL):
        return errored(
            f"The agent says that it truncated the inventory in a way this service does not know: '{truncation.type}'.",
            cause="unknown-truncation",
        )
    if truncation.type != kind:
        return passed(f"The inventory is not truncated in the {kind} sense.")
    reasons = list(truncation.reasons)
    return refused(
        facts,
        f"{consequence}. Reasons given: {', '.join(reasons) or 'none'}.",
        cause=f"inventory-truncated-{'partially' if kind == PARTIAL else 'fully'}",
        evidence={"reasons": reasons},
    )
