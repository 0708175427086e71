"""How well features and architectures are supported."""

from typing import Literal

from msgspec import Struct

from firstlight.core import wire
from firstlight.core.versions.features import DetailedFeature, DetailedOperator
from firstlight.server.http.call import Call
from firstlight.server.http.operations import Access, operation
from firstlight.server.usecases import catalogues
from firstlight.server.usecases.catalogues import Question
from firstlight.server.usecases.world import World

AnyArchitecture = Literal["x86_64", "aarch64", "arm64", "ppc64le", "s390x", "multi"]
Platform = Literal["baremetal", "none", "nutanix", "vsphere", "external"]


class VersionQuery(Struct, frozen=True, kw_only=True):
    openshift_version: str


class FeaturesQuery(VersionQuery, frozen=True, kw_only=True):
    cpu_architecture: AnyArchitecture = "x86_64"
    platform_type: Platform | None = None
    external_platform_name: str = ""

    def question(self) -> Question:
        return Question(
            openshift_version=self.openshift_version,
            cpu_architecture=self.cpu_architecture,
            platform=self.platform_type or "",
            external_platform=self.external_platform_name,
        )


@operation(
    "GET",
    "/v2/support-levels/features",
    id="GetSupportedFeatures",
    access=Access.READ,
    query=FeaturesQuery,
    answer=wire.SupportedFeatures,
    errors=(400, 401, 403, 404, 503),
    etag=True,
)
async def get_supported_features(_world: World, call: Call[None, FeaturesQuery]) -> wire.SupportedFeatures:
    """List the support level of every feature."""
    levels = catalogues.supported_features(call.query.question())
    return wire.SupportedFeatures(features={feature.value: level.value for feature, level in levels.items()})


@operation(
    "GET",
    "/v2/support-levels/features/detailed",
    id="GetDetailedSupportedFeatures",
    access=Access.READ,
    query=FeaturesQuery,
    answer=wire.DetailedSupportedFeatures,
    errors=(400, 401, 403, 500),
    etag=True,
)
async def get_detailed_supported_features(
    _world: World, call: Call[None, FeaturesQuery]
) -> wire.DetailedSupportedFeatures:
    """List every feature and operator with what it excludes and why it is not available."""
    found = catalogues.supported_features_in_detail(call.query.question())
    return wire.DetailedSupportedFeatures(
        features=tuple(_feature(feature) for feature in found.features),
        operators=tuple(_operator(operator) for operator in found.operators),
    )


@operation(
    "GET",
    "/v2/support-levels/architectures",
    id="GetSupportedArchitectures",
    access=Access.READ,
    query=VersionQuery,
    answer=wire.SupportedArchitectures,
    errors=(400, 401, 403, 404, 503),
    etag=True,
)
async def get_supported_architectures(_world: World, call: Call[None, VersionQuery]) -> wire.SupportedArchitectures:
    """List the support level of every CPU architecture."""
    levels = catalogues.supported_architectures(call.query.openshift_version)
    return wire.SupportedArchitectures(architectures={name.value: level.value for name, level in levels.items()})


def _feature(feature: DetailedFeature) -> wire.Feature:
    return wire.Feature(
        feature_support_level_id=feature.id.value,
        support_level=feature.support_level.value,
        reason=feature.reason or "",
        incompatibilities=tuple(other.value for other in feature.incompatibilities),
    )


def _operator(operator: DetailedOperator) -> wire.OperatorFeature:
    return wire.OperatorFeature(
        feature_support_level_id=operator.id.value,
        support_level=operator.support_level.value,
        reason=operator.reason or "",
        incompatibilities=tuple(other.value for other in operator.incompatibilities),
        name=operator.name,
        dependencies=tuple(other.value for other in operator.dependencies),
    )
