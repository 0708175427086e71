"""An event as it is stored and streamed: flattened, numbered, with who caused it and what it changed."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

import msgspec

from firstlight.core.events.event import Category, Event, Severity


class About(StrEnum):
    """What kind of thing an event is about: the narrowest it names."""

    HOST = "host"
    INFRA_ENV = "infra-env"
    CLUSTER = "cluster"
    SERVICE = "service"
    """Nothing in particular."""


class Recorded(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of the sequence that the API, the stream, webhooks and the audit log read."""

    seq: int = 0
    """Given by the store in commit order; 0 until then."""
    event_time: datetime
    name: str = ""
    severity: Severity
    category: Category = Category.USER
    message: str
    props: dict[str, object] = {}
    cluster_id: UUID | None = None
    host_id: UUID | None = None
    infra_env_id: UUID | None = None
    request_id: UUID | None = None
    actor: str = ""
    """Who caused it: a user name, `agent`, `controller` or `service`."""
    before: dict[str, object] | None = None
    after: dict[str, object] | None = None

    @property
    def about(self) -> About:
        if self.host_id is not None:
            return About.HOST
        if self.infra_env_id is not None:
            return About.INFRA_ENV
        return About.SERVICE if self.cluster_id is None else About.CLUSTER


def record(
    event: Event,
    *,
    now: datetime,
    actor: str = "",
    request_id: UUID | None = None,
    before: dict[str, object] | None = None,
    after: dict[str, object] | None = None,
) -> Recorded:
    """Flatten `event` for storing; the sequence number is the store's to give."""
    return Recorded(
        event_time=now,
        name=event.name,
        severity=event.severity,
        category=event.category,
        message=event.message,
        props=dict(event.props()),
        cluster_id=event.cluster_id,
        host_id=event.host_id,
        infra_env_id=event.infra_env_id,
        request_id=request_id,
        actor=actor,
        before=before,
        after=after,
    )
