"""What the service offers, looked up in its tables: operators, bundles, versions, features, domains."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from firstlight.core.operators.bundles import Bundle, bundle_named, list_bundles
from firstlight.core.operators.catalogue import ALIASES, OPERATORS
from firstlight.core.versions.architectures import ArchitectureId, architecture_levels, normalise
from firstlight.core.versions.catalogue import OpenshiftVersion
from firstlight.core.versions.feature_ids import FeatureId
from firstlight.core.versions.features import (
    DetailedFeatures,
    OperatorFeature,
    Target,
    detailed_features,
    features,
    platform_named,
    support_of,
)
from firstlight.core.versions.levels import SupportLevel
from firstlight.core.versions.numbers import parse
from firstlight.server.usecases.world import World

OPERATOR_FEATURES: Final[Mapping[FeatureId, OperatorFeature]] = {
    spec.feature: OperatorFeature(
        name=spec.name, dependencies=tuple(OPERATORS[name].feature for name in spec.dependencies)
    )
    for spec in OPERATORS.values()
}


class Question(Struct, frozen=True, kw_only=True):
    """What support is asked about, in the caller's words."""

    openshift_version: str
    cpu_architecture: str = "x86_64"
    platform: str = ""
    external_platform: str = ""

    def target(self) -> Target:
        """Invalid when a word of the question is not known."""
        return Target(
            version=parse(self.openshift_version),
            architecture=normalise(self.cpu_architecture),
            platform=platform_named(self.platform),
            external_name=self.external_platform,
        )


def knows_operator(name: str) -> bool:
    return ALIASES.get(name, name) in OPERATORS


def bundles(question: Question | None, *, single_node: bool) -> tuple[Bundle, ...]:
    """All bundles, or with a question those whose operators exist for it."""
    if question is None:
        return list_bundles(single_node=single_node)
    target = question.target()

    def is_available(feature: FeatureId) -> bool:
        return support_of(feature, target=target)[0] is not SupportLevel.UNAVAILABLE

    return list_bundles(single_node=single_node, is_available=is_available)


def bundle(bundle_id: str, *, single_node: bool) -> Bundle:
    return bundle_named(bundle_id, single_node=single_node)


def component_versions(world: World) -> dict[str, str]:
    """By the names the original gives its parts."""
    return {
        "assisted-installer-service": world.service.version,
        "discovery-agent": world.policy.agent_image,
        "assisted-installer": world.policy.installer_image,
        "assisted-installer-controller": world.policy.controller_image,
    }


def openshift_versions(world: World, *, containing: str, only_latest: bool) -> Mapping[str, OpenshiftVersion]:
    """Without an image service nobody needs an OS image, so releases without one are offered too."""
    return world.catalogue.openshift_versions(
        version_filter=containing, only_latest=only_latest, need_os_image=world.service.image_service
    )


def supported_features(question: Question) -> Mapping[FeatureId, SupportLevel]:
    return features(question.target())


def supported_features_in_detail(question: Question) -> DetailedFeatures:
    return detailed_features(question.target(), operators=OPERATOR_FEATURES)


def supported_architectures(openshift_version: str) -> Mapping[ArchitectureId, SupportLevel]:
    return architecture_levels(parse(openshift_version))
