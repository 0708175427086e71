"""For every row of the cluster tables: when it fires, and when just its guard fails."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from firstlight.core.model.cluster_status import ClusterStatus, FinalizingStage, OperatorStatus, PreparationStatus
from firstlight.core.model.host_status import HostStatus, LogsState
from tests.builders.moments import NOW
from tests.core.clusters.cluster_situations import AT_WORK, INSTALLED, MINUTE, TICK, an_operator

S, C, F = HostStatus, ClusterStatus, FinalizingStage
HOUR = 60 * MINUTE
DAY = timedelta(hours=24)
DHCP = {"vip_dhcp_allocation": True}
PREPARED = (S.PREPARING_SUCCESSFUL,) * 3
PREPARING = (S.PREPARING_FOR_INSTALLATION,) * 3
FAILED = (S.ERROR, S.INSTALLED, S.INSTALLED)
WAITING = (S.INSTALLING_PENDING_USER_ACTION, S.INSTALLED, S.INSTALLED)
RETRYABLE = (S.ERROR, S.INSTALLED, S.INSTALLING_IN_PROGRESS)
RETRIED = {"bootstrap": True, "retry_until": NOW + MINUTE}
COMPLETE = {"masters": INSTALLED, "kubeconfig_complete": True, "operators": (an_operator(),)}


@dataclass(frozen=True)
class Case:
    row: str
    fires: dict[str, Any] = field(default_factory=dict)
    fails: dict[str, Any] | None = None
    """Changes on top of `fires`; None for rows without a guard."""
    then: str | Mapping[str, str] | None = None
    """The row taken instead, for all sources or by source."""
    only: tuple[ClusterStatus, ...] = ()

    def instead(self, status: ClusterStatus) -> str | None:
        return self.then if self.then is None or isinstance(self.then, str) else self.then[status]


BEFORE: Final = (
    Case("C1", {"lacks": ("api-vips-defined",)}, {"lacks": ()}, "C5"),
    Case("C1", {"lacks": ("ingress-vips-defined",)}, DHCP, "C4"),
    Case("C1", {"lacks": ("pull-secret-set",)}, DHCP, "C3"),
    Case("C1", {"lacks": ("machine-cidr-defined",)}, {"lacks": ("no-cidrs-overlapping",)}, "C2"),
    Case("C2", {"lacks": ("sufficient-masters-count",)}, {"lacks": ()}, "C5"),
    Case("C2", {"lacks": ("sufficient-masters-count",)}, DHCP, "C4"),
    Case("C2", {"lacks": ("api-vips-valid",)}, {"lacks": ("api-vips-valid", "dns-domain-defined")}, "C1"),
    Case("C3", DHCP | {"lacks": ("dns-domain-defined",)}, {"lacks": ()}, "C5"),
    Case("C3", DHCP | {"lacks": ("cluster-cidr-defined",)}, {"vip_dhcp_allocation": False}, "C1"),
    Case("C4", DHCP | {"lacks": ("api-vips-defined",)}, {"lacks": ()}, "C5"),
    Case("C4", DHCP | {"lacks": ("network-type-valid",)}, {"vip_dhcp_allocation": False}, "C2"),
    Case("C4", DHCP | {"lacks": ("network-type-valid",)}, {"lacks": ("service-cidr-defined",)}, "C3"),
    Case("C5", {}, {"lacks": ("all-hosts-are-ready-to-install",)}, "C2"),
    Case("C5", DHCP, {"lacks": ("ingress-vips-defined",)}, "C4"),
)

PREPARATION: Final = (
    Case("C7", {"masters": PREPARED, "preparation": PreparationStatus.SUCCESS}, {"masters": PREPARING}, "C26"),
    Case("C7", {"masters": PREPARED, "preparation": PreparationStatus.SUCCESS}, {"masters": ()}, "C26"),
    Case(
        "C7",
        # Ready at the very last moment is ready.
        {"masters": PREPARED, "preparation": PreparationStatus.SUCCESS, "age": 10 * MINUTE},
        {"preparation": PreparationStatus.NOT_STARTED},
        "C6",
    ),
    Case("C6", {"masters": PREPARING, "age": 10 * MINUTE}, {"age": 10 * MINUTE - TICK}, "C26"),
    Case("C6", {"masters": PREPARING, "age": 10 * MINUTE}, {"masters": (*PREPARING[:2], S.PREPARING_FAILED)}, "C9"),
    Case("C8", {"masters": (*PREPARING[:2], S.DISCONNECTED)}, {"masters": (*PREPARING[:2], S.KNOWN)}, "C26"),
    Case("C8", {"masters": (S.PREPARING_FAILED, S.INSUFFICIENT)}, {"masters": (S.PREPARING_FAILED, S.KNOWN)}, "C9"),
    Case("C9", {"masters": (*PREPARING[:2], S.PREPARING_FAILED)}, {"masters": PREPARING}, "C26"),
    Case(
        "C9",
        {"masters": PREPARING, "preparation": PreparationStatus.FAILED},
        {"preparation": PreparationStatus.NOT_STARTED},
        "C26",
    ),
)

INSTALLATION: Final = (
    Case("C10", {"masters": FAILED}, {"masters": INSTALLED}, "C18"),
    Case("C10", {"masters": FAILED}, {"masters": WAITING}, "C16"),
    Case("C11", {"masters": WAITING, "started": DAY}, {"started": DAY - TICK}, "C16"),
    Case("C11", {"masters": WAITING, "started": DAY}, {"started": None}, "C16"),
    Case(
        "C12",
        {"masters": AT_WORK, "started": DAY, "soft": True},
        {"soft": False},
        {C.INSTALLING: "C21", C.FINALIZING: "C26"},
    ),
    Case(
        "C12",
        {"masters": AT_WORK, "started": DAY, "soft": True},
        {"started": DAY - TICK},
        {C.INSTALLING: "C21", C.FINALIZING: "C26"},
    ),
    Case("C13", {"masters": INSTALLED, "age": 5 * HOUR}, {"age": 5 * HOUR - TICK}, "C26"),
    Case("C13", {"masters": INSTALLED, "age": 5 * HOUR}, {"soft": True}, "C26"),
    Case(
        "C14",
        {"masters": INSTALLED, "stage": F.ROUTER_CA, "stage_age": 70 * MINUTE},
        {"stage_age": 70 * MINUTE - TICK},
        "C26",
    ),
    Case("C14", {"masters": INSTALLED, "stage": F.ROUTER_CA, "stage_age": 70 * MINUTE}, {"soft": True}, "C15"),
    Case("C14", {"masters": INSTALLED, "stage": F.DONE, "stage_age": 70 * MINUTE}, {"stage": F.OLM_CSV}, "C15"),
    Case("C14", {"masters": INSTALLED, "stage": F.DONE, "stage_age": 70 * MINUTE}, {"stage": None}, "C26"),
    Case(
        "C15",
        {"masters": INSTALLED, "stage": F.OLM_MANIFESTS, "stage_age": 10 * MINUTE},
        {"stage_age": 10 * MINUTE - TICK},
        "C26",
    ),
    Case(
        "C15",
        {"masters": INSTALLED, "stage": F.CLUSTER_OPERATORS, "stage_age": 70 * MINUTE, "soft": True},
        {"soft": False},
        "C26",
    ),
    Case("C15", {"masters": INSTALLED, "stage": F.OLM_CSV, "stage_age": 70 * MINUTE}, {"told_slow": True}, "C26"),
    Case("C16", {"masters": WAITING}, {"masters": INSTALLED}, "C18"),
    Case("C16", {"masters": WAITING}, {"masters": (S.INSTALLING_PENDING_USER_ACTION, S.ERROR, S.INSTALLED)}, "C10"),
    Case("C18", {"masters": INSTALLED}, {"masters": WAITING}, "C16"),
    Case("C18", {"masters": INSTALLED}, {"masters": AT_WORK}, "C17"),
    Case("C17", {"masters": AT_WORK}, {"masters": FAILED}, "C10"),
    Case("C17", {"masters": AT_WORK}, {"masters": WAITING}, "C16"),
    Case("C19", {"masters": WAITING}, {"masters": INSTALLED}, {C.INSTALLING: "C20", C.FINALIZING: "C26"}),
    Case(
        "C19",
        {"masters": WAITING},
        {"masters": (S.INSTALLING_PENDING_USER_ACTION, S.ERROR, S.INSTALLED)},
        {C.INSTALLING: "C24", C.FINALIZING: "C26"},
    ),
    Case("C20", {"masters": INSTALLED}, {"masters": (S.INSTALLED, S.INSTALLED, S.INSTALLING_IN_PROGRESS)}, "C21"),
    Case(
        "C20",
        {"masters": INSTALLED, "workers": (S.INSTALLED, S.INSTALLED, S.INSTALLING_IN_PROGRESS)},
        {"workers": (S.INSTALLED, S.INSTALLED, S.INSTALLING_PENDING_USER_ACTION)},
        "C19",
    ),
    Case("C21", {"masters": AT_WORK}, {"masters": FAILED}, "C24"),
    *(
        Case(row, RETRIED | {"masters": masters}, fails, then)
        for row, masters, then in (
            ("C27", RETRYABLE, "C24"),
            ("C27", (S.INSTALLING_PENDING_USER_ACTION, *RETRYABLE), "C24"),
            ("C16", (S.INSTALLING_PENDING_USER_ACTION, *RETRYABLE), "C10"),
            ("C17", RETRYABLE, "C10"),
        )
        for fails in (
            {"retry_until": NOW},
            {"retry_until": None},
            {"bootstrap": False},
            {"masters": (S.ERROR, S.INSTALLED, S.INSTALLED)},
        )
    ),
    Case("C23", COMPLETE, {"kubeconfig_complete": False}, "C26"),
    Case("C23", COMPLETE, {"operators": (an_operator(status=OperatorStatus.PROGRESSING),)}, "C26"),
    Case("C23", COMPLETE | {"workers": (S.INSTALLED, S.ERROR)}, {"workers": (S.INSTALLING, S.INSTALLED)}, "C26"),
    Case("C23", COMPLETE | {"operators": ()}, {"kubeconfig_complete": False}, "C26"),
    Case("C24", {"masters": FAILED}, {"masters": AT_WORK}, "C21"),
    Case("C25", {"age": 10 * MINUTE}, {"age": 10 * MINUTE - TICK}, "C26"),
    Case("C25", {"age": 10 * MINUTE}, {"controller_logs_collected_at": NOW}, "C26"),
    Case("C25", {"age": HOUR}, {"logs": LogsState.TIMEOUT}, "C26"),
    Case(
        "C25",
        {"logs": LogsState.REQUESTED, "controller_logs_started_at": NOW - HOUR},
        {"controller_logs_collected_at": NOW - HOUR + TICK},
        "C26",
    ),
    Case("C25", {"logs": LogsState.REQUESTED, "age": HOUR}, {"logs": LogsState.COMPLETED}, "C26"),
    Case(
        "C25",
        {"logs": LogsState.COLLECTING, "controller_logs_collected_at": NOW - HOUR},
        {"controller_logs_collected_at": NOW - HOUR + TICK},
        "C26",
    ),
    Case("C25", {"logs": LogsState.COLLECTING, "age": HOUR}, {"age": HOUR - TICK}, "C26"),
    Case("C26", {"masters": PREPARING}),
)

REFRESH_CASES: Final = BEFORE + PREPARATION + INSTALLATION
REQUEST_CASES: Final = (Case("X1"), Case("X2"), Case("Z1"), Case("I1"), Case("K1"), Case("K2"))
