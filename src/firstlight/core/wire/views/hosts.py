"""A host as v2 answers it; the same object wherever it is shown."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from firstlight.core.hosts.stages import stages_of
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host, HostState, Progress, hostname_of
from firstlight.core.model.host_status import MediaStatus
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import ReportKind
from firstlight.core.wire import hosts as wire
from firstlight.core.wire.dates import zulu, zulu_stored
from firstlight.core.wire.views import reports as text
from firstlight.core.wire.views.findings import host_validations

_encode = msgspec.json.Encoder().encode


class HostView(Struct, frozen=True, kw_only=True):
    """What it takes to show a host."""

    state: HostState
    cluster: Cluster | None
    policy: Policy
    raw: Mapping[ReportKind, bytes] = {}
    """Inventory and, where it is to be shown, connectivity, as agents sent them."""


def view_host(
    state: HostState, *, cluster: Cluster | None, policy: Policy, raw: Mapping[ReportKind, bytes]
) -> wire.Host:
    return host_view(HostView(state=state, cluster=cluster, policy=policy, raw=raw))


def href_of(host: Host) -> str:
    return f"/api/assisted-install/v2/infra-envs/{host.infra_env_id}/hosts/{host.id}"


def host_view(view: HostView) -> wire.Host:
    state, host, reports = view.state, view.state.host, view.state.reports
    raw_inventory = view.raw.get(ReportKind.INVENTORY) if reports.inventory is not None else None
    return wire.Host(
        kind=host.kind.value,
        id=host.id,
        href=href_of(host),
        status=host.status.value,
        status_info=host.status_info,
        status_updated_at=zulu(host.status_updated_at),
        stage_started_at=zulu(host.progress.started_at),
        stage_updated_at=zulu(host.progress.updated_at),
        progress_stages=_stages(view),
        logs_collected_at=zulu(host.logs_collected_at),
        logs_started_at=zulu(host.logs_started_at),
        updated_at=zulu_stored(host.updated_at),
        created_at=zulu_stored(host.created_at),
        deleted_at=None,
        checked_in_at=zulu(state.presence.checked_in_at),
        registered_at=zulu(host.registered_at),
        cluster_id=host.cluster_id,
        infra_env_id=host.infra_env_id,
        validations_info=host_validations(state.findings, host),
        logs_info=host.logs.value,
        progress=_progress(host.progress),
        connectivity=view.raw.get(ReportKind.CONNECTIVITY, b"").decode(errors="replace"),
        api_vip_connectivity="" if reports.api_vip is None else text.api_vip_text(reports.api_vip),
        tang_connectivity="" if reports.tang is None else text.tang_text(reports.tang),
        inventory="" if raw_inventory is None else text.inventory_text(raw_inventory, host),
        ntp_sources="" if reports.ntp is None else text.ntp_text(reports.ntp),
        disks_info="" if reports.disk_speeds is None else text.disks_text(reports.disk_speeds),
        role=host.role.value,
        suggested_role="" if host.suggested_role is None else host.suggested_role.value,
        bootstrap=host.bootstrap,
        installer_version=host.installer_version,
        installation_disk_path=host.installation_disk_path,
        installation_disk_id=host.installation_disk_id,
        connection_timed_out=host.connection_timed_out,
        discovery_agent_version=state.presence.agent_version,
        requested_hostname=hostname_of(host, reports),
        user_name=host.user_name,
        media_status=None if host.media is MediaStatus.CONNECTED else host.media.value,
        ignition_config_overrides=host.ignition_override,
        installer_args=_encode(host.installer_args).decode() if host.installer_args else "",
        timestamp=_agent_clock(state),
        machine_config_pool_name=host.machine_config_pool_name,
        images_status="" if reports.images is None else text.images_text(reports.images),
        domain_name_resolutions="" if reports.domains is None else text.domains_text(reports.domains),
        ignition_endpoint_token_set=host.ignition_endpoint_token_set,
        node_labels=_encode({label.key: label.value for label in host.node_labels}).decode()
        if host.node_labels
        else "",
        disks_to_be_formatted=",".join(host.disks_to_be_formatted),
        skip_formatting_disks=",".join(host.skip_formatting_disks),
        fencing_credentials=_fencing(host),
    )


def _stages(view: HostView) -> tuple[str, ...] | None:
    if view.cluster is None:
        return None
    return tuple(stage.value for stage in stages_of(view.state.host, view.cluster, view.policy))


def _progress(progress: Progress) -> wire.HostProgressInfo:
    return wire.HostProgressInfo(
        stage_started_at=zulu(progress.started_at),
        stage_updated_at=zulu(progress.updated_at),
        installation_percentage=progress.percentage,
        current_stage="" if progress.stage is None else progress.stage.value,
        progress_info=progress.info,
        stage_timed_out=progress.timed_out,
    )


def _agent_clock(state: HostState) -> int:
    presence = state.presence
    if presence.checked_in_at is None or presence.clock_offset_seconds is None:
        return 0
    return int(presence.checked_in_at.timestamp() + presence.clock_offset_seconds)


def _fencing(host: Host) -> str:
    """Who may fence this node; the password stays here."""
    if host.fencing is None:
        return ""
    shown = {
        "address": host.fencing.address,
        "username": host.fencing.username,
        "certificate_verification": host.fencing.certificate_verification,
    }
    return _encode({key: value for key, value in shown.items() if value}).decode()
