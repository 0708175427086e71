"""Everything the use cases may touch, handed to them as one value. Composed in `main`, replaced in tests."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.decision import Decision
from firstlight.core.install.inputs import MirrorRegistries
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.policy import Policy
from firstlight.core.versions.catalogue import Catalogue
from firstlight.server.auth.tokens import Tokens
from firstlight.server.ports.base_images import BaseImages
from firstlight.server.ports.blobs import Blobs
from firstlight.server.ports.clock import Clock
from firstlight.server.ports.nmstate import Nmstate
from firstlight.server.ports.store import Store
from firstlight.server.usecases.check_ins import CheckIns
from firstlight.server.usecases.recent import RecentClusters
from firstlight.server.usecases.sessions import Sessions
from firstlight.server.usecases.stream import Broadcast
from firstlight.server.usecases.turns import Turns
from firstlight.server.usecases.waits import Waits


class ServiceFacts(Struct, frozen=True, kw_only=True):
    """Settings that use cases hand on to hosts and clients."""

    version: str = "0.1.0"
    release_tag: str = ""
    service_url: str = "http://127.0.0.1:8090"
    """What hosts call."""
    image_service_url: str = "http://127.0.0.1:8888"
    service_ca: str = ""
    hosts_ca: str = ""
    """Authorities every discovered host trusts."""
    mirrors: MirrorRegistries | None = None
    accept_any_image: bool = False
    agent_start_seconds: int = 600
    skip_certificate_verification: bool = False
    auth_type: str = "none"
    listen: str = "127.0.0.1:8090"
    """Where the API is served."""
    database: str = "sqlite"
    """What kind of database: sqlite or postgresql."""
    files: str = "folder"
    """What kind of place for files: folder or s3."""
    default_image_type: str = "full-iso"
    cluster_network_cidr: str = "10.128.0.0/14"
    cluster_network_host_prefix: int = 23
    service_network_cidr: str = "172.30.0.0/16"
    cluster_network_cidr_v6: str = "fd01::/48"
    cluster_network_host_prefix_v6: int = 64
    service_network_cidr_v6: str = "fd02::/112"
    default_ntp_source: str = ""
    managed_domains: Mapping[str, str] = {}
    """Domain → provider."""
    public_registries: tuple[str, ...] = ("quay.io", "registry.ci.openshift.org")
    reject_unknown_fields: bool = True
    image_service: bool = True
    install_invoker: str = "assisted-installer"
    infra_env_id: UUID | None = None
    """Set by the agent-based installer: the id of the only infra-env."""
    event_rate_limits: Mapping[str, float] = {}
    """Event name → seconds."""
    link_key: bytes = b""
    """Signs download links; made at first start and kept in the data directory or database."""


EvaluateCluster = Callable[[ClusterState, datetime], Awaitable[Decision]]
EvaluateHost = Callable[[HostState, InfraEnv, datetime], Awaitable[Decision]]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    store: Store
    blobs: Blobs
    clock: Clock
    policy: Policy
    catalogue: Catalogue
    service: ServiceFacts
    nmstate: Nmstate
    base_images: BaseImages | None = None
    """None where no image service is known."""
    tokens: Tokens | None = None
    """Makes and reads tokens; none where everybody is administrator."""
    new_id: Callable[[], UUID]
    random_bytes: Callable[[int], bytes]
    evaluate_cluster: EvaluateCluster
    """`core.evaluate` with its surroundings and memos; may run elsewhere for large clusters."""
    evaluate_pool_host: EvaluateHost
    sessions: Sessions
    check_ins: CheckIns
    broadcast: Broadcast = field(default_factory=Broadcast)
    """Where new events are heard of; somebody has to `run` it."""
    turns: Turns = field(default_factory=Turns)
    recent: RecentClusters = field(default_factory=RecentClusters)
    waits: Waits = field(default_factory=Waits)
    """Polls that wait for something to do; somebody has to tell it of changes."""
    wake: Callable[[], None] = field(default=lambda: None)
    """Tell the engine that something became due just now."""
