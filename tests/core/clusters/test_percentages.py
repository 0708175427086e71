"""How far an installation is: shares, rounding, never backward."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.clusters.progress import (
    finalizing_percentage,
    installing_percentage,
    is_settled,
    progress_of,
)
from firstlight.core.model.cluster import ClusterProgress, Operator
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus, OperatorKind, OperatorStatus
from firstlight.core.model.host import Host, Progress
from firstlight.core.model.host_status import HostRole, Stage
from firstlight.core.model.policy import Policy
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_host

C = ClusterStatus
POLICY = Policy()


def at(number: int, stage: Stage | None, **host: Any) -> Host:
    return a_host(number, **{"role": HostRole.MASTER, "progress": Progress(stage=stage)} | host)


def an_operator(kind: OperatorKind, status: OperatorStatus | None) -> Operator:
    return Operator(name="any", kind=kind, status=status)


BUILTIN, OLM = OperatorKind.BUILTIN, OperatorKind.OLM


@pytest.mark.parametrize(
    ("kind", "settled"),
    [(BUILTIN, {OperatorStatus.AVAILABLE}), (OLM, {OperatorStatus.AVAILABLE, OperatorStatus.FAILED})],
)
def test_what_settles_an_operator(kind: OperatorKind, settled: set[OperatorStatus]) -> None:
    for status in (None, *OperatorStatus):
        assert is_settled(an_operator(kind, status)) is (status in settled)


def test_the_installing_share_counts_stages_over_all_hosts() -> None:
    cluster = a_cluster(status=C.INSTALLING)
    # Of eight stages one host has done three, another all, the third none.
    hosts = [at(1, Stage.WRITING_IMAGE), at(2, Stage.DONE), at(3, None)]
    assert installing_percentage(cluster, hosts, POLICY) == 11 * 100 // 24
    assert installing_percentage(cluster, [], POLICY) == 0
    strange = at(1, Stage.WAITING_FOR_IGNITION)
    assert installing_percentage(cluster, [strange], POLICY) == 0


def test_the_finalizing_share_counts_settled_operators() -> None:
    available, failed = OperatorStatus.AVAILABLE, OperatorStatus.FAILED
    assert finalizing_percentage([]) == 0
    assert finalizing_percentage([an_operator(OLM, failed), an_operator(BUILTIN, failed)]) == 50
    assert finalizing_percentage([an_operator(OLM, available)] * 2 + [an_operator(OLM, None)]) == 66


@pytest.mark.parametrize(
    ("status", "installed", "settled", "total"),
    [
        (C.INSTALLING, 0, 0, 10),
        (C.INSTALLING, 1, 0, 10 + 70 // 3),
        (C.INSTALLING_PENDING_USER_ACTION, 3, 0, 80),
        # Operators count once the hosts are done.
        (C.INSTALLING, 3, 1, 80),
        (C.FINALIZING, 3, 0, 80),
        (C.FINALIZING, 3, 1, 99),
        (C.INSTALLED, 3, 1, 100),
    ],
)
def test_shares(status: ClusterStatus, installed: int, settled: int, total: int) -> None:
    operators = (an_operator(BUILTIN, OperatorStatus.AVAILABLE if settled else None),)
    hosts = [at(number, Stage.DONE if number <= installed else None) for number in (1, 2, 3)]
    cluster = a_cluster(status=status, operators=operators)
    assert progress_of(cluster, hosts, POLICY).total == total


@pytest.mark.parametrize("status", sorted(set(C) - {C.INSTALLING, C.INSTALLING_PENDING_USER_ACTION, C.FINALIZING,
                                                    C.INSTALLED}))  # fmt: skip
def test_elsewhere_the_last_percentages_stand(status: ClusterStatus) -> None:
    before = ClusterProgress(preparing=100, installing=40, total=38)
    cluster = a_cluster(status=status, progress=before)
    assert progress_of(cluster, [at(1, Stage.DONE)], POLICY) == before


def test_day_two_has_no_percentages() -> None:
    cluster = a_cluster(kind=ClusterKind.ADD_HOSTS, status=C.INSTALLED)
    assert progress_of(cluster, [at(1, Stage.DONE)], POLICY) == ClusterProgress()


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from([C.INSTALLING, C.INSTALLING_PENDING_USER_ACTION, C.FINALIZING]),
            st.lists(st.one_of(st.none(), st.sampled_from(Stage)), min_size=0, max_size=4),
            st.lists(st.one_of(st.none(), st.sampled_from(OperatorStatus)), max_size=3),
        ),
        max_size=8,
    )
)
def test_they_never_fall_and_end_at_a_hundred(steps: list[Any]) -> None:
    cluster = a_cluster(status=C.INSTALLING)
    for status, stages, operators in steps:
        known = tuple(an_operator(OLM, each) for each in operators)
        hosts = [at(number, stage) for number, stage in enumerate(stages)]
        before = cluster.progress
        cluster = replace(cluster, status=status, operators=known)
        after = progress_of(cluster, hosts, POLICY)
        for share in ("preparing", "installing", "finalizing", "total"):
            assert getattr(before, share) <= getattr(after, share) <= 100
        assert after.total <= 99
        cluster = replace(cluster, progress=after)
        assert progress_of(cluster, hosts, POLICY) == after
    assert progress_of(replace(cluster, status=C.INSTALLED), [], POLICY).total == 100
