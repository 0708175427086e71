"""The error documents; which one is sent when is decided in the HTTP layer."""

from firstlight.core.wire.shape import Answer


class Error(Answer, frozen=True, kw_only=True):
    """An error decided by the service itself; `code` holds the HTTP status as text."""

    code: str
    href: str
    id: int
    kind: str
    reason: str


class InfraError(Answer, frozen=True, kw_only=True):
    """An error of the framework around the service: routing, parsing, credentials."""

    code: int
    message: str
