"""Hardware requirements before any host is known, as v2 answers them."""

from firstlight.core.model.policy import HardwareMinimum
from firstlight.core.operators.requirements import ClusterPreflight, OperatorPreflight, RolePreflight
from firstlight.core.operators.spec import Need
from firstlight.core.wire import requirements as wire


def view_preflight(preflight: ClusterPreflight) -> wire.PreflightHardwareRequirements:
    return wire.PreflightHardwareRequirements(
        operators=tuple(map(_operator, preflight.operators)),
        ocp=wire.HostTypeHardwareRequirementsWrapper(master=_role(preflight.master), worker=_role(preflight.worker)),
    )


def _role(role: RolePreflight) -> wire.HostTypeHardwareRequirements:
    return wire.HostTypeHardwareRequirements(qualitative=(), quantitative=_minimum(role.minimum, tpm=role.needs_tpm))


def _minimum(minimum: HardwareMinimum, *, tpm: bool) -> wire.ClusterHostRequirementsDetails:
    return wire.ClusterHostRequirementsDetails(
        cpu_cores=minimum.cpu_cores,
        ram_mib=minimum.ram_mib,
        disk_size_gb=minimum.disk_size_gb,
        installation_disk_speed_threshold_ms=minimum.disk_speed_threshold_ms or 0,
        network_latency_threshold_ms=minimum.network_latency_threshold_ms,
        packet_loss_percentage=minimum.packet_loss_percentage,
        tpm_enabled_in_bios=tpm,
    )


def _operator(operator: OperatorPreflight) -> wire.OperatorHardwareRequirements:
    told = operator.preflight
    return wire.OperatorHardwareRequirements(
        operator_name=operator.name,
        dependencies=operator.dependencies,
        requirements=wire.HostTypeHardwareRequirementsWrapper(
            master=_needs(told.master, told.master_notes), worker=_needs(told.worker, told.worker_notes)
        ),
    )


def _needs(need: Need, notes: tuple[str, ...]) -> wire.HostTypeHardwareRequirements:
    return wire.HostTypeHardwareRequirements(
        qualitative=notes,
        quantitative=wire.ClusterHostRequirementsDetails(
            cpu_cores=need.cpu_cores, ram_mib=need.ram_mib, disk_size_gb=need.disk_size_gb
        ),
    )
