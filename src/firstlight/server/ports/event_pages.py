"""Which events somebody wants to read, and the page of them that is found."""

from collections.abc import Mapping
from uuid import UUID

from msgspec import Struct

from firstlight.core.events.event import Severity
from firstlight.core.events.recorded import Recorded


class EventQuery(Struct, frozen=True, kw_only=True):
    """See the wire's GET /v2/events; all given conditions hold together unless said otherwise."""

    cluster_id: UUID | None = None
    infra_env_id: UUID | None = None
    host_ids: tuple[UUID, ...] = ()
    deleted_hosts: bool = False
    cluster_level: bool = False
    """With cluster_id, these three widen each other: these hosts, or deleted ones, or none."""
    message: str = ""
    severities: tuple[str, ...] = ()
    categories: tuple[str, ...] = ("user",)
    descending: bool = False
    limit: int | None = None
    offset: int = 0


class EventPage(Struct, frozen=True, kw_only=True):
    events: tuple[Recorded, ...]
    total: int
    """Matching everything, before limit and offset."""
    by_severity: Mapping[Severity, int]
    """Severity filter left out."""
