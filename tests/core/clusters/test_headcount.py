"""How many hosts are enough, and when masters must carry work."""

from typing import Any

import pytest

from firstlight.core.clusters.headcount import INSTALLED, STILL_INSTALLING, enough, masters_must_be_schedulable
from firstlight.core.model.host import FencingCredentials, Host
from firstlight.core.model.host_status import HostRole, HostStatus
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_host

S = HostStatus
FENCED = {"fencing": FencingCredentials(address="192.0.2.90", username="u", password="p")}


def hosts(plan: str, **changes: Any) -> list[Host]:
    """`M` master installed, `m` master failed; `W`/`w` workers, `A`/`a` arbiters."""
    roles = {"m": HostRole.MASTER, "w": HostRole.WORKER, "a": HostRole.ARBITER, "b": HostRole.BOOTSTRAP}
    return [
        a_host(number, role=roles[sign.lower()], status=S.INSTALLED if sign.isupper() else S.ERROR, **changes)
        for number, sign in enumerate(plan, start=1)
    ]


@pytest.mark.parametrize(
    ("masters", "plan", "expected"),
    [
        pytest.param(3, "MMM", True, id="compact"),
        pytest.param(3, "MM", False, id="too-few-masters"),
        pytest.param(3, "MMm", False, id="failed-master"),
        pytest.param(3, "MMMMM", True, id="five-masters"),
        pytest.param(5, "MMMMm", False, id="one-of-five-failed"),
        pytest.param(3, "MMB", True, id="bootstrap-counts-as-master"),
        pytest.param(3, "MMMw", True, id="only-worker-failed"),
        pytest.param(3, "MMMWw", False, id="one-of-two-workers"),
        pytest.param(3, "MMMWWw", True, id="two-of-three-workers"),
        pytest.param(3, "MMMWW", True, id="3+2"),
        pytest.param(2, "MMA", True, id="arbiter"),
        pytest.param(2, "MMa", False, id="failed-arbiter"),
        pytest.param(2, "MMAa", True, id="one-of-two-arbiters"),
        pytest.param(2, "MM", False, id="two-masters-alone"),
        pytest.param(2, "MA", False, id="one-master-and-arbiter"),
        pytest.param(1, "M", True, id="single-node"),
        pytest.param(1, "m", False, id="failed-single-node"),
        pytest.param(1, "MW", False, id="single-node-with-worker"),
        pytest.param(1, "MM", False, id="two-single-nodes"),
        pytest.param(3, "", False, id="nobody"),
    ],
)
def test_enough_hosts(masters: int, plan: str, expected: bool) -> None:
    assert enough(a_cluster(control_plane_count=masters), hosts(plan), INSTALLED) is expected


def test_two_masters_that_fence_each_other_are_enough() -> None:
    cluster = a_cluster(control_plane_count=2)
    assert enough(cluster, hosts("MM", **FENCED), INSTALLED)
    assert not enough(cluster, hosts("Mm", **FENCED), INSTALLED)


def test_every_status_on_the_way_still_counts() -> None:
    assert {
        S.INSTALLING,
        S.INSTALLING_IN_PROGRESS,
        S.INSTALLED,
        S.INSTALLING_PENDING_USER_ACTION,
        S.PREPARING_SUCCESSFUL,
    } == STILL_INSTALLING
    for status in HostStatus:
        team = [a_host(number, role=HostRole.MASTER, status=status) for number in (1, 2, 3)]
        assert enough(a_cluster(), team, STILL_INSTALLING) is (status in STILL_INSTALLING)


@pytest.mark.parametrize(
    ("masters", "plan", "forced"),
    [(1, "M", True), (3, "MMM", True), (3, "MMMW", True), (3, "MMMWW", False), (3, "MMMww", False), (1, "MWW", True)],
)
def test_masters_carry_work_with_fewer_than_two_workers(masters: int, plan: str, forced: bool) -> None:
    assert masters_must_be_schedulable(a_cluster(control_plane_count=masters), hosts(plan)) is forced
