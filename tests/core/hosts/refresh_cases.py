"""For every row of the refresh table of hosts: when it fires, and when just its guard fails."""

from datetime import timedelta
from typing import Final

from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host_status import HostRole, HostStatus, LogsState, MediaStatus, Stage
from tests.builders.moments import NOW
from tests.core.hosts.situations import MINUTE, PREPARED, TICK, Case

S, C = HostStatus, ClusterStatus
DISK = "sufficient-installation-disk-speed"
IMAGES = "container-images-available"
READY_AGAIN = {S.KNOWN: "R35", S.PREPARING_FAILED: "R11", "*": "R34"}
KNOWN_AGAIN = {S.KNOWN: "R35", "*": "R34"}
AT_WORK = {"cluster": C.INSTALLING}
LATE = {"age": 60 * MINUTE}
KEPT = {"kept_status": S.INSTALLING, "age": 60 * MINUTE, "may_go_on": True}
AGAIN = {"cluster": C.INSTALLING, "tries": 1}
COMING = {
    S.KNOWN: "R42",
    S.INSUFFICIENT: "R42",
    S.RESETTING_PENDING_USER_ACTION: "R29",
    S.BINDING: "P4",
    "*": "R34",
}

PREPARATION: Final = (
    Case("R1", {"age": 60 * MINUTE}, {"age": 60 * MINUTE - TICK}, "R39"),
    *(
        Case("R43", {**AGAIN, "cluster": cluster, "retry_until": NOW}, fails, then)
        for cluster in (C.INSTALLING, C.INSTALLING_PENDING_USER_ACTION, C.FINALIZING)
        for fails, then in (
            ({"retry_until": NOW + TICK}, COMING),
            ({"retry_until": None}, COMING),
            ({"tries": 0}, {**COMING, S.KNOWN: "R35", S.INSUFFICIENT: "R34"}),
        )
    ),
    Case("R43", {**AGAIN, "retry_until": NOW}, {"cluster": C.READY}, {**COMING, S.KNOWN: "R35", S.INSUFFICIENT: "R34"}),
    *(
        Case("R42", AGAIN | fires, fails, then)
        for fires in ({}, {"failing": ("belongs-to-majority-group", "no-ip-collisions-in-network")})
        for fails, then in (
            ({"silent": True}, "R13"),
            ({"media": MediaStatus.DISCONNECTED}, "R13"),
            ({"lacks": ("has-inventory",)}, "R30"),
            ({"lacks": ("has-min-memory",)}, "R31"),
            ({"lacks": ("hostname-valid",)}, "R33"),
        )
    ),
    Case("R42", AGAIN, {"tries": 0}, KNOWN_AGAIN),
    Case("R42", AGAIN, {"cluster": C.READY}, KNOWN_AGAIN),
    Case("R2", {"cluster": C.PREPARING_FOR_INSTALLATION}, {"cluster": C.READY}, "R35"),
    Case("R2", {"cluster": C.PREPARING_FOR_INSTALLATION}, {"suggested_role": None}, "R35"),
    Case("R2", {"cluster": C.PREPARING_FOR_INSTALLATION, "role": HostRole.ARBITER}, {"silent": True}, "R13"),
    Case("R2", {"cluster": C.PREPARING_FOR_INSTALLATION}, {"media": MediaStatus.DISCONNECTED}, "R13"),
    Case("R3", {"cluster": C.PREPARING_FOR_INSTALLATION, "reports": PREPARED}, {"reports": None}, "R10"),
    Case("R3", {"cluster": C.PREPARING_FOR_INSTALLATION, "reports": PREPARED}, {"cluster": C.READY}, "R6"),
    Case("R3", {"cluster": C.PREPARING_FOR_INSTALLATION, "reports": PREPARED}, {"silent": True}, "R16"),
    Case("R3", {"cluster": C.PREPARING_FOR_INSTALLATION, "reports": PREPARED}, {"failing": (DISK,)}, "R7"),
    Case("R3", {"cluster": C.PREPARING_FOR_INSTALLATION, "reports": PREPARED}, {"failing": (IMAGES,)}, "R9"),
    Case(
        "R3",
        # Partitions that are to survive: the disk is not measured at all.
        {
            "cluster": C.PREPARING_FOR_INSTALLATION,
            "reports": PREPARED | {"disk_speeds": None},
            "installer_args": ("--save-partlabel", "data"),
        },
        {"installer_args": ("--append-karg", "a=b")},
        "R10",
    ),
    Case("R4", {"cluster": C.PREPARING_FOR_INSTALLATION}, {"cluster": C.READY}, "R12"),
    Case("R4", {"cluster": C.PREPARING_FOR_INSTALLATION}, {"silent": True}, "R16"),
    Case("R5", {"cluster": C.INSTALLING}, {"cluster": C.PREPARING_FOR_INSTALLATION}, "R4"),
    Case("R5", {"cluster": C.INSTALLING}, {"silent": True}, "R16"),
    Case("R6", {"cluster": C.READY}, {"cluster": C.PREPARING_FOR_INSTALLATION}, "R10"),
    Case("R6", {"cluster": C.READY}, {"failing": (IMAGES,)}, "R9"),
    Case("R6", {"cluster": C.READY}, {"silent": True}, "R16"),
    Case(
        "R7",
        {"failing": (DISK,)},
        {"failing": ()},
        {S.PREPARING_FOR_INSTALLATION: "R6", S.PREPARING_FAILED: "R11", S.KNOWN: "R35"},
    ),
    Case("R7", {"failing": (DISK,)}, {"silent": True}, {S.PREPARING_FOR_INSTALLATION: "R16", "*": "R13"}),
    Case(
        "R8",
        {"cluster": C.PREPARING_FOR_INSTALLATION, "age": 8 * MINUTE},
        {"age": 8 * MINUTE - TICK},
        "R10",
    ),
    Case(
        "R8",
        {"cluster": C.PREPARING_FOR_INSTALLATION, "age": 8 * MINUTE},
        {"failing": (IMAGES,)},
        "R9",
    ),
    Case("R8", {"cluster": C.PREPARING_FOR_INSTALLATION, "age": 8 * MINUTE}, {"reports": PREPARED}, "R3"),
    Case("R9", {"cluster": C.PREPARING_FOR_INSTALLATION, "failing": (IMAGES,)}, {"failing": ()}, "R10"),
    Case("R9", {"cluster": C.PREPARING_FOR_INSTALLATION, "failing": (IMAGES,)}, {"silent": True}, "R16"),
    Case("R10", {"cluster": C.PREPARING_FOR_INSTALLATION}, {"cluster": C.INSUFFICIENT}, "R6"),
    Case("R10", {"cluster": C.PREPARING_FOR_INSTALLATION}, {"reports": PREPARED}, "R3"),
    Case("R11", {"cluster": C.READY}, {"cluster": C.PREPARING_FOR_INSTALLATION}, "R11b"),
    Case("R11", {"cluster": C.READY}, {"silent": True}, "R13"),
    Case("R11b", {"cluster": C.PREPARING_FOR_INSTALLATION}, {"cluster": C.READY}, "R11"),
    Case("R12", {"cluster": C.READY}, {"cluster": C.PREPARING_FOR_INSTALLATION}, "R4"),
    Case("R12", {"cluster": C.CANCELLED}, {"cluster": C.INSTALLING}, "R5"),
    Case("R13", {"silent": True}, {"silent": False}, READY_AGAIN),
    Case("R13", {"media": MediaStatus.DISCONNECTED}, {"media": MediaStatus.CONNECTED}, READY_AGAIN),
)

