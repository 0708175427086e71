"""Events of our own: the stream and the audit show them, the original's event list does not know them."""

from dataclasses import dataclass

from firstlight.core.events.event import Category, ClusterEvent, HostEvent, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChanged(ClusterEvent):
    name = "cluster_updated"
    level = Severity.INFO
    category = Category.CHANGE
    template = "Settings of the cluster changed: {fields}"

    fields: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostChanged(HostEvent):
    name = "host_updated"
    level = Severity.INFO
    category = Category.CHANGE
    template = "Host {host_name}: settings changed: {fields}"

    host_name: str
    fields: str
