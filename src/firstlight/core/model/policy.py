"""The service's settings as far as decisions depend on them: values in, never read from the environment here."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec import Struct, field

from firstlight.core.model.cluster_status import FinalizingStage
from firstlight.core.model.host_status import Stage

minutes = timedelta(minutes=1)
hours = timedelta(hours=1)


class HardwareMinimum(Struct, frozen=True, kw_only=True):
    """What one role needs of a machine. None means no limit."""

    cpu_cores: int
    ram_mib: int
    disk_size_gb: int
    disk_speed_threshold_ms: int | None = 10
    network_latency_threshold_ms: float | None = None
    packet_loss_percentage: float | None = None


class VersionedHardware(Struct, frozen=True, kw_only=True):
    """Hardware minimums for the releases an entry matches."""

    version: str
    """"default", or a version."""
    match_type: str = "exact"
    """exact, or min_version."""
    master: HardwareMinimum
    worker: HardwareMinimum
    arbiter: HardwareMinimum
    sno: HardwareMinimum
    edge_worker: HardwareMinimum


_MASTER = HardwareMinimum(
    cpu_cores=4, ram_mib=16384, disk_size_gb=100, network_latency_threshold_ms=100, packet_loss_percentage=0
)
_ARBITER = HardwareMinimum(
    cpu_cores=2, ram_mib=8192, disk_size_gb=50, network_latency_threshold_ms=1000, packet_loss_percentage=0
)
_WORKER = HardwareMinimum(
    cpu_cores=2, ram_mib=8192, disk_size_gb=100, network_latency_threshold_ms=1000, packet_loss_percentage=10
)
_EDGE = HardwareMinimum(cpu_cores=2, ram_mib=8192, disk_size_gb=15)
DEFAULT_HARDWARE = (
    VersionedHardware(
        version="default",
        master=_MASTER,
        worker=_WORKER,
        arbiter=_ARBITER,
        sno=HardwareMinimum(cpu_cores=8, ram_mib=16384, disk_size_gb=100),
        edge_worker=_EDGE,
    ),
    VersionedHardware(
        version="4.22",
        match_type="min_version",
        master=_MASTER,
        worker=_WORKER,
        arbiter=_ARBITER,
        sno=HardwareMinimum(cpu_cores=4, ram_mib=16384, disk_size_gb=100),
        edge_worker=_EDGE,
    ),
)

DEFAULT_STAGE_TIMEOUTS: Mapping[Stage, timedelta] = {
    Stage.STARTING: 30 * minutes,
    Stage.INSTALLING: 60 * minutes,
    Stage.WRITING_IMAGE: 30 * minutes,
    Stage.COPYING_REGISTRY: 90 * minutes,
    Stage.WAITING_FOR_CONTROL_PLANE: 60 * minutes,
    Stage.WAITING_FOR_BOOTKUBE: 60 * minutes,
    Stage.WAITING_FOR_CONTROLLER: 60 * minutes,
    Stage.REBOOTING: 40 * minutes,
    Stage.WAITING_FOR_IGNITION: 24 * hours,
    Stage.CONFIGURING: 60 * minutes,
    Stage.JOINED: 60 * minutes,
    Stage.DONE: 60 * minutes,
    Stage.FAILED: 60 * minutes,
}


class FinalizingLimit(Struct, frozen=True, kw_only=True):
    hard: timedelta
    soft: timedelta
    fails: bool
    """Whether passing the hard limit fails the cluster; else the user is only told."""


DEFAULT_FINALIZING_LIMITS: Mapping[FinalizingStage, FinalizingLimit] = {
    FinalizingStage.CLUSTER_OPERATORS: FinalizingLimit(hard=10 * hours, soft=70 * minutes, fails=True),
    FinalizingStage.ROUTER_CA: FinalizingLimit(hard=70 * minutes, soft=70 * minutes, fails=True),
    FinalizingStage.OLM_MANIFESTS: FinalizingLimit(hard=10 * minutes, soft=10 * minutes, fails=False),
    FinalizingStage.OLM_CSV_INITIALIZATION: FinalizingLimit(hard=70 * minutes, soft=70 * minutes, fails=False),
    FinalizingStage.OLM_CSV: FinalizingLimit(hard=70 * minutes, soft=70 * minutes, fails=False),
    FinalizingStage.OLM_SETUP_JOBS: FinalizingLimit(hard=10 * minutes, soft=10 * minutes, fails=True),
    FinalizingStage.DONE: FinalizingLimit(hard=70 * minutes, soft=70 * minutes, fails=True),
}


class Timeouts(Struct, frozen=True, kw_only=True):
    """How long each wait may last."""

    silence: timedelta = 3 * minutes
    silence_bootstrap: timedelta = 5 * minutes
    silence_grace: timedelta = timedelta(seconds=2)
    """Two batch windows: check-ins are written in batches."""
    host_preparation: timedelta = 8 * minutes
    cluster_preparation: timedelta = 10 * minutes
    host_installing: timedelta = 20 * minutes
    """From `installing` to the first reported stage."""
    host_pending_user_action: timedelta = 60 * minutes
    host_retry: timedelta = 60 * minutes
    """How long a failed cluster is kept so that a failed host can be tried again, and how long such a host may take."""
    host_retry_grace: timedelta = timedelta(0)
    """How long the cluster stays in installation, waiting for somebody to try a failed host again."""
    reclaim: timedelta = 60 * minutes
    resetting: timedelta = 3 * minutes
    stages: Mapping[Stage, timedelta] = field(default_factory=lambda: DEFAULT_STAGE_TIMEOUTS)
    single_node_reboot: timedelta = 80 * minutes
    installation: timedelta = 24 * hours
    finalizing: timedelta = 5 * hours
    finalizing_stages: Mapping[FinalizingStage, FinalizingLimit] = field(
        default_factory=lambda: DEFAULT_FINALIZING_LIMITS
    )
    dhcp_lease: timedelta = 2 * minutes
    host_logs_collection: timedelta = 10 * minutes
    host_logs_pending: timedelta = 2 * minutes
    cluster_logs_collection: timedelta = 60 * minutes
    cluster_logs_pending: timedelta = 10 * minutes
    disk_check: timedelta = 8 * minutes
    image_availability: timedelta = 16 * minutes
    inactive_cluster: timedelta = 480 * hours
    inactive_infra_env: timedelta = 480 * hours
    purge_deleted: timedelta = 72 * hours


class Policy(Struct, frozen=True, kw_only=True):
    timeouts: Timeouts = Timeouts()
    hardware: tuple[VersionedHardware, ...] = DEFAULT_HARDWARE
    edge_worker_products: frozenset[str] = frozenset({"bluefieldsoc"})
    """Product names, lower case without spaces."""
    disabled_host_validations: frozenset[str] = frozenset()
    disabled_cluster_validations: frozenset[str] = frozenset()
    disabled_steps: frozenset[str] = frozenset()
    soft_timeouts: bool = False
    auto_assign_roles: bool = True
    upgrade_agent: bool = True
    agent_image: str = "quay.io/edge-infrastructure/assisted-installer-agent:latest"
    installer_image: str = "quay.io/edge-infrastructure/assisted-installer:latest"
    controller_image: str = "quay.io/edge-infrastructure/assisted-installer-controller:latest"
    single_node_dnsmasq: bool = False
    ipv6_support: bool = True
    arbiter_clusters: bool = True
    fencing_clusters: bool = False
    kube_api: bool = False
    check_cluster_version: bool = False
    skip_mco_reboot: bool = True
    virtual_interfaces: bool = False
    cnv_hostpath_on_single_node: bool = True
    inventory_max_bytes: int = 0
    inventory_disk_min_bytes: int = 0
    poll_seconds: int = 60