INSTALLATION: Final = (
    Case("R14", {"cluster": C.ERROR}, {"cluster": C.INSTALLING}, "R29"),
    Case("R14", {"cluster": C.ERROR}, {"day_two": True}, None),
    Case("R15", AT_WORK | {"age": 20 * MINUTE}, {"age": 20 * MINUTE - TICK}, "R29"),
    Case(
        "R16",
        {"cluster": C.PREPARING_FOR_INSTALLATION, "silent": True},
        {"silent": False},
        {S.PREPARING_FOR_INSTALLATION: "R10", S.PREPARING_SUCCESSFUL: "R4"},
    ),
    Case(
        "R16",
        {"cluster": C.PREPARING_FOR_INSTALLATION, "media": MediaStatus.DISCONNECTED},
        {"media": MediaStatus.CONNECTED},
        {S.PREPARING_FOR_INSTALLATION: "R10", S.PREPARING_SUCCESSFUL: "R4"},
    ),
    Case("R17", AT_WORK | {"silent": True}, {"silent": False}, "R29"),
    Case("R17", AT_WORK | {"silent": True}, {"soft": True}, "R18"),
    Case("R18", AT_WORK | {"silent": True, "soft": True}, {"connection_timed_out": True}, "R29"),
    Case("R18", AT_WORK | {"silent": True, "soft": True}, {"silent": False}, "R29"),
    Case("R19", AT_WORK | {"soft": True, "connection_timed_out": True}, {"connection_timed_out": False}, "R29"),
    Case("R19", AT_WORK | {"soft": True, "connection_timed_out": True}, {"silent": True}, "R29"),
    Case("R19", AT_WORK | {"soft": True, "connection_timed_out": True}, {"soft": False}, "R29"),
    *(
        Case("R20", {"cluster": C.INSTALLING_PENDING_USER_ACTION, "stage": stage}, {"cluster": C.INSTALLING}, "R29")
        for stage in (
            Stage.WAITING_FOR_CONTROL_PLANE,
            Stage.WAITING_FOR_CONTROLLER,
            Stage.WAITING_FOR_BOOTKUBE,
            Stage.REBOOTING,
        )
    ),
    Case(
        "R20",
        {"cluster": C.INSTALLING_PENDING_USER_ACTION, "stage": Stage.REBOOTING, "stage_age": 40 * MINUTE},
        {"stage": Stage.INSTALLING},
        "R29",
    ),
    Case("R20", {"cluster": C.INSTALLING_PENDING_USER_ACTION, "stage": Stage.REBOOTING}, {"paused": True}, "R29"),
    Case(
        "R20b",
        AT_WORK | {"stage": Stage.REBOOTING, "paused": True},
        {"cluster": C.INSTALLING_PENDING_USER_ACTION},
        "R29",
    ),
    Case("R20b", AT_WORK | {"stage": Stage.REBOOTING, "paused": True}, {"paused": False}, "R29"),
    Case(
        "R21",
        AT_WORK | {"stage": Stage.INSTALLING, "stage_age": 60 * MINUTE},
        {"stage_age": 60 * MINUTE - TICK},
        "R29",
    ),
    Case("R21", AT_WORK | {"stage": Stage.INSTALLING, "stage_age": 60 * MINUTE}, {"soft": True}, "R24"),
    Case("R21", AT_WORK | {"stage": Stage.INSTALLING, "stage_age": 60 * MINUTE}, {"stage": Stage.WRITING_IMAGE}, "R22"),
    Case(
        "R22",
        AT_WORK | {"stage": Stage.WRITING_IMAGE, "stage_age": 30 * MINUTE},
        {"stage_age": 30 * MINUTE - TICK},
        "R29",
    ),
    Case(
        "R22",
        AT_WORK | {"stage": Stage.COPYING_REGISTRY, "stage_age": 90 * MINUTE},
        {"soft": True},
        "R25",
    ),
    Case(
        "R24",
        AT_WORK | {"soft": True, "stage": Stage.JOINED, "stage_age": 60 * MINUTE},
        {"told_slow": True},
        "R29",
    ),
    Case("R24", AT_WORK | {"soft": True, "stage": Stage.JOINED, "stage_age": 60 * MINUTE}, {"soft": False}, "R21"),
    Case(
        "R25",
        AT_WORK | {"soft": True, "stage": Stage.WRITING_IMAGE, "stage_age": 30 * MINUTE},
        {"told_slow": True},
        "R29",
    ),
    Case(
        "R25",
        AT_WORK | {"soft": True, "stage": Stage.COPYING_REGISTRY, "stage_age": 90 * MINUTE},
        {"stage_age": 90 * MINUTE - TICK},
        "R29",
    ),
    Case("R27", AT_WORK | {"stage": Stage.REBOOTING, "stage_age": 40 * MINUTE}, {"single_node": True}, "R29"),
    Case(
        "R27",
        AT_WORK | {"stage": Stage.REBOOTING, "stage_age": 80 * MINUTE, "single_node": True, "soft": True},
        {"stage_age": 80 * MINUTE - TICK},
        "R29",
    ),
    Case("R28", AT_WORK | LATE | {"survives": True}, {"survives": False}, "R29"),
    Case("R28", AT_WORK | LATE | {"survives": True}, {"age": 60 * MINUTE - TICK}, "R29"),
    Case("R28", AT_WORK | LATE | {"survives": True}, {"cluster": C.INSTALLED}, "R29"),
    Case("R28", AT_WORK | LATE | {"survives": True}, {"cluster": C.ADDING_HOSTS}, "R29"),
    Case("R29", AT_WORK, {"cluster": C.ERROR}, "R14"),
)

