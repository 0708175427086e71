"""What keeps the quorum of a small control plane: an arbiter, or two masters that can fence each other."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host
from firstlight.core.model.host_status import HostRole

SMALLEST_GROUP: Final = 3
SMALLEST_FENCED_GROUP: Final = 2


def has_fencing(cluster: Cluster, hosts: Sequence[Host]) -> bool:
    """Two masters, both with fencing credentials, and no arbiter."""
    if cluster.control_plane_count != 2:
        return False
    if any(host.effective_role is HostRole.ARBITER for host in hosts):
        return False
    masters = [host for host in hosts if host.effective_role is HostRole.MASTER]
    return len(masters) == 2 and all(host.fencing is not None for host in masters)


def smallest_group(cluster: Cluster, hosts: Sequence[Host]) -> int:
    """How many hosts must reach each other before they count as the majority."""
    return SMALLEST_FENCED_GROUP if has_fencing(cluster, hosts) else SMALLEST_GROUP
