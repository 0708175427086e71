"""What an event is: a name, a severity, a sentence with blanks, and fields that fill them.

The fields of a class are the properties of the event, so the type checker refuses an event without its host.
"""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import ClassVar, Final
from uuid import UUID

PropertyValue = str | int | float | bool | None

_IDS: Final = frozenset({"cluster_id", "host_id", "infra_env_id"})

MESSAGE_FROM_TEXT: Final = {"text": "message"}
"""For events whose property `message` is the whole sentence: the field is called `text`."""


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


class Category(StrEnum):
    USER = "user"
    """Shown to people."""
    METRICS = "metrics"
    """Numbers for statistics; shown only when asked for."""
    CHANGE = "change"
    """Changes the original has no event for: on the stream and in the audit, not in its event list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The parent of all events; what happened is said by its children."""

    name: ClassVar[str] = ""
    level: ClassVar[Severity] = Severity.INFO
    template: ClassVar[str] = ""
    category: ClassVar[Category] = Category.USER
    property_names: ClassVar[dict[str, str]] = {}
    """Names of properties on the wire, where they differ from the field's."""

    cluster_id: UUID | None
    host_id: UUID | None
    infra_env_id: UUID | None

    @property
    def severity(self) -> Severity:
        return self.level

    @property
    def message(self) -> str:
        """The sentence for a person."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return self.template.format_map(values).strip()

    def props(self) -> dict[str, PropertyValue]:
        """The properties other than ids, ready for JSON."""
        return {
            self.property_names.get(field.name, field.name): getattr(self, field.name)
            for field in fields(self)
            if field.name not in _IDS
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEvent(Event):
    cluster_id: UUID
    host_id: UUID | None = None
    infra_env_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEvent(Event):
    host_id: UUID
    infra_env_id: UUID
    cluster_id: UUID | None = None
    """Empty while the host is not bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfraEnvEvent(Event):
    infra_env_id: UUID
    cluster_id: UUID | None = None
    host_id: UUID | None = None
