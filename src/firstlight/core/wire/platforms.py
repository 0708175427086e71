"""The platform of a cluster."""

from firstlight.core.wire.shape import Body, NonEmpty
from firstlight.core.wire.words import CloudControllerManager, PlatformType


class PlatformExternal(Body, frozen=True, kw_only=True):
    """Settings of the external platform."""

    platform_name: NonEmpty | None = None
    cloud_controller_manager: CloudControllerManager | None = None


class Platform(Body, frozen=True, kw_only=True):
    """Where the cluster runs."""

    type: PlatformType
    external: PlatformExternal | None = None
