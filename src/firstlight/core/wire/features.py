"""Support levels of features and architectures."""

from msgspec import field

from firstlight.core.wire.shape import Answer


class Feature(Answer, frozen=True, kw_only=True):
    """A feature, how well it is supported and what it excludes."""

    feature_support_level_id: str = field(name="feature-support-level-id")
    support_level: str
    incompatibilities: tuple[str, ...]
    reason: str = ""


class OperatorFeature(Answer, frozen=True, kw_only=True):
    """An operator seen as a feature."""

    feature_support_level_id: str = field(name="feature-support-level-id")
    support_level: str
    incompatibilities: tuple[str, ...]
    name: str
    dependencies: tuple[str, ...]
    reason: str = ""


class SupportedFeatures(Answer, frozen=True, kw_only=True):
    """The support level of every feature."""

    features: dict[str, str]


class DetailedSupportedFeatures(Answer, frozen=True, kw_only=True):
    """Every feature and operator with reasons and exclusions."""

    features: tuple[Feature, ...]
    operators: tuple[OperatorFeature, ...]


class SupportedArchitectures(Answer, frozen=True, kw_only=True):
    """The support level of every CPU architecture."""

    architectures: dict[str, str]


class Usage(Answer, frozen=True, kw_only=True):
    """A feature a cluster uses; `feature_usage` is a map of these by name."""

    id: str
    name: str
    data: dict[str, object] | None = None
