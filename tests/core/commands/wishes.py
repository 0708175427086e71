"""Registrations and changes that succeed; a test names only what it changes."""

from typing import Any
from uuid import UUID

from firstlight.core.clusters.wish import ClusterWish
from firstlight.core.commands.cluster_records import Owner
from firstlight.core.commands.cluster_settings import (
    Grounds,
    NewCluster,
    OperatorWish,
    new_cluster,
    update_cluster,
)
from firstlight.core.decision import Decision
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.policy import Policy
from firstlight.core.versions.defaults import default_catalogue
from tests.builders.moments import NOW

SECRET = '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'
ID = UUID("c0000000-0000-4000-8000-00000000000a")


def grounds(**changes: Any) -> Grounds:
    return Grounds(**({"policy": Policy(), "catalogue": default_catalogue()} | changes))


def registered(
    *,
    version: str = "4.18",
    count: int = 3,
    architecture: str = "",
    release_image: str = "",
    operators: OperatorWish | None = None,
    on: Grounds | None = None,
    **wish: Any,
) -> Cluster:
    return new_cluster(
        ID,
        NewCluster(
            openshift_version=version,
            release_image=release_image,
            cpu_architecture=architecture,
            control_plane_count=count,
        ),
        ClusterWish(**({"name": "east", "pull_secret": SECRET} | wish)),
        operators=operators or OperatorWish(),
        owner=Owner(),
        grounds=on or grounds(),
        now=NOW,
    )


def updated(
    state: ClusterState, *, operators: OperatorWish | None = None, on: Grounds | None = None, **wish: Any
) -> Decision:
    return update_cluster(state, ClusterWish(**wish), operators=operators, grounds=on or grounds(), now=NOW)


def after(state: ClusterState, **wish: Any) -> Cluster:
    """The cluster a change leads to."""
    return updated(state, **wish).cluster or state.cluster
