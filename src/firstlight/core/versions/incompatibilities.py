"""Which features exclude each other, whatever the version or below a certain one."""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

from firstlight.core.versions.feature_ids import NETWORK_TYPE_FEATURES, FeatureId
from firstlight.core.versions.numbers import Version, at_least

_F: Final = FeatureId
_EXTERNAL: Final = (_F.EXTERNAL_PLATFORM, _F.EXTERNAL_PLATFORM_OCI)
_HYPERVISORS: Final = (_F.NUTANIX_INTEGRATION, _F.VSPHERE_INTEGRATION)
_DUAL_STACKS: Final = (_F.DUAL_STACK, _F.DUAL_STACK_VIPS, _F.DUAL_STACK_PRIMARY_IPV6)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """`feature` and each of `against` cannot be used together; `below` names the version that lifts it."""

    feature: FeatureId
    against: tuple[FeatureId, ...]
    below: str = ""


EXCLUSIONS: Final = (
    Exclusion(
        _F.SNO,
        (
            _F.ODF,
            *_HYPERVISORS,
            _F.CLUSTER_MANAGED_NETWORKING,
            _F.VIP_AUTO_ALLOC,
            _F.USER_MANAGED_LOAD_BALANCER,
            _F.NODE_HEALTHCHECK,
            _F.SELF_NODE_REMEDIATION,
            _F.FENCE_AGENTS_REMEDIATION,
            _F.NODE_MAINTENANCE,
            _F.KUBE_DESCHEDULER,
        ),
    ),
    Exclusion(_F.SNO, (_F.DUAL_STACK_PRIMARY_IPV6,), below="4.19"),
    Exclusion(_F.TNA, (*_HYPERVISORS, *_EXTERNAL)),
    Exclusion(_F.TNA, (_F.NONE_PLATFORM,), below="4.22"),
    Exclusion(_F.TNF, (*_HYPERVISORS, *_EXTERNAL)),
    Exclusion(_F.NON_STANDARD_HA_CONTROL_PLANE, _HYPERVISORS),
    Exclusion(_F.CLUSTER_MANAGED_NETWORKING, (_F.USER_MANAGED_NETWORKING, _F.NONE_PLATFORM, *_EXTERNAL)),
    Exclusion(
        _F.USER_MANAGED_NETWORKING,
        (_F.NUTANIX_INTEGRATION, _F.BAREMETAL_PLATFORM, _F.USER_MANAGED_LOAD_BALANCER),
    ),
    Exclusion(_F.VIP_AUTO_ALLOC, (_F.NONE_PLATFORM, *_EXTERNAL, _F.USER_MANAGED_LOAD_BALANCER)),
    Exclusion(_F.USER_MANAGED_LOAD_BALANCER, (*_EXTERNAL, _F.NONE_PLATFORM, _F.NUTANIX_INTEGRATION, *_DUAL_STACKS)),
    Exclusion(_F.DUAL_STACK, (_F.VSPHERE_INTEGRATION,), below="4.13"),
    Exclusion(_F.DUAL_STACK_VIPS, (_F.EXTERNAL_PLATFORM_OCI,)),
    Exclusion(_F.DUAL_STACK_PRIMARY_IPV6, (*_EXTERNAL, *_HYPERVISORS)),
    *(Exclusion(one, (other,)) for one, other in combinations(NETWORK_TYPE_FEATURES.values(), 2)),
    Exclusion(_F.FULL_ISO, (_F.EXTERNAL_PLATFORM_OCI,)),
    Exclusion(_F.LVM, (*_HYPERVISORS, _F.ODF)),
    Exclusion(_F.LVM, (_F.VIP_AUTO_ALLOC, _F.CLUSTER_MANAGED_NETWORKING), below="4.15"),
    Exclusion(_F.ODF, (_F.EXTERNAL_PLATFORM_OCI,)),
    Exclusion(_F.CNV, _HYPERVISORS),
    Exclusion(_F.MTV, _HYPERVISORS),
    Exclusion(_F.OSC, _HYPERVISORS),
    Exclusion(_F.MCE, (_F.NUTANIX_INTEGRATION,)),
    Exclusion(_F.NMSTATE, (_F.NUTANIX_INTEGRATION, *_EXTERNAL)),
    Exclusion(_F.OPENSHIFT_AI, (_F.EXTERNAL_PLATFORM_OCI,)),
    Exclusion(_F.PLATFORM_MANAGED_NETWORKING, (_F.BAREMETAL_PLATFORM, *_HYPERVISORS)),
)


def incompatible_with(feature: FeatureId, *, version: Version) -> tuple[FeatureId, ...]:
    """What cannot be used together with `feature` in this version, in the order of the ids."""
    found: set[FeatureId] = set()
    for exclusion in EXCLUSIONS:
        if exclusion.below and at_least(version, exclusion.below):
            continue
        if exclusion.feature is feature:
            found.update(exclusion.against)
        elif feature in exclusion.against:
            found.add(exclusion.feature)
    return tuple(each for each in FeatureId if each in found)
