"""On whose behalf something happens."""

from uuid import UUID

from msgspec import Struct


class Caller(Struct, frozen=True, kw_only=True):
    """Recorded with every event."""

    name: str = "service"
    """A user name, `agent`, `controller` or `service`."""
    request_id: UUID | None = None
    org_id: str = ""
    email_domain: str = "Unknown"
    is_admin: bool = True
    infra_env_id: UUID | None = None
    """A machine that has proved to be of this infra-env."""
    cluster_id: UUID | None = None
    """A part of this cluster."""
    came_late: bool = False
    """The machine's token has ended; it may go on with what it began, but begin nothing."""


SERVICE = Caller()
