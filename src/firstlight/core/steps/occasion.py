"""The moment a plan is made for: one host, its cluster if it has one, and what all hosts of the cluster share."""

from hashlib import blake2b
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import BEFORE_INSTALLATION as CLUSTER_BEFORE_INSTALLATION
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.plan import StepType
from firstlight.core.model.policy import Policy
from firstlight.core.steps.inputs import StepInputs
from firstlight.core.steps.pace import Suspects, again_seconds, suspects_among

UNREACHABLE: Final = frozenset({HostStatus.DISCOVERING, HostStatus.DISCONNECTED})
"""Peers in these statuses are not asked for: nothing is known of them, or nobody would answer."""

_ENCODER: Final = msgspec.json.Encoder()


class Neighbourhood(Struct, frozen=True, kw_only=True):
    """What the hosts of a cluster share, computed once for all of them: five hundred peers are written only once."""

    peers: str = "[]"
    """JSON list of every host worth reaching."""
    spans: dict[UUID, tuple[int, int]] = {}
    """Host → its place in that text."""
    digest: str = ""
    """Of that text: equal digests, equal peers."""
    packed: bytes = b""
    """Ids of these peers, sorted, sixteen bytes each."""
    host_count: int = 0
    forming: bool = False
    """Some host is still missing, or has not seen all others: news is a matter of seconds."""
    suspects: Suspects = {}
    """By step, hosts with a finding that the step's next answer may end."""

    def hurry(self, host_id: UUID, *, usual: int) -> dict[StepType, int]:
        """Steps that this host shall do again sooner than usual, and after how many seconds."""
        found = {
            step: again_seconds(step, suspects=len(hosts), hosts=self.host_count, usual=usual)
            for step, hosts in self.suspects.items()
            if host_id in hosts
        }
        return {step: seconds for step, seconds in found.items() if seconds}

    def without(self, host_id: UUID) -> str:
        """The JSON list of all peers but one; empty when nobody is left."""
        span = self.spans.get(host_id)
        if len(self.spans) - (span is not None) == 0:
            return ""
        if span is None:
            return self.peers
        # The comma that goes with it stands behind the first, before every other.
        start, end = (span[0], span[1] + 1) if span[0] == 1 else (span[0] - 1, span[1])
        return self.peers[:start] + self.peers[end:]

    def packed_without(self, host_id: UUID) -> bytes:
        own = host_id.bytes
        position = 0
        while (position := self.packed.find(own, position)) >= 0:
            if position % 16 == 0:
                return self.packed[:position] + self.packed[position + 16 :]
            position += 1
        return self.packed


def neighbourhood_of(state: ClusterState) -> Neighbourhood:
    texts: list[str] = []
    spans: dict[UUID, tuple[int, int]] = {}
    position = 1
    for member in state.hosts:
        inventory = member.reports.inventory
        if member.host.status in UNREACHABLE or inventory is None or not inventory.interfaces:
            continue
        text = _peer_text(member.host.id, inventory)
        spans[member.host.id] = (position, position + len(text))
        texts.append(text)
        position += len(text) + 1
    peers = f"[{','.join(texts)}]"
    neighbourhood = Neighbourhood(
        peers=peers,
        spans=spans,
        digest=blake2b(peers.encode(), digest_size=16).hexdigest(),
        packed=b"".join(sorted(host_id.bytes for host_id in spans)),
        host_count=len(state.hosts),
        suspects=suspects_among(state.hosts),
    )
    return msgspec.structs.replace(neighbourhood, forming=_is_forming(state, neighbourhood))


def _peer_text(host_id: UUID, inventory: Inventory) -> str:
    nics = [
        {
            "name": interface.name,
            "mac": interface.mac,
            "ip_addresses": [address.partition("/")[0] for address in interface.addresses],
        }
        for interface in inventory.interfaces
    ]
    return _ENCODER.encode({"host_id": str(host_id), "nics": nics}).decode()


def _is_forming(state: ClusterState, neighbourhood: Neighbourhood) -> bool:
    cluster = state.cluster
    if cluster.status not in CLUSTER_BEFORE_INSTALLATION:
        return False
    if len(state.hosts) < cluster.control_plane_count:
        return True
    return any(
        member.reports.inventory is None
        or (not cluster.is_single_node and not has_seen_all(member, neighbourhood=neighbourhood))
        for member in state.hosts
        if member.host.status is not HostStatus.DISCONNECTED
    )


def has_seen_all(member: HostState, *, neighbourhood: Neighbourhood) -> bool:
    """Whether the host's connectivity report speaks of every peer there is to reach."""
    wanted = neighbourhood.packed_without(member.host.id)
    if not wanted:
        return True
    seen = member.reports.connectivity
    if seen is None:
        return False
    if seen.asked == wanted:
        return True
    known = {seen.asked[start : start + 16] for start in range(0, len(seen.asked), 16)}
    return all(wanted[start : start + 16] in known for start in range(0, len(wanted), 16))


class Occasion(Struct, frozen=True, kw_only=True):
    member: HostState
    policy: Policy
    inputs: StepInputs
    infra_env: InfraEnv | None = None
    state: ClusterState | None = None
    neighbourhood: Neighbourhood = Neighbourhood()
    inline_peers: bool = True

    @property
    def host(self) -> Host:
        return self.member.host

    @property
    def cluster(self) -> Cluster | None:
        return None if self.state is None else self.state.cluster

    @property
    def inventory(self) -> Inventory | None:
        return self.member.reports.inventory


def boot_device_of(host: Host) -> str:
    """What the installation disk is called towards the agent; also the key of its speed measurement."""
    return host.installation_disk_id or host.installation_disk_path


def node_role_of(host: Host) -> HostRole:
    """The role a node gets: whoever has none yet becomes a worker."""
    role = host.effective_role
    return HostRole.WORKER if role is HostRole.AUTO_ASSIGN else role
