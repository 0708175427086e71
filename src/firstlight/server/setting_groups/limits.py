"""How long each part of an installation may take."""

from datetime import timedelta

from firstlight.server.setting_groups.group import SettingGroup, also
from firstlight.server.setting_types import Duration


class LimitSettings(SettingGroup):
    soft_timeouts: bool = also("SOFT_TIMEOUTS", "ENABLE_SOFT_TIMEOUTS", default=False)
    """Stages that take too long are told, but do not fail the installation."""
    prepare_for_installation_timeout: Duration = also(
        "PREPARE_FOR_INSTALLATION_TIMEOUT", "PREPARE_FOR_INSTALLATION_TIMEOUT", default=timedelta(minutes=10)
    )
    """How long a cluster may prepare its installation."""
    prepare_for_installation_host_timeout: Duration = also(
        "PREPARE_FOR_INSTALLATION_HOST_TIMEOUT", "PREPARE_FOR_INSTALLATION_HOST_TIMEOUT", default=timedelta(minutes=8)
    )
    """How long a host may."""
    disk_check_timeout: Duration = also("DISK_CHECK_TIMEOUT", "DISK_CHECK_TIMEOUT", default=timedelta(minutes=8))
    """How long measuring a disk may take."""
    image_availability_timeout: Duration = also(
        "IMAGE_AVAILABILITY_TIMEOUT", "IMAGE_AVAILABILITY_TIMEOUT", default=timedelta(minutes=16)
    )
    """How long a host may take to fetch the images of a release."""
    installation_timeout: Duration = also("INSTALLATION_TIMEOUT", "INSTALLATION_TIMEOUT", default=timedelta(hours=24))
    """How long hosts may install."""
    finalizing_timeout: Duration = also("FINALIZING_TIMEOUT", "FINALIZING_TIMEOUT", default=timedelta(hours=5))
    """How long a new cluster may take to finalize."""
    host_retry_timeout: Duration = also("HOST_RETRY_TIMEOUT", default=timedelta(minutes=60))
    """How long a failed cluster is kept going so that a failed host can be tried again, and how long that host may take
    to come back."""
    host_retry_grace: Duration = also("HOST_RETRY_GRACE", default=timedelta(0))
    """How long a cluster stays in installation after a host failed that it needs, waiting for somebody to try it again;
    0: it fails at once, and a retry takes it back."""
    reset_cluster_timeout: Duration = also(
        "RESET_CLUSTER_TIMEOUT", "RESET_CLUSTER_TIMEOUT", default=timedelta(minutes=3)
    )
    """How long a reset waits for hosts to come back."""
    log_collection_timeout: Duration = also(
        "LOG_COLLECTION_TIMEOUT", "LOG_COLLECTION_TIMEOUT", default=timedelta(minutes=60)
    )
    """How long collecting a cluster's logs may take."""
    log_pending_timeout: Duration = also("LOG_PENDING_TIMEOUT", "LOG_PENDING_TIMEOUT", default=timedelta(minutes=10))
    """How long nobody may have begun to."""
    host_log_collection_timeout: Duration = also(
        "HOST_LOG_COLLECTION_TIMEOUT", "HOST_LOG_COLLECTION_TIMEOUT", default=timedelta(minutes=10)
    )
    """How long collecting a host's logs may take."""
    host_log_pending_timeout: Duration = also(
        "HOST_LOG_PENDING_TIMEOUT", "HOST_LOG_PENDING_TIMEOUT", default=timedelta(minutes=2)
    )
    """How long nobody may have begun to."""
