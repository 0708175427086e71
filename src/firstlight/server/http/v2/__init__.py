"""The v2 API, one module per resource: decode, call one use case, encode."""

from types import ModuleType
from typing import Final

from firstlight.server.http.v2 import (
    agents,
    cluster_actions,
    cluster_details,
    clusters,
    credentials,
    downloads,
    events,
    host_ignition,
    hosts,
    infra_env_files,
    infra_envs,
    install_configs,
    logs,
    manifests,
    monitored_operators,
    operators,
    support_levels,
    versions,
)

MODULES: Final[tuple[ModuleType, ...]] = (
    agents,
    cluster_actions,
    cluster_details,
    clusters,
    credentials,
    downloads,
    events,
    host_ignition,
    hosts,
    infra_env_files,
    infra_envs,
    install_configs,
    logs,
    manifests,
    monitored_operators,
    operators,
    support_levels,
    versions,
)
"""Every module with operations, sorted."""
