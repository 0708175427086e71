"""What happens to hosts."""

from dataclasses import dataclass
from typing import Final

from firstlight.core.events.event import MESSAGE_FROM_TEXT, HostEvent, Severity

_SEVERITY_OF_STATUS: Final = {
    "disconnected": Severity.WARNING,
    "insufficient": Severity.WARNING,
    "installing-pending-user-action": Severity.WARNING,
    "error": Severity.ERROR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPropertiesFailed(HostEvent):
    name = "host_registration_setting_properties_failed"
    level = Severity.ERROR
    template = "The host could not be registered: its properties were not stored"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMediaDisconnected(HostEvent):
    name = "host_media_disconnected"
    level = Severity.ERROR
    template = (
        "The host can no longer read its discovery media: it was disconnected or the network is too "
        "poor. Keep the media connected until the installation is done, or use the minimal ISO"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDeregistered(HostEvent):
    name = "host_deregistered"
    level = Severity.INFO
    template = "Host {host_name} was deregistered"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallerArgsApplied(HostEvent):
    name = "host_installer_args_applied"
    level = Severity.INFO
    template = "Host {host_name}: custom installer arguments are in effect"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSet(HostEvent):
    name = "host_bootstrap_set"
    level = Severity.INFO
    template = "Host {host_name} was chosen as bootstrap"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStatusUpdated(HostEvent):
    name = "host_status_updated"
    level = Severity.INFO
    template = "Host {host_name}: status changed from {src_status} to {new_status} {info}"

    host_name: str
    src_status: str
    new_status: str
    info: str

    @property
    def severity(self) -> Severity:
        return _SEVERITY_OF_STATUS.get(self.new_status, Severity.INFO)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStageTimedOut(HostEvent):
    name = "host_stage_timed_out"
    level = Severity.WARNING
    template = "Host {host_name}: the stage '{stage}' has taken longer than the {minutes} minutes it should need"

    host_name: str
    stage: str
    minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRoleUpdated(HostEvent):
    name = "host_role_updated"
    level = Severity.INFO
    template = "Host {host_name}: the suggested role is {suggested_role}"

    host_name: str
    suggested_role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageStatusUpdated(HostEvent):
    name = "image_status_updated"
    level = Severity.INFO
    template = "Host {host_name}: container image {image_status}, result {result}. {info}"

    host_name: str
    image_status: str
    result: str
    info: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostInstallationCancelled(HostEvent):
    name = "host_installation_cancelled"
    level = Severity.INFO
    template = "Host {host_name}: the installation was cancelled"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostInstallationStarted(HostEvent):
    name = "host_installation_started"
    level = Severity.INFO
    template = "Host {host_name}: the installation as an additional worker started"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCancelFailed(HostEvent):
    name = "host_cancel_installation_failed"
    level = Severity.ERROR
    template = "Host {host_name}: the installation could not be cancelled: {error}"

    host_name: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostInstallationReset(HostEvent):
    name = "host_installation_reset"
    level = Severity.INFO
    template = "Host {host_name}: the installation was reset"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResetFailed(HostEvent):
    name = "host_installation_reset_failed"
    level = Severity.ERROR
    template = "Host {host_name}: the installation could not be reset: {error}"

    host_name: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResetNeedsUser(HostEvent):
    name = "user_required_complete_installation_reset"
    level = Severity.INFO
    template = "Host {host_name}: boot the discovery image again to complete the reset of the installation"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSetStatusFailed(HostEvent):
    name = "host_set_status_failed"
    level = Severity.ERROR
    template = "Host {host_name}: the status could not be set to resetting-pending-user-action: {error}"

    host_name: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostValidationFailed(HostEvent):
    name = "host_validation_failed"
    level = Severity.WARNING
    template = "Host {host_name}: validation '{validation_id}' failed: {failure_message}"

    host_name: str
    validation_id: str
    failure_message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostValidationFixed(HostEvent):
    name = "host_validation_fixed"
    level = Severity.INFO
    template = "Host {host_name}: validation '{validation_id}' that failed before is fixed"

    host_name: str
    validation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFormatPerformed(HostEvent):
    name = "quick_disk_format_performed"
    level = Severity.INFO
    template = "Host {host_name}: disk {disk_name} ({disk_id}) is quickly formatted so that it does not boot"

    host_name: str
    disk_name: str
    disk_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFormatSkipped(HostEvent):
    name = "quick_disk_format_skipped"
    level = Severity.INFO
    template = (
        "Host {host_name}: disk {disk_name} ({disk_id}) is not formatted, as the user asked; it may get "
        "in the way of the boot order"
    )

    host_name: str
    disk_name: str
    disk_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskTooSlow(HostEvent):
    name = "disk_speed_slower_than_supported"
    level = Severity.WARNING
    template = (
        "Disk {host_disk} is slower than supported (fdatasync takes {fdatasync_duration} ms); the "
        "cluster may run poorly"
    )

    host_disk: str
    fdatasync_duration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryIgnitionApplied(HostEvent):
    name = "host_discovery_ignition_config_applied"
    level = Severity.INFO
    template = "Host {host_name}: a custom discovery ignition config is in effect"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResetFetchFailed(HostEvent):
    name = "host_reset_fetch_failed"
    level = Severity.ERROR
    template = "Host {host_name}: the reset failed because the host could not be read from the database"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBootLogsUploaded(HostEvent):
    name = "host_boot_logs_uploaded"
    level = Severity.INFO
    template = "Host {host_name}: boot logs were uploaded"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLogsUploaded(HostEvent):
    name = "host_logs_uploaded"
    level = Severity.INFO
    template = "Host {host_name}: logs were uploaded"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostApprovedUpdated(HostEvent):
    name = "host_approved_updated"
    level = Severity.INFO
    template = "Host {host_name}: approved is now {approved_value}"

    host_name: str
    approved_value: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRegistered(HostEvent):
    name = "host_registration_succeeded"
    level = Severity.INFO
    template = "Host {host_name}: successfully registered"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBound(HostEvent):
    name = "host_bind_succeeded"
    level = Severity.INFO
    template = "Host {host_name}: bound to cluster {cluster_id}"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUnbound(HostEvent):
    name = "host_unbind_succeeded"
    level = Severity.INFO
    template = "Host {host_name}: unbound from its cluster"

    host_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProgressUpdated(HostEvent):
    name = "host_install_progress_updated"
    level = Severity.INFO
    template = "Host {host_name}: {event}"

    host_name: str
    event: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRegistrationFailed(HostEvent):
    name = "host_registration_failed"
    level = Severity.ERROR
    template = "{text}"
    property_names = MESSAGE_FROM_TEXT

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBindFailed(HostEvent):
    name = "host_bind_failed"
    level = Severity.ERROR
    template = "Host {host_id} could not be bound to cluster {cluster_id}: {text}"
    property_names = MESSAGE_FROM_TEXT

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUnbindFailed(HostEvent):
    name = "host_unbind_failed"
    level = Severity.ERROR
    template = "Host {host_id} could not be unbound from its cluster: {text}"
    property_names = MESSAGE_FROM_TEXT

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentUpgradeStarted(HostEvent):
    name = "upgrade_agent_started"
    level = Severity.INFO
    template = "Host {host_name}: the agent was told to download the image '{agent_image}' and restart"

    host_name: str
    agent_image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentUpgradeFinished(HostEvent):
    name = "upgrade_agent_finished"
    level = Severity.INFO
    template = "Host {host_name}: the agent downloaded the image '{agent_image}' and restarts"

    host_name: str
    agent_image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentUpgradeFailed(HostEvent):
    name = "upgrade_agent_failed"
    level = Severity.ERROR
    template = "Host {host_name}: the agent could not download the image '{agent_image}' and will try again"

    host_name: str
    agent_image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReboots(HostEvent):
    name = "reboots_for_node"
    level = Severity.INFO
    template = "Node {node_name} rebooted {reboots} times before the installation was complete"

    node_name: str
    reboots: int
