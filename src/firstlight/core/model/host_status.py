"""The words of a host's life: statuses, roles, kinds, install stages."""

from enum import StrEnum
from typing import Final


class HostStatus(StrEnum):
    DISCOVERING = "discovering"
    """Registered; no usable inventory yet."""
    KNOWN = "known"
    """Every blocking check passes; may be installed."""
    DISCONNECTED = "disconnected"
    """The agent is silent, or its discovery medium cannot be read."""
    INSUFFICIENT = "insufficient"
    """Some blocking check fails."""
    PENDING_FOR_INPUT = "pending-for-input"
    """The hardware is fine; the cluster's machine network is not known yet."""
    DISABLED = "disabled"
    """Legacy; nothing leads in or out."""
    PREPARING_FOR_INSTALLATION = "preparing-for-installation"
    """Installation was asked for; disk speed and image pulls are being checked."""
    PREPARING_FAILED = "preparing-failed"
    PREPARING_SUCCESSFUL = "preparing-successful"
    """Prepared; waits for the cluster."""
    INSTALLING = "installing"
    """The install step is about to be handed out."""
    INSTALLING_IN_PROGRESS = "installing-in-progress"
    """Stages are being reported."""
    INSTALLING_PENDING_USER_ACTION = "installing-pending-user-action"
    """Booted the wrong medium, or does not come back from its reboot."""
    INSTALLED = "installed"
    ADDED_TO_EXISTING_CLUSTER = "added-to-existing-cluster"
    """The end of a day-2 installation."""
    ERROR = "error"
    CANCELLED = "cancelled"
    RESETTING = "resetting"
    """Legacy; still accepted as a source."""
    RESETTING_PENDING_USER_ACTION = "resetting-pending-user-action"
    """Waits until somebody boots the discovery image again."""
    BINDING = "binding"
    UNBINDING = "unbinding"
    UNBINDING_PENDING_USER_ACTION = "unbinding-pending-user-action"
    RECLAIMING = "reclaiming"
    RECLAIMING_REBOOTING = "reclaiming-rebooting"
    DISCOVERING_UNBOUND = "discovering-unbound"
    KNOWN_UNBOUND = "known-unbound"
    INSUFFICIENT_UNBOUND = "insufficient-unbound"
    DISCONNECTED_UNBOUND = "disconnected-unbound"
    DISABLED_UNBOUND = "disabled-unbound"


S = HostStatus
BEFORE_INSTALLATION: Final = frozenset({S.DISCOVERING, S.KNOWN, S.DISCONNECTED, S.INSUFFICIENT, S.PENDING_FOR_INPUT})
UNBOUND: Final = frozenset({S.DISCOVERING_UNBOUND, S.KNOWN_UNBOUND, S.INSUFFICIENT_UNBOUND, S.DISCONNECTED_UNBOUND})
EDITABLE: Final = BEFORE_INSTALLATION | UNBOUND | {S.BINDING}
"""Statuses in which a user may change role, name, disks and the like."""
INVENTORY_ACCEPTED: Final = BEFORE_INSTALLATION | UNBOUND | {S.INSTALLING_IN_PROGRESS}
INSTALLING_STATUSES: Final = frozenset(
    {
        S.PREPARING_FOR_INSTALLATION,
        S.PREPARING_FAILED,
        S.PREPARING_SUCCESSFUL,
        S.INSTALLING,
        S.INSTALLING_IN_PROGRESS,
        S.INSTALLING_PENDING_USER_ACTION,
    }
)


class HostKind(StrEnum):
    HOST = "Host"
    DAY_TWO = "AddToExistingClusterHost"


class HostRole(StrEnum):
    AUTO_ASSIGN = "auto-assign"
    MASTER = "master"
    WORKER = "worker"
    ARBITER = "arbiter"
    BOOTSTRAP = "bootstrap"


class Stage(StrEnum):
    """Steps of one host's installation, exactly as installers report them."""

    STARTING = "Starting installation"
    INSTALLING = "Installing"
    WRITING_IMAGE = "Writing image to disk"
    COPYING_REGISTRY = "Copying registry data to disk"
    WAITING_FOR_CONTROL_PLANE = "Waiting for control plane"
    WAITING_FOR_BOOTKUBE = "Waiting for bootkube"
    WAITING_FOR_CONTROLLER = "Waiting for controller"
    REBOOTING = "Rebooting"
    WAITING_FOR_IGNITION = "Waiting for ignition"
    CONFIGURING = "Configuring"
    JOINED = "Joined"
    DONE = "Done"
    FAILED = "Failed"


AFTER_REBOOT: Final = frozenset(
    {Stage.REBOOTING, Stage.WAITING_FOR_IGNITION, Stage.CONFIGURING, Stage.JOINED, Stage.DONE}
)
"""Stages in which the agent no longer runs, so its silence means nothing."""


class LogsState(StrEnum):
    NONE = ""
    REQUESTED = "requested"
    COLLECTING = "collecting"
    COMPLETED = "completed"
    TIMEOUT = "timeout"


class MediaStatus(StrEnum):
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
