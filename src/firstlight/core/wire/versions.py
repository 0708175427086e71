"""Versions of the service and of OpenShift."""

from firstlight.core.wire.shape import Answer


class ListVersions(Answer, frozen=True, kw_only=True):
    """The versions of the parts of the service."""

    versions: dict[str, str]
    release_tag: str = ""


class OpenshiftVersion(Answer, frozen=True, kw_only=True):
    """A release the service can install."""

    display_name: str
    support_level: str
    cpu_architectures: tuple[str, ...]
    default: bool = False


class UpgradeChannel(Answer, frozen=True, kw_only=True):
    """Channels of one architecture."""

    cpu_architecture: str
    channels: tuple[str, ...]


class ReleaseSource(Answer, frozen=True, kw_only=True):
    """Where releases of one minor version come from."""

    openshift_version: str
    multi_cpu_architectures: tuple[str, ...]
    upgrade_channels: tuple[UpgradeChannel, ...]


class OsImage(Answer, frozen=True, kw_only=True):
    """A live OS image as the configuration names it."""

    openshift_version: str
    cpu_architecture: str
    url: str
    version: str


class ReleaseImage(Answer, frozen=True, kw_only=True):
    """A release image as the configuration names it."""

    openshift_version: str
    cpu_architecture: str
    url: str
    version: str
    cpu_architectures: tuple[str, ...] | None = None
    default: bool = False
    support_level: str = ""
