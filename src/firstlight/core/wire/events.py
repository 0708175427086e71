"""Events: the list, and the one a controller may add."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from firstlight.core.wire.shape import Answer, Body
from firstlight.core.wire.words import EventCategory, EventSeverity


class Event(Answer, frozen=True, kw_only=True):
    """An event as GET lists it."""

    severity: str
    message: str
    event_time: str
    name: str = ""
    cluster_id: UUID | None = None
    host_id: UUID | None = None
    infra_env_id: UUID | None = None
    category: str = ""
    request_id: UUID | None = None
    props: str = ""


class EventTriggerParams(Body, frozen=True, kw_only=True):
    """An event that a part of the installation asks the service to keep."""

    severity: EventSeverity
    message: str
    event_time: datetime
    name: str | None = None
    cluster_id: UUID | None = None
    host_id: UUID | None = None
    infra_env_id: UUID | None = None
    category: EventCategory | Literal[""] | None = None
    """The original's clients send it empty; that means `user`."""
    request_id: UUID | None = None
    props: str | None = None
