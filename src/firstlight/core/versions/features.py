"""How well each feature works with a version, an architecture and a platform, and which features may go together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.versions.architectures import CpuArchitecture, architecture_level
from firstlight.core.versions.feature_ids import PLATFORM_IDS, TITLES, FeatureId
from firstlight.core.versions.feature_rules import FEATURE_RULES, OCI, FeatureRule
from firstlight.core.versions.incompatibilities import incompatible_with
from firstlight.core.versions.levels import Reason, SupportLevel
from firstlight.core.versions.numbers import Version, at_least

_UNAVAILABLE: Final = SupportLevel.UNAVAILABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What support is asked about. Without a platform nothing is left out because of one."""

    version: Version
    architecture: CpuArchitecture = CpuArchitecture.X86_64
    platform: PlatformType | None = None
    external_name: str = ""
    """Name of the external platform; without meaning on other platforms."""

    @property
    def is_oci(self) -> bool:
        return self.platform is PlatformType.EXTERNAL and self.external_name.lower() == OCI


class DetailedFeature(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: FeatureId = msgspec.field(name="feature-support-level-id")
    support_level: SupportLevel
    reason: Reason | None = None
    incompatibilities: tuple[FeatureId, ...]


class DetailedOperator(DetailedFeature, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    dependencies: tuple[FeatureId, ...]


class DetailedFeatures(msgspec.Struct, frozen=True, kw_only=True):
    features: tuple[DetailedFeature, ...]
    operators: tuple[DetailedOperator, ...]


class OperatorFeature(msgspec.Struct, frozen=True, kw_only=True):
    """The operator behind a feature, told by those who know operators."""

    name: str
    dependencies: tuple[FeatureId, ...] = ()


def support_of(feature: FeatureId, *, target: Target) -> tuple[SupportLevel, Reason | None]:
    """The level of one feature and, where it is unavailable, what is to blame."""
    rule = FEATURE_RULES[feature]
    if architecture_level(target.architecture, version=target.version) is _UNAVAILABLE:
        return _UNAVAILABLE, Reason.CPU_ARCHITECTURE
    if target.architecture in rule.not_on:
        return _UNAVAILABLE, Reason.CPU_ARCHITECTURE
    level = _level_of_version(rule, target)
    if level is _UNAVAILABLE:
        return _UNAVAILABLE, Reason.OPENSHIFT_VERSION
    if target.platform in rule.not_with:
        return _UNAVAILABLE, Reason.PLATFORM
    if target.is_oci and OCI in rule.not_with:
        return _UNAVAILABLE, Reason.OCI_DISABLED
    if not _platform_is_enough(rule, target):
        return rule.elsewhere, Reason.PLATFORM if rule.elsewhere is _UNAVAILABLE else None
    return level, None


def features(target: Target) -> dict[FeatureId, SupportLevel]:
    """The map answer: levels of all features that make sense for the question."""
    return {feature: support_of(feature, target=target)[0] for feature in _shown(target)}


def detailed_features(target: Target, *, operators: Mapping[FeatureId, OperatorFeature]) -> DetailedFeatures:
    """The long answer, with reasons and exclusions; features that are operators come apart from the rest."""
    plain: list[DetailedFeature] = []
    with_operator: list[DetailedOperator] = []
    for feature in _shown(target):
        level, reason = support_of(feature, target=target)
        excluded = incompatible_with(feature, version=target.version)
        operator = operators.get(feature)
        if operator is None:
            plain.append(DetailedFeature(id=feature, support_level=level, reason=reason, incompatibilities=excluded))
            continue
        with_operator.append(
            DetailedOperator(
                id=feature,
                support_level=level,
                reason=reason,
                incompatibilities=excluded,
                name=operator.name,
                dependencies=operator.dependencies,
            )
        )
    return DetailedFeatures(features=tuple(plain), operators=tuple(with_operator))


def check_features(active: frozenset[FeatureId], *, target: Target) -> None:
    """Invalid when a feature in use is unavailable for the target or excludes another one in use."""
    if architecture_level(target.architecture, version=target.version) is _UNAVAILABLE:
        raise Invalid(
            f"You cannot use the {target.architecture} architecture because it's not compatible with"
            f" OpenShift {target.version}. Choose another version or architecture."
        )
    in_order = [feature for feature in FeatureId if feature in active]
    for feature in in_order:
        level, reason = support_of(feature, target=target)
        if level is _UNAVAILABLE and reason is not None:
            raise Invalid(_refusal(feature, reason=reason, target=target))
    for feature in in_order:
        for other in incompatible_with(feature, version=target.version):
            if other in active:
                raise Invalid(
                    f"You cannot use {TITLES[feature]} because it's not compatible with {TITLES[other]}."
                    " Choose one of the two."
                )


def platform_named(name: str) -> PlatformType | None:
    """The platform a query names; none for an empty name, Invalid for an unknown one."""
    if not name:
        return None
    try:
        return PlatformType(name)
    except ValueError:
        known = ", ".join(PlatformType)
        raise Invalid(f"The platform '{name[:80]}' is not known. Use one of {known}.") from None


def _shown(target: Target) -> Iterator[FeatureId]:
    """With a platform the question "which platform" is answered; without one, platform networking has no meaning."""
    hidden = PLATFORM_IDS if target.platform else frozenset({FeatureId.PLATFORM_MANAGED_NETWORKING})
    return (feature for feature in FeatureId if feature not in hidden)


def _platform_is_enough(rule: FeatureRule, target: Target) -> bool:
    if not rule.only_with or target.platform is None:
        return True
    first = rule.only_with.get(target.platform)
    return first is not None and at_least(target.version, first)


def _level_of_version(rule: FeatureRule, target: Target) -> SupportLevel:
    level = _UNAVAILABLE
    for since, given in rule.levels_on.get(target.architecture, rule.levels):
        if at_least(target.version, since):
            level = given
    return level


def _refusal(feature: FeatureId, *, reason: Reason, target: Target) -> str:
    platform = f"the platform {target.external_name or target.platform}"
    blamed = {
        Reason.CPU_ARCHITECTURE: f"the {target.architecture} architecture",
        Reason.PLATFORM: platform,
        Reason.OCI_DISABLED: platform,
        Reason.OPENSHIFT_VERSION: f"OpenShift {target.version}",
    }[reason]
    way_out = {
        Reason.CPU_ARCHITECTURE: "architecture",
        Reason.PLATFORM: "platform",
        Reason.OCI_DISABLED: "platform",
        Reason.OPENSHIFT_VERSION: "version",
    }[reason]
    return (
        f"You cannot use {TITLES[feature]} because it's not compatible with {blamed}."
        f" Leave it out or choose another {way_out}."
    )
