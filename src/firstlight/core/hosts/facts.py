"""Everything the rules about one host may read, gathered once per evaluation."""

from collections.abc import Mapping
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host, Presence
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.policy import HardwareMinimum, Policy
from firstlight.core.model.reports import Reports


class Peer(Struct, frozen=True):
    """What rules about a host need to know of its neighbours."""

    name: str
    role: HostRole
    """Effective role."""


class HostContext(Struct, frozen=True, kw_only=True):
    """What the hosts of one cluster share. Equal contexts and equal host facts mean equal findings."""

    policy: Policy
    cluster: Cluster | None = None
    """None in the pool. Whatever moves with the installation (status, progress, dates) is set back to its default,
    so that it neither tempts a rule nor voids a memo."""
    peers: Mapping[UUID, Peer] = {}
    """All hosts of the cluster with an inventory, this one included."""
    host_count: int = 0
    role_counts: Mapping[HostRole, int] = {}
    """Hosts by the role the user gave them; those left to the service count as auto-assign."""
    duplicate_names: frozenset[str] = frozenset()
    shared_ids: frozenset[UUID] = frozenset()
    """Ids that more than one machine of the cluster brought."""
    managed_dns: bool | None = None
    """Imported clusters: whether the running cluster brings its own DNS; None until a host fetched its Ignition."""


class DiskVerdict(Struct, frozen=True, kw_only=True):
    id: str
    eligible: bool
    problems: tuple[str, ...] = ()
    """The service's own reasons; the agent's stand in the inventory."""


class HostFacts(Struct, frozen=True, kw_only=True):
    host: Host
    presence: Presence
    reports: Reports
    connected: bool
    """Heard of recently enough, or in a stage where silence is normal."""
    context: HostContext
    infra_env: InfraEnv | None = None
    requirements: HardwareMinimum
    """Role plus operators."""
    minimum: HardwareMinimum
    """The least any role needs."""
    disks: tuple[DiskVerdict, ...] = ()
