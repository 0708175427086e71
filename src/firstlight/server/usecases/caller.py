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


SERVICE = Caller()
