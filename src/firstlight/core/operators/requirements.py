"""What operators add to the needs of a host, for a host that is there and for hosts still to come."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.hosts.requirements import hardware_for
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import EncryptionMode
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.policy import HardwareMinimum, Policy
from firstlight.core.operators.catalogue import OPERATORS
from firstlight.core.operators.spec import Candidate, Preflight, setting_of


def host_requirements(
    state: HostState,
    cluster: Cluster,
    policy: Policy,
    minimum: HardwareMinimum,
    *,
    roles: Mapping[HostRole, int] | None = None,
) -> HardwareMinimum:
    """`minimum`, what the role alone needs, plus what each of the cluster's operators adds on this host.

    `roles` counts the hosts by the role the user gave them (spec.count_roles): storage is placed by it.
    """
    specs = [OPERATORS[operator.name] for operator in cluster.operators if operator.name in OPERATORS]
    if not specs or cluster.is_day_two:
        return minimum
    setting = setting_of(cluster, policy=policy, roles=roles)
    candidate = Candidate(state.host, state.reports.inventory)
    needs = [spec.need(candidate, setting) for spec in specs]
    return replace(
        minimum,
        cpu_cores=minimum.cpu_cores + sum(need.cpu_cores for need in needs),
        ram_mib=minimum.ram_mib + sum(need.ram_mib for need in needs),
        disk_size_gb=minimum.disk_size_gb + sum(need.disk_size_gb for need in needs),
    )


class RolePreflight(Struct, frozen=True, kw_only=True):
    minimum: HardwareMinimum
    needs_tpm: bool = False


class OperatorPreflight(Struct, frozen=True, kw_only=True):
    name: str
    dependencies: tuple[str, ...]
    preflight: Preflight


class ClusterPreflight(Struct, frozen=True, kw_only=True):
    """What machines must have, before any is known."""

    master: RolePreflight
    worker: RolePreflight
    operators: tuple[OperatorPreflight, ...]


def cluster_preflight(cluster: Cluster, policy: Policy) -> ClusterPreflight:
    hardware = hardware_for(policy.hardware, version=cluster.openshift_version)
    setting = setting_of(cluster, policy=policy)
    encryption = cluster.disk_encryption
    tpm = set(encryption.enable_on.split(",")) if encryption.mode is EncryptionMode.TPM2 else set[str]()
    return ClusterPreflight(
        master=RolePreflight(
            minimum=hardware.sno if cluster.is_single_node else hardware.master,
            needs_tpm=bool(tpm & {"all", "masters"}),
        ),
        worker=RolePreflight(minimum=hardware.worker, needs_tpm=bool(tpm & {"all", "workers"})),
        operators=tuple(
            OperatorPreflight(
                name=spec.name,
                dependencies=spec.depends_on(single_node=cluster.is_single_node),
                preflight=spec.preflight(setting),
            )
            for spec in OPERATORS.values()
        ),
    )
