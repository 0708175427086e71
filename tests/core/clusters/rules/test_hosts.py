"""Whether the hosts are enough, ready and of one time."""

from typing import Any

import pytest

from firstlight.core.clusters.rules import hosts as subject
from firstlight.core.model.host import FencingCredentials, HostState
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.rules import Status
from tests.builders.hosts import a_presence, host_state
from tests.builders.moments import host_id
from tests.core.clusters.rules.cluster_examples import facts_of

CARD = FencingCredentials(address="redfish+https://192.0.2.9", username="u", password="p")
ROLES = {
    "m": {"role": HostRole.MASTER},
    "b": {"role": HostRole.BOOTSTRAP},
    "w": {"role": HostRole.WORKER},
    "a": {"role": HostRole.ARBITER},
    "s": {"role": HostRole.AUTO_ASSIGN, "suggested_role": HostRole.MASTER},
    "?": {"role": HostRole.AUTO_ASSIGN, "suggested_role": None},
    "f": {"role": HostRole.MASTER, "fencing": CARD},
}


def with_roles(letters: str) -> list[HostState]:
    return [host_state(number, **ROLES[letter]) for number, letter in enumerate(letters, start=1)]


@pytest.mark.parametrize("status", list(HostStatus))
def test_every_status_is_ready_or_not(status: HostStatus) -> None:
    ready = status in {"known", "preparing-for-installation", "preparing-successful"}
    verdict = subject.all_hosts_are_ready_to_install(facts_of(hosts=[host_state(1), host_state(2, status=status)]))
    assert verdict.status is (Status.SUCCESS if ready else Status.FAILURE)


def test_no_hosts_are_all_ready() -> None:
    assert subject.all_hosts_are_ready_to_install(facts_of(hosts=[])).status is Status.SUCCESS


def test_many_unready_hosts_are_counted_not_listed() -> None:
    hosts = [host_state(number, status=HostStatus.INSUFFICIENT) for number in range(1, 41)]
    verdict = subject.all_hosts_are_ready_to_install(facts_of(hosts=hosts))
    assert "40 of 40" in verdict.message
    assert "and 34 more" in verdict.message
    assert len(verdict.evidence["hosts"]) == 20


@pytest.mark.parametrize(
    ("count", "letters", "candidates", "good"),
    [
        pytest.param(3, "mmm", {}, True, id="three"),
        pytest.param(3, "mm", {}, False, id="one-short"),
        pytest.param(3, "mmmm", {}, False, id="one-over"),
        pytest.param(3, "bsmww", {}, True, id="bootstrap-and-suggested-count"),
        pytest.param(3, "mm?", {3: "master"}, True, id="candidate-counts"),
        pytest.param(3, "mm?", {3: "worker"}, False, id="candidate-worker"),
        pytest.param(3, "mm?", {}, False, id="no-candidate-is-a-worker"),
        pytest.param(3, "mmw", {3: "master"}, False, id="own-role-beats-candidate"),
        pytest.param(5, "mmmmm", {}, True, id="five"),
        pytest.param(2, "mma", {}, True, id="arbiter"),
        pytest.param(2, "mm?", {3: "arbiter"}, True, id="candidate-arbiter"),
        pytest.param(2, "mm", {}, False, id="two-alone"),
        pytest.param(2, "fm", {}, False, id="one-fenced"),
        pytest.param(2, "ff", {}, True, id="both-fenced"),
        pytest.param(2, "ma", {}, False, id="one-and-arbiter"),
        pytest.param(1, "m", {}, True, id="single"),
        pytest.param(1, "mw", {}, False, id="single-with-worker"),
        pytest.param(1, "mm", {}, False, id="single-twice"),
        pytest.param(1, "", {}, False, id="single-none"),
        pytest.param(1, "?", {1: "master"}, True, id="single-candidate"),
        pytest.param(3, "", {}, False, id="none"),
    ],
)
def test_sufficient_masters_count(count: int, letters: str, candidates: dict[int, str], good: bool) -> None:
    roles = {host_id(number): role for number, role in candidates.items()}
    facts = facts_of(hosts=with_roles(letters), candidate_roles=roles, control_plane_count=count)
    assert subject.sufficient_masters_count(facts).status is (Status.SUCCESS if good else Status.FAILURE)


def at(number: int, offset: float | None, status: HostStatus = HostStatus.KNOWN) -> HostState:
    return host_state(number, presence=a_presence(clock_offset_seconds=offset), status=status)


@pytest.mark.parametrize(
    ("hosts", "good"),
    [
        pytest.param([], True, id="nobody"),
        pytest.param([at(1, None)], True, id="no-time"),
        pytest.param([at(1, 0.0), at(2, 299.9)], True, id="just-below-five-minutes"),
        pytest.param([at(1, 0.0), at(2, 300.0)], False, id="five-minutes"),
        pytest.param([at(1, -150.0), at(2, 150.0), at(3, 0.0)], False, id="both-sides"),
        pytest.param([at(1, 0.0), at(2, None)], True, id="one-without-time"),
        pytest.param([at(1, 0.0), at(2, 999.0, HostStatus.DISCOVERING)], True, id="discovering"),
        pytest.param([at(1, 0.0), at(2, 999.0, HostStatus.DISCONNECTED)], True, id="disconnected"),
        pytest.param([at(1, 0.0), at(2, 999.0, HostStatus.RESETTING_PENDING_USER_ACTION)], True, id="resetting"),
        pytest.param([at(1, 0.0), at(2, 999.0, HostStatus.INSUFFICIENT)], False, id="insufficient"),
        pytest.param([at(1, 0.0), at(2, float("nan")), at(3, float("inf"))], True, id="nonsense"),
        pytest.param([at(1, -1.7e308), at(2, 1.7e308)], False, id="absurd"),
    ],
)
def test_ntp_server_configured(hosts: list[HostState], good: bool) -> None:
    assert subject.ntp_server_configured(facts_of(hosts=hosts)).status is (Status.SUCCESS if good else Status.FAILURE)


def test_a_little_drift_does_not_change_the_finding() -> None:
    first: Any = subject.ntp_server_configured(facts_of(hosts=[at(1, 0.0), at(2, 400.0)]))
    second: Any = subject.ntp_server_configured(facts_of(hosts=[at(1, 0.3), at(2, 400.9)]))
    assert first == second
    assert first.evidence == {"slowest": "host-1", "fastest": "host-2", "minutes": 6}
