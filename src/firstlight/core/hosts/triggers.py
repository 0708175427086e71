"""What can happen to a host, and the row type its tables are made of."""

from enum import StrEnum
from uuid import UUID

from firstlight.core.events.event import Event
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.machine import Transition
from firstlight.core.model.host import Host, hostname_of
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.reports import Reports


class HostTrigger(StrEnum):
    REFRESH = "refresh"
    REGISTER = "register"
    PROGRESS = "progress"
    INSTALL = "install"
    INSTALL_FAILED = "install failed"
    MEDIA_GONE = "media gone"
    CANCEL = "cancel"
    RESET = "reset"
    BIND = "bind"
    UNBIND = "unbind"
    RECLAIM = "reclaim"
    REBOOT_FOR_RECLAIM = "reboot for reclaim"
    RECLAIM_FAILED = "reclaim failed"
    RETRY = "retry"
    RESUME = "resume"


HostRow = Transition[HostStatus, HostTrigger, HostSituation, Host, Event]


class Identity:
    """The ids and the name every event about a host carries."""

    __slots__ = ("cluster_id", "host_id", "host_name", "infra_env_id")

    def __init__(self, host: Host, reports: Reports) -> None:
        self.host_id: UUID = host.id
        self.infra_env_id: UUID = host.infra_env_id
        self.cluster_id: UUID | None = host.cluster_id
        self.host_name: str = hostname_of(host, reports)
