"""How well something is supported, and why it is not: the words shared by architectures and features."""

from enum import StrEnum


class SupportLevel(StrEnum):
    SUPPORTED = "supported"
    """Ready for production."""
    UNSUPPORTED = "unsupported"
    """Works, but nobody answers for it."""
    TECH_PREVIEW = "tech-preview"
    """Offered for trying out."""
    DEV_PREVIEW = "dev-preview"
    """Offered early to developers."""
    UNAVAILABLE = "unavailable"
    """Cannot be used; the only level that refuses a request."""


class Reason(StrEnum):
    """What makes a feature unavailable."""

    CPU_ARCHITECTURE = "cpuArchitecture"
    PLATFORM = "platform"
    OPENSHIFT_VERSION = "openshiftVersion"
    OCI_DISABLED = "ociExternalIntegrationDisabled"
