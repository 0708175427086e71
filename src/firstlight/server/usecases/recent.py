"""Clusters as this replica left them last: a machine that is new to one can be taken in without reading it again.

A commit on such a state is guarded like any other: when somebody changed the cluster since, it loses, and is decided
again on what is stored. Of reports and check-ins nothing newer is known here, so nothing else may be decided on it.
"""

from collections import OrderedDict
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.decision import Decision, applied
from firstlight.core.model.cluster import ClusterState

MOST_HOSTS: Final = 4_000
"""Of all the clusters together."""


class RecentClusters:
    def __init__(self, *, most_hosts: int = MOST_HOSTS) -> None:
        self._most = most_hosts
        self._size = 0
        self._states: OrderedDict[UUID, ClusterState] = OrderedDict()

    def get(self, cluster_id: UUID) -> ClusterState | None:
        return self._states.get(cluster_id)

    def keep(self, state: ClusterState) -> None:
        """`state` is what is stored now."""
        self.forget(state.cluster.id)
        self._states[state.cluster.id] = state
        self._size += 1 + len(state.hosts)
        while self._size > self._most:
            self.forget(next(iter(self._states)))

    def follow(self, before: ClusterState, decision: Decision) -> None:
        """The decision was committed: a cluster that is remembered is what it made of it."""
        known = self._states.get(before.cluster.id)
        if known is not None and known.revision == before.revision:
            self.keep(replace(applied(before, decision), revision=before.revision + 1))

    def forget(self, cluster_id: UUID) -> None:
        gone = self._states.pop(cluster_id, None)
        if gone is not None:
            self._size -= 1 + len(gone.hosts)
