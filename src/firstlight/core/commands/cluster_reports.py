"""What the in-cluster controller tells about the end of an installation and about its logs."""

from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.decision import Change, Decision
from firstlight.core.events.cluster import OperatorReport
from firstlight.core.events.own import ClusterChanged
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host_status import LogsState

LONGEST_REPORT: Final = 2_000


class _Operator(Struct):
    name: str = ""
    status: str = ""
    status_info: str = ""


def report_completion(cluster: Cluster, *, operators: bytes | None) -> Decision:
    """The installation ended as its operators say; only a failure with a report on them is worth telling.

    `operators` is the JSON the controller sent about those that did not come up.
    """
    if operators is None:
        return Decision()
    event = OperatorReport(cluster_id=cluster.id, report=_told(operators))
    return Decision(changes=(Change(event=event),))


def _told(report: bytes) -> str:
    try:
        found = msgspec.json.decode(report, type=list[_Operator])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return report.decode(errors="replace")[:LONGEST_REPORT]
    return "; ".join(f"{each.name} {each.status} {each.status_info}".strip() for each in found)[:LONGEST_REPORT]


def report_logs(cluster: Cluster, *, logs: LogsState, now: datetime) -> Decision:
    """How far the controller is with its logs."""
    if logs is cluster.logs and logs is not LogsState.REQUESTED:
        return Decision()
    started = now if logs is LogsState.REQUESTED else cluster.controller_logs_started_at
    return Decision(
        cluster=replace(cluster, logs=logs, controller_logs_started_at=started),
        changes=(
            Change(
                event=ClusterChanged(cluster_id=cluster.id, fields="logs"),
                before={"logs": cluster.logs.value},
                after={"logs": logs.value},
            ),
        ),
    )
