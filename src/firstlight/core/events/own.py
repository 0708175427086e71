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


@dataclass(frozen=True, slots=True, kw_only=True)
class HostInstallationRetried(HostEvent):
    name = "host_installation_retried"
    level = Severity.INFO
    category = Category.CHANGE
    template = "Host {host_name}: the installation is tried again, for the {tries}. time"

    host_name: str
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReplaced(HostEvent):
    name = "host_replaced"
    level = Severity.INFO
    category = Category.CHANGE
    template = "Host {host_name} takes the place of {replaced_name} as {role}"

    host_name: str
    replaced_name: str
    replaced_id: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInstallationResumed(ClusterEvent):
    name = "cluster_installation_resumed"
    level = Severity.INFO
    category = Category.CHANGE
    template = "The installation of the cluster goes on: a failed host is tried again"
