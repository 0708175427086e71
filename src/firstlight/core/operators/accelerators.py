"""Checks the operators of accelerators share: a device must be there, and its driver must be allowed to load."""

from collections.abc import Sequence

from firstlight.core.model.host import HostState
from firstlight.core.operators.machines import (
    CLUSTER_IS_FINE,
    HOST_IS_FINE,
    NO_INVENTORY,
    any_accelerator,
    boots_securely,
    has_accelerator,
)
from firstlight.core.operators.spec import Candidate, ClusterRule, HostRule, Setting
from firstlight.core.rules import Verdict, failed


def secure_boot_off(title: str, *, vendor: str = "") -> HostRule:
    """Unsigned modules do not load under secure boot; with a `vendor` only hosts with its device matter."""

    def rule(candidate: Candidate, _setting: Setting) -> Verdict:
        inventory = candidate.inventory
        if inventory is None:
            return NO_INVENTORY
        concerned = not vendor or has_accelerator(inventory, vendor=vendor)
        if not concerned or not boots_securely(inventory):
            return HOST_IS_FINE
        return failed(
            f"{title} cannot load its drivers while secure boot is on. Switch secure boot off in the firmware.",
            cause="secure-boot",
        )

    return rule


def cluster_has(title: str, *, vendor: str, maker: str) -> ClusterRule:
    def rule(hosts: Sequence[HostState], setting: Setting) -> Verdict:
        if any_accelerator(hosts, setting, vendor=vendor):
            return CLUSTER_IS_FINE
        return failed(
            f"{title} needs at least one {maker} GPU on a host that runs workloads, and none was found. Add a host"
            " with one or remove the operator.",
            cause="no-gpu",
        )

    return rule
