"""What there is to say about one operator, and what an operator may know of cluster and host when it says it."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.policy import Policy
from firstlight.core.rules import Verdict, passed
from firstlight.core.versions.feature_ids import FeatureId
from firstlight.core.versions.numbers import at_least

Document = Mapping[str, object]
"""One Kubernetes object."""


class Need(Struct, frozen=True, kw_only=True):
    """What an operator adds to the needs of one host."""

    cpu_cores: int = 0
    ram_mib: int = 0
    disk_size_gb: int = 0


NOTHING = Need()


class Setting(Struct, frozen=True, kw_only=True):
    """The cluster as operators see it."""

    version: str = ""
    architecture: str = "x86_64"
    single_node: bool = False
    schedulable_masters: bool = True
    selected: frozenset[str] = frozenset()
    roles: Mapping[HostRole, int] = {}
    """How many hosts the user gave which role; those left to the service count as auto-assign."""
    host_count: int = 0
    hostpath_on_single_node: bool = True
    controller_image: str = ""

    def reaches(self, version: str) -> bool:
        """A cluster without a version (imported ones) reaches none."""
        return bool(self.version) and at_least(self.version, version)

    def count(self, role: HostRole) -> int:
        return self.roles.get(role, 0)


def setting_of(cluster: Cluster, *, policy: Policy, roles: Mapping[HostRole, int] | None = None) -> Setting:
    roles = roles or {}
    return Setting(
        version=cluster.openshift_version,
        architecture=cluster.cpu_architecture,
        single_node=cluster.is_single_node,
        schedulable_masters=cluster.schedulable_masters or cluster.schedulable_masters_forced,
        selected=frozenset(operator.name for operator in cluster.operators),
        roles=roles,
        host_count=sum(roles.values()),
        hostpath_on_single_node=policy.cnv_hostpath_on_single_node,
        controller_image=policy.controller_image,
    )


def count_roles(hosts: Sequence[HostState]) -> dict[HostRole, int]:
    """Roles as the user gave them, suggestions not counted."""
    counts: dict[HostRole, int] = {}
    for member in hosts:
        role = HostRole.MASTER if member.host.role is HostRole.BOOTSTRAP else member.host.role
        counts[role] = counts.get(role, 0) + 1
    return counts


class Candidate(Struct, frozen=True):
    """A host an operator may run on."""

    host: Host
    inventory: Inventory | None = None


class Membership(Struct, frozen=True, kw_only=True):
    """A place in a bundle."""

    bundle: str
    on_single_node: bool = True
    on_several_nodes: bool = True
    optional: bool = False


class Group(Struct, frozen=True, kw_only=True):
    """The OperatorGroup of the operator's namespace."""

    name: str
    own_namespace_only: bool = True
    annotations: Mapping[str, str] = {}


class Preflight(Struct, frozen=True, kw_only=True):
    """What can be said before any host is known."""

    master: Need = NOTHING
    worker: Need = NOTHING
    master_notes: tuple[str, ...] = ()
    worker_notes: tuple[str, ...] = ()


def fine_on_every_host(_candidate: Candidate, _setting: Setting) -> Verdict:
    return passed("The host has all the operator needs.")


def fine_in_every_cluster(_hosts: Sequence[HostState], _setting: Setting) -> Verdict:
    return passed("The cluster has all the operator needs.")


def needs_nothing(_candidate: Candidate, _setting: Setting) -> Need:
    return NOTHING


def no_preflight(_setting: Setting) -> Preflight:
    return Preflight()


def no_resources(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    return ()


def no_extras(_setting: Setting) -> Mapping[str, Document]:
    return {}


HostRule = Callable[[Candidate, Setting], Verdict]
ClusterRule = Callable[[Sequence[HostState], Setting], Verdict]


class OperatorSpec(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    feature: FeatureId
    namespace: str
    subscription: str
    """Empty: `subscription_for` decides by version."""
    subscription_for: Callable[[str], str] | None = None
    package: str = ""
    """Name in the catalogue; empty means the subscription's."""
    channel: str = ""
    source: str = "redhat-operators"
    timeout_minutes: int = 30
    rule_prefix: str = ""
    """Where the ids of its checks begin otherwise than with its name."""
    dependencies: tuple[str, ...] = ()
    single_node_dependencies: tuple[str, ...] = ()
    memberships: tuple[Membership, ...] = ()
    group: Group | None = None
    """None where the namespace comes with the cluster or with a dependency."""
    monitored_namespace: bool = False
    need: Callable[[Candidate, Setting], Need] = needs_nothing
    preflight: Callable[[Setting], Preflight] = no_preflight
    host_rule: HostRule = fine_on_every_host
    cluster_rule: ClusterRule = fine_in_every_cluster
    further_cluster_rules: Mapping[str, ClusterRule] = {}
    """Id → rule, beside the one every operator has."""
    resources: Callable[[Sequence[HostState], Setting], tuple[Document, ...]] = no_resources
    """Objects applied once the operator itself is up."""
    extras: Callable[[Setting], Mapping[str, Document]] = no_extras
    """Further manifests the cluster starts with: file name → object."""

    @property
    def rule_id(self) -> str:
        return f"{self.rule_prefix or self.name}-requirements-satisfied"

    def subscription_name(self, version: str) -> str:
        return self.subscription if self.subscription_for is None else self.subscription_for(version)

    def depends_on(self, *, single_node: bool) -> tuple[str, ...]:
        return self.dependencies + (self.single_node_dependencies if single_node else ())
