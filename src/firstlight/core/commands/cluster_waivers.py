"""Checks a user lets pass, and notes that only a user interface reads."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from firstlight.core.clusters.rules import blocking as cluster_blocking
from firstlight.core.clusters.usages import with_usages
from firstlight.core.commands.cluster_settings import changes_between
from firstlight.core.decision import Decision
from firstlight.core.errors import Invalid
from firstlight.core.hosts.rules import blocking as host_blocking
from firstlight.core.model.cluster import Cluster, ClusterState

LONGEST_REASON: Final = 500


def waive(
    state: ClusterState, *, of_cluster: tuple[str, ...] | None, of_hosts: tuple[str, ...] | None, now: datetime
) -> Decision:
    """`all` waives each check that may be waived. None leaves a list as it is."""
    before = state.cluster
    _check(of_cluster or (), never=cluster_blocking.NOT_IGNORABLE, what="cluster")
    _check(of_hosts or (), never=host_blocking.NOT_IGNORABLE, what="host")
    after = replace(
        before,
        ignored_cluster_validations=before.ignored_cluster_validations if of_cluster is None else of_cluster,
        ignored_host_validations=before.ignored_host_validations if of_hosts is None else of_hosts,
    )
    if after == before:
        return Decision()
    after = with_usages(replace(after, updated_at=now), state.hosts)
    return Decision(cluster=after, changes=changes_between(before, after))


def waive_one(state: ClusterState, *, of_hosts: bool, check: str, reason: str | None, now: datetime) -> Decision:
    """Let one check pass and keep why; without a reason it counts again."""
    before = state.cluster
    listed = before.ignored_host_validations if of_hosts else before.ignored_cluster_validations
    others = tuple(known for known in listed if known != check)
    # Operators name one check for hosts and the cluster: the reason goes when neither may fail any more.
    elsewhere = before.ignored_cluster_validations if of_hosts else before.ignored_host_validations
    reasons = {known: why for known, why in before.waiver_reasons.items() if known != check or check in elsewhere}
    if reason is not None:
        _check(
            (check,),
            never=(host_blocking if of_hosts else cluster_blocking).NOT_IGNORABLE,
            what="host" if of_hosts else "cluster",
        )
        if not 0 < len(reason.strip()) <= LONGEST_REASON:
            raise Invalid(f"Say in at most {LONGEST_REASON} characters why {check} may fail.")
        others, reasons = (*others, check), {**reasons, check: reason.strip()}
    after = replace(
        before,
        waiver_reasons=reasons,
        ignored_cluster_validations=before.ignored_cluster_validations if of_hosts else others,
        ignored_host_validations=others if of_hosts else before.ignored_host_validations,
    )
    if after == before:
        return Decision()
    after = with_usages(replace(after, updated_at=now), state.hosts)
    return Decision(cluster=after, changes=changes_between(before, after))


def _check(ids: Collection[str], *, never: Collection[str], what: str) -> None:
    refused = sorted(set(ids) & set(never))
    if refused:
        raise Invalid(f"These {what} validations cannot be ignored: {', '.join(refused)}. Remove them from the list.")


def keep_ui_settings(cluster: Cluster, *, settings: str) -> Decision:
    return Decision() if settings == cluster.ui_settings else Decision(cluster=replace(cluster, ui_settings=settings))
