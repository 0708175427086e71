"""The feature support table: for each feature the versions, CPU architectures and platforms it works with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.versions.architectures import CpuArchitecture
from firstlight.core.versions.feature_ids import FeatureId
from firstlight.core.versions.levels import SupportLevel

Levels = tuple[tuple[str, SupportLevel], ...]
"""Since which version which level holds; before the first line the feature is unavailable."""

OCI: Final = "oci"
"""The external platform with a name of its own in the table."""

_F, _L = FeatureId, SupportLevel
_X86, _ARM = CpuArchitecture.X86_64, CpuArchitecture.ARM64
_Z, _POWER = CpuArchitecture.S390X, CpuArchitecture.PPC64LE
_METAL, _NONE, _EXTERNAL = PlatformType.BAREMETAL, PlatformType.NONE, PlatformType.EXTERNAL
_NUTANIX, _VSPHERE = PlatformType.NUTANIX, PlatformType.VSPHERE
_IBM: Final = frozenset({_Z, _POWER})
_NOT_X86: Final = frozenset({_ARM, _Z, _POWER})
_ALWAYS: Final = "0.0"


def since(version: str, level: SupportLevel = SupportLevel.SUPPORTED) -> Levels:
    return ((version, level),)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRule:
    levels: Levels = ((_ALWAYS, SupportLevel.SUPPORTED),)
    levels_on: Mapping[CpuArchitecture, Levels] = field(default_factory=dict[CpuArchitecture, Levels])
    """Levels of architectures that differ from the rest."""
    not_on: frozenset[CpuArchitecture] = frozenset()
    not_with: frozenset[str] = frozenset()
    """Platforms that exclude it; `oci` means the external platform of that name."""
    only_with: Mapping[str, str] = field(default_factory=dict[str, str])
    """Platforms it needs, each with its first version; empty means any platform."""
    elsewhere: SupportLevel = SupportLevel.UNAVAILABLE
    """The level on platforms that `only_with` does not name."""


def _previewed(version: str, *, preview: SupportLevel, then: str) -> Levels:
    return ((version, preview), (then, SupportLevel.SUPPORTED))


_SNO_ON_IBM: Final = _previewed("4.13", preview=_L.DEV_PREVIEW, then="4.14")
_SUPPORTED: Final = FeatureRule()
_DEV_PREVIEW: Final = FeatureRule(levels=since(_ALWAYS, _L.DEV_PREVIEW))
_DEV_PREVIEW_X86: Final = FeatureRule(levels=since(_ALWAYS, _L.DEV_PREVIEW), not_on=_NOT_X86)

FEATURE_RULES: Final[Mapping[FeatureId, FeatureRule]] = {
    # Shape of the control plane
    _F.SNO: FeatureRule(levels_on={_Z: _SNO_ON_IBM, _POWER: _SNO_ON_IBM}, not_with=frozenset({_NUTANIX, _VSPHERE})),
    _F.TNA: FeatureRule(
        levels=_previewed("4.19", preview=_L.TECH_PREVIEW, then="4.20"), only_with={_METAL: _ALWAYS, _NONE: "4.22"}
    ),
    _F.TNF: FeatureRule(
        levels=_previewed("4.20", preview=_L.TECH_PREVIEW, then="4.22"), only_with={_METAL: _ALWAYS, _NONE: _ALWAYS}
    ),
    _F.NON_STANDARD_HA_CONTROL_PLANE: FeatureRule(
        levels=since("4.18"),
        not_on=_NOT_X86 | {CpuArchitecture.MULTI},
        only_with={_METAL: _ALWAYS, _NONE: _ALWAYS, _EXTERNAL: _ALWAYS},
    ),
    _F.SINGLE_NODE_EXPANSION: FeatureRule(
        levels=since("4.11"),
        levels_on={_Z: _SNO_ON_IBM, _POWER: _SNO_ON_IBM},
        not_with=frozenset({_NUTANIX, _VSPHERE}),
    ),
    # Images and manifests
    _F.CUSTOM_MANIFEST: _SUPPORTED,
    _F.MINIMAL_ISO: FeatureRule(not_on=frozenset({_Z})),
    _F.FULL_ISO: FeatureRule(not_with=frozenset({OCI})),
    # Networking
    _F.VIP_AUTO_ALLOC: FeatureRule(
        levels=((_ALWAYS, _L.DEV_PREVIEW), ("4.15", _L.UNAVAILABLE)), not_with=frozenset({_EXTERNAL})
    ),
    _F.CLUSTER_MANAGED_NETWORKING: FeatureRule(
        levels_on={_ARM: since("4.11")}, not_on=_IBM, not_with=frozenset({_EXTERNAL})
    ),
    _F.USER_MANAGED_NETWORKING: FeatureRule(not_with=frozenset({_NUTANIX})),
    _F.PLATFORM_MANAGED_NETWORKING: FeatureRule(
        only_with={_EXTERNAL: _ALWAYS, _NONE: _ALWAYS}, elsewhere=_L.UNSUPPORTED
    ),
    _F.DUAL_STACK: _SUPPORTED,
    _F.DUAL_STACK_VIPS: FeatureRule(levels=since("4.12"), not_with=frozenset({OCI})),
    _F.DUAL_STACK_PRIMARY_IPV6: FeatureRule(
        levels=since("4.12", _L.TECH_PREVIEW), not_with=frozenset({_NUTANIX, _VSPHERE, _EXTERNAL})
    ),
    _F.USER_MANAGED_LOAD_BALANCER: FeatureRule(levels=since("4.16")),
    _F.OVN_NETWORK_TYPE: _SUPPORTED,
    _F.SDN_NETWORK_TYPE: FeatureRule(levels=((_ALWAYS, _L.SUPPORTED), ("4.15", _L.UNAVAILABLE))),
    _F.CILIUM_NETWORK_TYPE: _SUPPORTED,
    _F.CALICO_NETWORK_TYPE: _SUPPORTED,
    _F.CISCO_ACI_NETWORK_TYPE: _SUPPORTED,
    _F.NONE_NETWORK_TYPE: _SUPPORTED,
    # Platforms
    _F.BAREMETAL_PLATFORM: _SUPPORTED,
    _F.NONE_PLATFORM: _SUPPORTED,
    _F.NUTANIX_INTEGRATION: FeatureRule(
        levels=_previewed("4.11", preview=_L.DEV_PREVIEW, then="4.12"), not_on=_NOT_X86
    ),
    _F.VSPHERE_INTEGRATION: FeatureRule(not_on=_IBM),
    _F.EXTERNAL_PLATFORM: FeatureRule(levels=since("4.14")),
    _F.EXTERNAL_PLATFORM_OCI: FeatureRule(levels=since("4.14"), not_on=_IBM),
    # Storage operators
    _F.LVM: FeatureRule(
        levels=_previewed("4.11", preview=_L.DEV_PREVIEW, then="4.12"),
        not_on=_IBM,
        not_with=frozenset({_NUTANIX, _VSPHERE}),
    ),
    _F.ODF: FeatureRule(not_on=frozenset({_ARM}), not_with=frozenset({OCI})),
    _F.LSO: FeatureRule(not_on=frozenset({_ARM})),
    # Virtualisation and its companions
    _F.CNV: FeatureRule(
        levels_on={_ARM: since("4.14", _L.DEV_PREVIEW)}, not_on=_IBM, not_with=frozenset({_NUTANIX, _VSPHERE})
    ),
    _F.MTV: FeatureRule(levels=since("4.14"), not_on=_NOT_X86, not_with=frozenset({_NUTANIX, _VSPHERE})),
    _F.OSC: FeatureRule(levels=since("4.10"), not_on=_NOT_X86, not_with=frozenset({_NUTANIX, _VSPHERE})),
    _F.NMSTATE: FeatureRule(levels=since("4.12"), not_on=_NOT_X86, not_with=frozenset({_NUTANIX, _EXTERNAL})),
    _F.NODE_HEALTHCHECK: _SUPPORTED,
    _F.SELF_NODE_REMEDIATION: FeatureRule(levels=since(_ALWAYS, _L.TECH_PREVIEW)),
    _F.FENCE_AGENTS_REMEDIATION: _SUPPORTED,
    _F.NODE_MAINTENANCE: _SUPPORTED,
    _F.KUBE_DESCHEDULER: _SUPPORTED,
    _F.CLUSTER_OBSERVABILITY: _SUPPORTED,
    _F.OPENSHIFT_LOGGING: FeatureRule(levels=since("4.17")),
    _F.LOKI: FeatureRule(levels=since("4.17")),
    _F.NUMA_RESOURCES: _SUPPORTED,
    _F.OADP: _SUPPORTED,
    _F.METALLB: FeatureRule(levels=since("4.11")),
    # Management and AI
    _F.MCE: FeatureRule(levels=since("4.10"), not_with=frozenset({_NUTANIX})),
    _F.NODE_FEATURE_DISCOVERY: FeatureRule(levels=since(_ALWAYS, _L.DEV_PREVIEW), not_on=_IBM),
    _F.NVIDIA_GPU: _DEV_PREVIEW_X86,
    _F.AMD_GPU: _DEV_PREVIEW_X86,
    _F.OPENSHIFT_AI: FeatureRule(levels=since("4.12", _L.DEV_PREVIEW), not_on=_NOT_X86, not_with=frozenset({OCI})),
    _F.PIPELINES: _DEV_PREVIEW,
    _F.SERVICEMESH: _DEV_PREVIEW,
    _F.SERVERLESS: _DEV_PREVIEW,
    _F.KMM: _DEV_PREVIEW,
    _F.AUTHORINO: FeatureRule(levels=since(_ALWAYS, _L.DEV_PREVIEW), not_on=frozenset({_ARM})),
}
