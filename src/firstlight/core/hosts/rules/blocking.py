"""Which host checks stand in the way of what, and which of them a user may waive."""

from collections.abc import Collection, Iterable
from typing import Final

from firstlight.core.rules import Finding

VALID_INVENTORY: Final = frozenset({"has-inventory", "inventory-not-fully-truncated"})
"""The machine is known well enough to be judged at all."""

MIN_HARDWARE: Final = frozenset(
    {
        "has-min-valid-disks",
        "has-min-cpu-cores",
        "has-min-memory",
        "compatible-with-cluster-platform",
        "disk-encryption-requirements-satisfied",
    }
)
"""The machine could take some role in this cluster."""

BINDABLE: Final = frozenset({"has-min-valid-disks", "has-min-cpu-cores", "has-min-memory", "hostname-valid"})
"""A host of the pool could join some cluster."""

REQUIRED_INPUT: Final = frozenset({"machine-cidr-defined"})
"""The user has answered what only a user can."""

SUFFICIENT: Final = frozenset(
    {
        "has-cpu-cores-for-role",
        "has-memory-for-role",
        "hostname-unique",
        "belongs-to-machine-cidr",
        "hostname-valid",
        "ignition-downloadable",
        "belongs-to-majority-group",
        "valid-platform-network-settings",
        "time-synced-between-host-and-service",
        "sufficient-installation-disk-speed",
        "sufficient-network-latency-requirement-for-role",
        "sufficient-packet-loss-requirement-for-role",
        "has-default-route",
        "api-domain-name-resolved-correctly",
        "api-int-domain-name-resolved-correctly",
        "apps-domain-name-resolved-correctly",
        "dns-wildcard-not-configured",
        "non-overlapping-subnets",
        "compatible-agent",
        "no-skip-installation-disk",
        "no-skip-missing-disk",
        "no-ip-collisions-in-network",
        "no-iscsi-nic-belongs-to-machine-cidr",
    }
)
"""The host may be installed, as far as the service itself is concerned; operators add their own ids."""

SEEN_BY_PEERS: Final = frozenset(
    {
        "belongs-to-majority-group",
        "sufficient-network-latency-requirement-for-role",
        "sufficient-packet-loss-requirement-for-role",
        "no-ip-collisions-in-network",
    }
)
"""Measured together with other hosts: while those are being installed nobody answers."""

NOT_IGNORABLE: Final = frozenset(
    {
        "connected",
        "has-inventory",
        "inventory-not-fully-truncated",
        "machine-cidr-defined",
        "hostname-unique",
        "hostname-valid",
    }
)
"""Without these an installation cannot even be described."""

EVERY_CHECK: Final = "all"
"""In a list of waived checks: each one that may be waived."""


def conditions(findings: Iterable[Finding], *, ignored: Collection[str] = ()) -> frozenset[str]:
    """Ids of the checks that hold: they pass, or the user waived them. What cannot be waived counts as judged."""
    every = EVERY_CHECK in ignored
    return frozenset(
        finding.id
        for finding in findings
        if finding.holds or (finding.id not in NOT_IGNORABLE and (every or finding.id in ignored))
    )
