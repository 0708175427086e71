"""Hosts as tables show them, many at a time."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.host import HostState


class Place(StrEnum):
    CLUSTER = "cluster"
    INFRA_ENV = "infra-env"


class HostsOf(Struct, frozen=True):
    """All hosts of one cluster or of one infra-env."""

    place: Place
    id: UUID


class ListedHost(Struct, frozen=True):
    """A host without plan, and with no report but the inventory. Lists of them have no order."""

    state: HostState
    """Without presence. The same object as long as nothing but check-ins and other reports changed."""
    checked_in_at: datetime | None
