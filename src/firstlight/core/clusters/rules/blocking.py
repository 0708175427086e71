"""Which cluster checks stand in the way of what, and which of them a user may waive."""

from collections.abc import Collection, Iterable
from typing import Final

from firstlight.core.rules import Finding, holding

VIPS: Final = frozenset({"api-vips-defined", "ingress-vips-defined"})
"""The cluster can be reached. By DHCP they come by themselves, so the user owes nothing then."""

INPUTS: Final = frozenset(
    {
        "machine-cidr-defined",
        "cluster-cidr-defined",
        "service-cidr-defined",
        "dns-domain-defined",
        "pull-secret-set",
    }
)
"""The user has answered what only a user can."""

REQUIRED: Final = frozenset(
    {
        "machine-cidr-equals-to-calculated-cidr",
        "api-vips-valid",
        "ingress-vips-valid",
        "all-hosts-are-ready-to-install",
        "sufficient-masters-count",
        "no-cidrs-overlapping",
        "networks-same-address-families",
        "network-prefix-valid",
        "network-type-valid",
        "custom-manifests-requirements-satisfied",
        "ntp-server-configured",
    }
)
"""The cluster may be installed, as far as the service itself is concerned; operators add their own ids."""

NOT_IGNORABLE: Final = frozenset(
    {
        "api-vips-defined",
        "ingress-vips-defined",
        "all-hosts-are-ready-to-install",
        "sufficient-masters-count",
        "pull-secret-set",
    }
)
"""Without these an installation cannot even be described."""


def conditions(findings: Iterable[Finding], *, ignored: Collection[str] = ()) -> frozenset[str]:
    """Ids of the checks that hold: they pass, or the user waived them. What cannot be waived counts as judged."""
    return holding(findings, ignored=ignored, never_ignored=NOT_IGNORABLE)
