"""What keeps the quorum of a small control plane: an arbiter, or two masters that can fence each other."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole

SMALLEST_GROUP: Final = 3
SMALLEST_FENCED_GROUP: Final = 2


def has_fencing(cluster: Cluster, hosts: Sequence[HostState]) -> bool:
    """Two masters, both with fencing credentials, and no arbiter."""
    if cluster.control_plane_count != 2:
        return False
    roles = [state.host.effective_role for state in hosts]
    masters = [state.host for state in hosts if state.host.effective_role is HostRole.MASTER]
    return HostRole.ARBITER not in roles and len(masters) == 2 and all(host.fencing is not None for host in masters)


def smallest_group(cluster: Cluster, hosts: Sequence[HostState]) -> int:
    """How many hosts must reach each other before they count as the majority."""
    return SMALLEST_FENCED_GROUP if has_fencing(cluster, hosts) else SMALLEST_GROUP
