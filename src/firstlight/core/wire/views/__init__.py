"""From our records to the documents of the v2 API: its odd rules live here and nowhere else."""

from firstlight.core.wire.views.clusters import ClusterView, view_cluster
from firstlight.core.wire.views.hosts import HostView, host_view, view_host
from firstlight.core.wire.views.infra_envs import view_infra_env

__all__ = ["ClusterView", "HostView", "host_view", "view_cluster", "view_host", "view_infra_env"]
