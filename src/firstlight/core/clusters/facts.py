"""Everything the rules about a cluster may read, gathered once per evaluation."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import HostState
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.policy import Policy


class ClusterFacts(Struct, frozen=True, kw_only=True):
    cluster: Cluster
    hosts: tuple[HostState, ...]
    infra_envs: Mapping[UUID, InfraEnv] = {}
    policy: Policy
    now: datetime
    """For guards; rules that read it would make messages restless."""
    candidate_roles: Mapping[UUID, str] = {}
    """Auto-assign hosts without a suggestion → the role they would get now (master, arbiter, worker)."""
