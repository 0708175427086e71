"""What happens to clusters."""

from dataclasses import dataclass

from firstlight.core.events.event import MESSAGE_FROM_TEXT, ClusterEvent, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelStartFailed(ClusterEvent):
    name = "cancel_install_start_failed"
    level = Severity.ERROR
    template = "The installation could not be canceled: the database did not open a transaction"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelCommitFailed(ClusterEvent):
    name = "cancel_install_commit_failed"
    level = Severity.ERROR
    template = "The installation could not be canceled: the database did not commit the change"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRegistered(ClusterEvent):
    name = "cluster_registration_succeeded"
    level = Severity.INFO
    template = "The cluster was successfully registered"

    cluster_kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDeregisterFailed(ClusterEvent):
    name = "cluster_deregister_failed"
    level = Severity.ERROR
    template = "The cluster could not be deregistered: {error}"

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDeregistered(ClusterEvent):
    name = "cluster_deregistered"
    level = Severity.INFO
    template = "The cluster was deregistered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterValidationFailed(ClusterEvent):
    name = "cluster_validation_failed"
    level = Severity.WARNING
    template = "Cluster validation '{validation_id}' failed: {failure_message}"

    validation_id: str
    validation_msg: str
    failure_message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterValidationFixed(ClusterEvent):
    name = "cluster_validation_fixed"
    level = Severity.INFO
    template = "Cluster validation '{validation_id}' that failed before is fixed"

    validation_id: str
    validation_msg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InactiveClusterDeregistered(ClusterEvent):
    name = "after_inactivity_cluster_deregistered"
    level = Severity.INFO
    template = "The cluster was deregistered because nothing happened in it for too long"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInstalled(ClusterEvent):
    name = "cluster_installation_completed"
    level = Severity.INFO
    template = "The installation of the cluster completed successfully"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInstallationFailed(ClusterEvent):
    name = "cluster_installation_failed"
    level = Severity.CRITICAL
    template = "The installation of the cluster failed: {failure_reason}"

    failure_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInstallationCanceled(ClusterEvent):
    name = "cluster_installation_canceled"
    level = Severity.INFO
    template = "The installation of the cluster was canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelFailed(ClusterEvent):
    name = "cancel_installation_failed"
    level = Severity.ERROR
    template = "The installation could not be canceled: {error}"

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStatusUpdated(ClusterEvent):
    name = "cluster_status_updated"
    level = Severity.INFO
    template = "The cluster is now {cluster_status}: {status_info}"

    cluster_status: str
    status_info: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizingStageUpdated(ClusterEvent):
    name = "cluster_finalizing_stage_updated"
    level = Severity.INFO
    template = "Finalizing the cluster reached the stage '{finalizing_stage}'"

    finalizing_stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInstallationReset(ClusterEvent):
    name = "cluster_installation_reset"
    level = Severity.INFO
    template = "The installation of the cluster was reset"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetFailed(ClusterEvent):
    name = "reset_installation_failed"
    level = Severity.ERROR
    template = "The installation could not be reset: {error}"

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VipsAllocated(ClusterEvent):
    name = "api_ingress_vip_updated"
    level = Severity.INFO
    template = "The cluster received the API VIP {api_vip} and the ingress VIP {ingress_vip}"

    api_vip: str
    ingress_vip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VipAllocationTimedOut(ClusterEvent):
    name = "api_ingress_vip_timed_out"
    level = Severity.WARNING
    template = "No DHCP lease for the API and ingress VIPs arrived within {timeout_interval} minutes"

    timeout_interval: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparationFailed(ClusterEvent):
    name = "prepare_installation_failed"
    level = Severity.WARNING
    template = "Preparing the installation failed: {error}. Start the installation again later"

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparationStarted(ClusterEvent):
    name = "cluster_prepare_installation_started"
    level = Severity.INFO
    template = "The cluster began to prepare for installation"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparationTimedOut(ClusterEvent):
    name = "installation_preparing_timed_out"
    level = Severity.WARNING
    template = "Preparing the installation took too long: {reason}"

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDegraded(ClusterEvent):
    name = "cluster_degraded_OLM_operators_failed"
    level = Severity.WARNING
    template = "The cluster is installed but degraded: these OLM operators failed: {failed_operators}"

    failed_operators: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredImageDeleted(ClusterEvent):
    name = "expired_image_deleted"
    level = Severity.INFO
    template = "The discovery image expired and was deleted; it is made again when asked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorReport(ClusterEvent):
    name = "cluster_operator_report"
    level = Severity.INFO
    template = "These operators have problems: {report}"

    report: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorStatusChanged(ClusterEvent):
    name = "cluster_operator_status"
    level = Severity.INFO
    template = "Operator {operator_name} is {status}: {status_info}"

    operator_name: str
    status: str
    status_info: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizingStageTimedOut(ClusterEvent):
    name = "finalizing_stage_timed_out"
    level = Severity.WARNING
    template = "The finalizing stage '{stage}' has taken longer than the {minutes} minutes it should need"

    stage: str
    minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallConfigApplied(ClusterEvent):
    name = "install_config_applied"
    level = Severity.INFO
    template = "Custom install-config values were applied to the cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxySettingsChanged(ClusterEvent):
    name = "proxy_settings_changed"
    level = Severity.INFO
    template = "The proxy settings of the cluster changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLogsUploaded(ClusterEvent):
    name = "cluster_logs_uploaded"
    level = Severity.INFO
    template = "Logs of the cluster were uploaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class InactiveClustersDeregistered(ClusterEvent):
    name = "inactive_clusters_deregistered"
    level = Severity.INFO
    template = "{text}"
    property_names = MESSAGE_FROM_TEXT

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClustersDeletedForGood(ClusterEvent):
    name = "clusters_permanently_deleted"
    level = Severity.INFO
    template = "{text}"
    property_names = MESSAGE_FROM_TEXT

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationsIgnored(ClusterEvent):
    name = "validations_ignored"
    level = Severity.INFO
    template = "The installation starts although validations were ignored as the user asked"
