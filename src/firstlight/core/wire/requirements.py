"""Hardware requirements as asked for before hosts exist."""

from firstlight.core.wire.shape import Answer


class ClusterHostRequirementsDetails(Answer, frozen=True, kw_only=True):
    """Needs in numbers."""

    cpu_cores: int = 0
    ram_mib: int = 0
    disk_size_gb: int = 0
    installation_disk_speed_threshold_ms: int = 0
    network_latency_threshold_ms: float | None = None
    packet_loss_percentage: float | None = None
    tpm_enabled_in_bios: bool = False


class HostTypeHardwareRequirements(Answer, frozen=True, kw_only=True):
    """Needs in numbers and in words."""

    qualitative: tuple[str, ...]
    quantitative: ClusterHostRequirementsDetails | None = None


class HostTypeHardwareRequirementsWrapper(Answer, frozen=True, kw_only=True):
    """Needs per role."""

    worker: HostTypeHardwareRequirements | None = None
    master: HostTypeHardwareRequirements | None = None


class OperatorHardwareRequirements(Answer, frozen=True, kw_only=True):
    """What one operator needs."""

    dependencies: tuple[str, ...]
    operator_name: str = ""
    requirements: HostTypeHardwareRequirementsWrapper | None = None


class PreflightHardwareRequirements(Answer, frozen=True, kw_only=True):
    """What hosts need, before any is known."""

    operators: tuple[OperatorHardwareRequirements, ...]
    ocp: HostTypeHardwareRequirementsWrapper | None = None