DISCOVERY: Final = (
    Case("R30", {"lacks": ("has-inventory",)}, {"lacks": ()}, KNOWN_AGAIN),
    Case("R30", {"lacks": ("has-inventory",)}, {"silent": True}, "R13"),
    *(
        Case("R31", {"lacks": (check,)}, {"lacks": ()}, KNOWN_AGAIN)
        for check in (
            "has-min-valid-disks",
            "has-min-cpu-cores",
            "has-min-memory",
            "compatible-with-cluster-platform",
            "disk-encryption-requirements-satisfied",
        )
    ),
    Case("R31", {"lacks": ("has-min-memory",)}, {"lacks": ("has-min-memory", "has-inventory")}, "R30"),
    Case(
        "R31",
        {"lacks": ("has-min-memory",)},
        {"lacks": ("has-min-memory", "inventory-not-fully-truncated")},
        "R33",
    ),
    Case("R32", {"lacks": ("machine-cidr-defined",)}, {"lacks": ()}, KNOWN_AGAIN),
    Case(
        "R32",
        {"lacks": ("machine-cidr-defined",)},
        {"lacks": ("machine-cidr-defined", "vsphere-disk-uuid-enabled")},
        "R33",
    ),
    Case(
        "R32",
        {"lacks": ("machine-cidr-defined",)},
        {"lacks": ("machine-cidr-defined", "has-min-cpu-cores")},
        "R31",
    ),
    Case("R33", {"lacks": ("has-default-route",)}, {"lacks": ()}, KNOWN_AGAIN),
    Case("R33", {"lacks": ("vsphere-disk-uuid-enabled",)}, {"lacks": ()}, KNOWN_AGAIN),
    Case("R33", {"lacks": ("inventory-not-fully-truncated",)}, {"lacks": ()}, KNOWN_AGAIN),
    Case(
        "R33",
        {"lacks": ("has-default-route",)},
        {"lacks": ("has-default-route", "machine-cidr-defined")},
        "R32",
    ),
    Case("R34", {}, {"lacks": ("hostname-unique",)}, "R33"),
    Case("R34", {}, {"silent": True}, "R13"),
    Case("R35", {}, {"lacks": ("hostname-unique",)}, "R33"),
    Case("R35", {}, {"cluster": C.PREPARING_FOR_INSTALLATION}, "R2"),
    Case("R44", KEPT, {"age": 60 * MINUTE - TICK}, "R36"),
    Case("R44", KEPT, {"kept_status": None}, "R36"),
    Case("R44", KEPT | {"age": MINUTE, "may_go_on": False}, {"may_go_on": True}, "R37"),
    Case("R36", {"age": 2 * MINUTE}, {"age": 2 * MINUTE - TICK}, "R37"),
    Case("R36", {"age": 2 * MINUTE}, {"logs": LogsState.COMPLETED}, "R37"),
    Case("R36", {"age": 2 * MINUTE}, {"logs": LogsState.TIMEOUT}, "R37"),
    Case("R36", {"age": 2 * MINUTE}, {"logs_collected_at": NOW}, "R37"),
    Case(
        "R36",
        {"logs": LogsState.REQUESTED, "logs_started_at": NOW - 10 * MINUTE},
        {"logs_collected_at": NOW - 10 * MINUTE + TICK},
        "R37",
    ),
    Case("R36", {"logs": LogsState.REQUESTED, "age": 10 * MINUTE}, {"age": 10 * MINUTE - TICK}, "R37"),
    Case(
        "R36",
        {"logs": LogsState.COLLECTING, "logs_collected_at": NOW - 2 * MINUTE},
        {"logs_collected_at": NOW - 2 * MINUTE + TICK},
        "R37",
    ),
    Case("R41", {"age": 3 * MINUTE}, {"age": 3 * MINUTE - TICK}, "R37"),
    Case("R37", {"age": timedelta(0)}),
    Case("R38", {"cluster": C.ADDING_HOSTS, "day_two": True, "age": timedelta(days=9)}),
    Case("R39", {"age": 59 * MINUTE}),
    Case("R40", {"age": timedelta(days=9), "silent": True}),
)

POOL: Final = (
    Case("P1", {"silent": True}, {"silent": False}, {S.UNBINDING: "P4", "*": "P5"}),
    Case("P1", {"media": MediaStatus.DISCONNECTED}, {"media": MediaStatus.CONNECTED}, {S.UNBINDING: "P4", "*": "P5"}),
    Case("P2", {"lacks": ("has-inventory",)}, {"lacks": ()}, "P5"),
    Case("P2", {"lacks": ("inventory-not-fully-truncated",)}, {"silent": True}, "P1"),
    *(
        Case("P3", {"lacks": (check,)}, {"lacks": ()}, "P5")
        for check in ("has-min-valid-disks", "has-min-cpu-cores", "has-min-memory", "hostname-valid")
    ),
    Case("P4", {}),
    Case("P5", {}, {"lacks": ("hostname-valid",)}, "P3"),
    # What only matters inside a cluster does not keep a host from being bound.
    Case("P5", {"lacks": ("machine-cidr-defined", "has-default-route")}, {"silent": True}, "P1"),
)

REFRESH_CASES: Final = PREPARATION + INSTALLATION + DISCOVERY + POOL
