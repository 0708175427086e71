"""What the controller reads of Kubernetes objects; everything else in them is left alone."""

from msgspec import UNSET, Struct, UnsetType, field


class Owner(Struct, frozen=True, kw_only=True, rename="camel"):
    kind: str = ""
    name: str = ""
    uid: str = ""


class Metadata(Struct, frozen=True, kw_only=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[Owner, ...] = ()


class Condition(Struct, frozen=True, kw_only=True):
    type: str
    status: str = ""
    reason: str = ""
    message: str = ""


class KubeObject(Struct, frozen=True, kw_only=True):
    """Any object: enough to know which one it is."""

    metadata: Metadata = Metadata()

    @property
    def key(self) -> str:
        space = self.metadata.namespace
        return f"{space}/{self.metadata.name}" if space else self.metadata.name


# --- nodes and certificates -------------------------------------------------------------------------------------------


class NodeAddress(Struct, frozen=True, kw_only=True):
    type: str
    address: str


class NodeInfo(Struct, frozen=True, kw_only=True):
    architecture: str = ""


class NodeStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    addresses: tuple[NodeAddress, ...] = ()
    conditions: tuple[Condition, ...] = ()
    node_info: NodeInfo = NodeInfo()


class Taint(Struct, frozen=True, kw_only=True):
    key: str = ""


class NodeSpec(Struct, frozen=True, kw_only=True):
    taints: tuple[Taint, ...] = ()


class Node(KubeObject, frozen=True, kw_only=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def is_ready(self) -> bool:
        return any(one.type == "Ready" and one.status == "True" for one in self.status.conditions)


class CsrSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    request: bytes = b""
    signer_name: str = ""
    usages: tuple[str, ...] = ()
    username: str = ""
    groups: tuple[str, ...] = ()


class CsrStatus(Struct, frozen=True, kw_only=True):
    conditions: tuple[Condition, ...] = ()


class Csr(KubeObject, frozen=True, kw_only=True):
    spec: CsrSpec = CsrSpec()
    status: CsrStatus = CsrStatus()


# --- operators --------------------------------------------------------------------------------------------------------


class OperandVersion(Struct, frozen=True, kw_only=True):
    name: str = ""
    version: str = ""


class Desired(Struct, frozen=True, kw_only=True):
    version: str = ""


class Capabilities(Struct, frozen=True, kw_only=True, rename="camel"):
    enabled_capabilities: tuple[str, ...] | None = None


class OperatorState(Struct, frozen=True, kw_only=True):
    conditions: tuple[Condition, ...] = ()
    versions: tuple[OperandVersion, ...] = ()
    desired: Desired = Desired()
    capabilities: Capabilities = Capabilities()


class ClusterOperator(KubeObject, frozen=True, kw_only=True):
    """Also a ClusterVersion: what is read of both has the same shape."""

    status: OperatorState = OperatorState()


class CsvStatus(Struct, frozen=True, kw_only=True):
    phase: str = ""
    message: str = ""


class CsvSpec(Struct, frozen=True, kw_only=True):
    version: str = ""


class Csv(KubeObject, frozen=True, kw_only=True):
    spec: CsvSpec = CsvSpec()
    status: CsvStatus = CsvStatus()


class SubscriptionStatus(Struct, frozen=True, kw_only=True):
    current_csv: str = field(default="", name="currentCSV")


class Subscription(KubeObject, frozen=True, kw_only=True):
    status: SubscriptionStatus = SubscriptionStatus()


class Phase(Struct, frozen=True, kw_only=True):
    phase: str = ""


class InstallPlan(KubeObject, frozen=True, kw_only=True):
    status: Phase = Phase()


# --- machines ---------------------------------------------------------------------------------------------------------


class Reference(Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""


class BareMetalHostSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    consumer_ref: Reference | None = None
    externally_provisioned: bool = False


class ProvisionStatus(Struct, frozen=True, kw_only=True):
    state: str = ""


class BareMetalHostStatus(Struct, frozen=True, kw_only=True):
    provisioning: ProvisionStatus = ProvisionStatus()


class BareMetalHost(KubeObject, frozen=True, kw_only=True):
    spec: BareMetalHostSpec = BareMetalHostSpec()
    status: BareMetalHostStatus | None = None


class Machine(KubeObject, frozen=True, kw_only=True):
    pass


# --- the rest ---------------------------------------------------------------------------------------------------------


class ProxyStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    http_proxy: str = ""
    https_proxy: str = ""
    no_proxy: str = ""


class ClusterProxy(KubeObject, frozen=True, kw_only=True):
    status: ProxyStatus = ProxyStatus()


class ConfigMap(KubeObject, frozen=True, kw_only=True):
    data: dict[str, str] = {}


class ServiceSpec(Struct, frozen=True, kw_only=True):
    cluster_ips: tuple[str, ...] = field(default=(), name="clusterIPs")


class Service(KubeObject, frozen=True, kw_only=True):
    spec: ServiceSpec = ServiceSpec()


class ContainerStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    name: str = ""
    ready: bool = False
    restart_count: int = 0


class PodStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    phase: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(KubeObject, frozen=True, kw_only=True):
    status: PodStatus = PodStatus()

    @property
    def restarts(self) -> int:
        return sum(one.restart_count for one in self.status.container_statuses)


class ListMetadata(Struct, frozen=True, kw_only=True):
    resource_version: str = field(default="", name="resourceVersion")
    remaining: int | UnsetType = field(default=UNSET, name="remainingItemCount")
    next: str = field(default="", name="continue")
