"""For every row requests may take a host along: when it fires, and when just its guard fails."""

from typing import Final

from firstlight.core.hosts.triggers import HostTrigger
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host_status import HostStatus, Stage
from tests.core.hosts.situations import Case

S, C, T = HostStatus, ClusterStatus, HostTrigger
RUNNING = {S.INSTALLING: "G7", S.INSTALLING_IN_PROGRESS: "G7"}

REQUEST_CASES: Final = (
    Case("G2", {"cluster": C.PREPARING_FOR_INSTALLATION}),
    Case("G3"),
    Case("G4", {"stage": Stage.REBOOTING}, {"stage": Stage.CONFIGURING}, "G5"),
    Case("G5", {"stage": Stage.CONFIGURING}),
    Case("G6", {"stage": Stage.REBOOTING}, {"stage": Stage.WRITING_IMAGE}, RUNNING),
    Case("G6", {"stage": Stage.DONE, "day_two": True}, {"day_two": False}, RUNNING),
    Case("G7b", {"tries": 1}, {"tries": 0}, "G7"),
    Case("G7b", {"tries": 1}, {"stage": Stage.STARTING}, "G7"),
    Case("G7", {"stage": Stage.WRITING_IMAGE}),
    Case("G7", {"stage": Stage.REBOOTING}, only=(S.INSTALLING,)),
    Case("G8", {"stage": Stage.REBOOTING}),
    Case("G11"),
    Case("H1", {"stage": Stage.REBOOTING, "day_two": True, "kube_api": True}, {"kube_api": False}, "H4"),
    Case("H1", {"stage": Stage.REBOOTING, "day_two": True, "kube_api": True}, {"day_two": False}, "H4"),
    Case("H1", {"stage": Stage.REBOOTING, "day_two": True, "kube_api": True}, {"stage": Stage.JOINED}, "H4"),
    Case("H2", {"stage": Stage.DONE, "day_two": True}, {"day_two": False}, "H3"),
    Case("H2", {"stage": Stage.DONE, "day_two": True}, {"stage": Stage.JOINED}, "H4"),
    Case("H3", {"stage": Stage.DONE}, {"stage": Stage.JOINED}, "H4"),
    Case("H4", {"stage": Stage.INSTALLING}),
    Case("H5", {"stage": Stage.DONE}),
    Case("H6", {"stage": Stage.JOINED, "kept_status": S.INSTALLING}, {"kept_status": None}, None),
    Case("I1", {"day_two": True}, {"day_two": False}, None),
    *(
        Case(row)
        for row in ("F1", "M1", "M2", "M3", "M4", "X1", "X2", "X3", "Z1", "Z2", "B1", "U1", "U2", "L1", "L2", "L3")
    ),
    Case("Y1", {}, {"silent": True}, "Y2"),
    Case("Y2", {"silent": True}, {"silent": False}, "Y1"),
    *(
        Case(row, {"kept_status": status}, {"kept_status": None}, None)
        for row, status in (
            ("V1", S.INSTALLING),
            ("V2", S.INSTALLING_IN_PROGRESS),
            ("V3", S.INSTALLING_PENDING_USER_ACTION),
            ("V4", S.INSTALLED),
            ("V5", S.RESETTING_PENDING_USER_ACTION),
        )
    ),
    Case("L4"),
    Case("L5"),
)

REFUSED: Final = {
    T.REGISTER: {
        S.PREPARING_FAILED,
        S.CANCELLED,
        S.RECLAIMING,
        S.DISABLED,
        S.DISABLED_UNBOUND,
        S.INSTALLED,
        # Only at the stage after which they should have come from their disks.
        S.INSTALLING_PENDING_USER_ACTION,
        S.ADDED_TO_EXISTING_CLUSTER,
    },
    T.CANCEL: {
        S.DISCOVERING_UNBOUND,
        S.KNOWN_UNBOUND,
        S.INSUFFICIENT_UNBOUND,
        S.DISCONNECTED_UNBOUND,
        S.DISABLED_UNBOUND,
        S.UNBINDING,
        S.UNBINDING_PENDING_USER_ACTION,
        S.RECLAIMING,
        S.RECLAIMING_REBOOTING,
    },
    T.BIND: set(S) - {S.KNOWN_UNBOUND},
    T.INSTALL: set(S) - {S.KNOWN},
    T.INSTALL_FAILED: set(S) - {S.INSTALLING, S.INSTALLING_IN_PROGRESS},
    T.RETRY: set(S) - {S.ERROR},
    T.REBOOT_FOR_RECLAIM: set(S) - {S.RECLAIMING},
    T.RECLAIM_FAILED: set(S) - {S.RECLAIMING, S.RECLAIMING_REBOOTING},
    T.RECLAIM: set(S)
    - {
        S.INSTALLED,
        S.ADDED_TO_EXISTING_CLUSTER,
        S.KNOWN,
        S.DISCOVERING,
        S.DISCONNECTED,
        S.INSUFFICIENT,
        S.PENDING_FOR_INPUT,
        S.ERROR,
        S.CANCELLED,
    },
}
"""Statuses in which a request does nothing but fail."""
REFUSED[T.RESET] = REFUSED[T.CANCEL]
