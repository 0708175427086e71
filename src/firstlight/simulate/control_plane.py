"""The new cluster as its nodes see it: who fetched Ignition, who joined, what runs.

One object per cluster stands in for its Kubernetes API. Installers and controller look at it the way their real
counterparts poll that API, and each tells the service only what it saw there.
"""

import asyncio
from enum import IntEnum
from uuid import UUID


class Node(IntEnum):
    """How far a node is on its first boot from disk."""

    OFF = 0
    WAITING = 1
    """It asks for its Ignition and is not served yet."""
    IGNITED = 2
    JOINED = 3
    READY = 4


class ControlPlane:
    """The state of one cluster that is coming up."""

    def __init__(self, cluster_id: UUID) -> None:
        self.cluster_id = cluster_id
        self.nodes: dict[UUID, Node] = {}
        self.masters: set[UUID] = set()
        self.serves = asyncio.Event()
        """The machine-config server answers: first the bootstrap's, later the control plane's own."""
        self.bootkube_done = asyncio.Event()
        self.controller_ready = asyncio.Event()
        self.bootstrap_runs = False
        self.single_node = False

    def ready_masters(self) -> int:
        return sum(self.nodes.get(host_id, Node.OFF) is Node.READY for host_id in self.masters)
