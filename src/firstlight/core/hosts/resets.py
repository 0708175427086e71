"""Which fields of a host are void when it starts over."""

from datetime import datetime
from typing import Final

from msgspec.structs import replace

from firstlight.core.model.host import Host, Progress
from firstlight.core.model.host_status import HostKind, HostRole, LogsState
from firstlight.core.model.reports import ReportKind

REGISTER_DROPS: Final = frozenset({ReportKind.INVENTORY, ReportKind.IMAGES, ReportKind.NTP})
"""A host that registers again may be other hardware."""
PREPARED_DROPS: Final = frozenset({ReportKind.IMAGES, ReportKind.NTP})
"""Re-registration during preparation keeps the inventory."""
BIND_DROPS: Final = frozenset({ReportKind.INVENTORY, ReportKind.IMAGES})
UNBIND_DROPS: Final = frozenset(
    {
        ReportKind.INVENTORY,
        ReportKind.IMAGES,
        ReportKind.CONNECTIVITY,
        ReportKind.DOMAINS,
        ReportKind.FREE_ADDRESSES,
        ReportKind.API_VIP,
        ReportKind.VIPS,
    }
)


def without_logs(host: Host) -> Host:
    return replace(host, logs=LogsState.NONE, logs_started_at=None, logs_collected_at=None)


def tried_again(host: Host) -> Host:
    """Once more from the start; whatever the user chose stays."""
    return replace(
        without_logs(host),
        progress=Progress(),
        tries=host.tries + 1,
        kept_status=None,
        connection_timed_out=False,
    )


def resumed(host: Host, *, now: datetime) -> Host:
    """As if its cluster had not failed; the limit of its stage begins anew."""
    progress = host.progress
    if progress.stage is not None:
        progress = replace(progress, updated_at=now, paused_since=None, timed_out=False)
    return replace(host, progress=progress, kept_status=None, connection_timed_out=False)


def registered_again(host: Host, *, kind: HostKind, now: datetime, keep_bootstrap: bool = False) -> Host:
    return replace(
        without_logs(host),
        progress=Progress(),
        bootstrap=host.bootstrap and keep_bootstrap,
        kind=kind,
        registered_at=now,
        connection_timed_out=False,
        kept_status=None,
    )


def bound(host: Host) -> Host:
    return replace(host, progress=Progress(), bootstrap=False)


def unbound(host: Host) -> Host:
    """Back to the pool: whatever belonged to the cluster is gone, whatever belongs to the machine stays."""
    return replace(
        without_logs(host),
        progress=Progress(),
        bootstrap=False,
        cluster_id=None,
        kind=HostKind.HOST,
        installation_disk_id="",
        installation_disk_path="",
        machine_config_pool_name="",
        role=HostRole.AUTO_ASSIGN,
        suggested_role=None,
        connection_timed_out=False,
        tries=0,
        kept_status=None,
    )
