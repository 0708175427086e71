"""Who becomes what: dealing, order, arbiters, bootstrap."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.evaluate.context import context_of
from firstlight.core.evaluate.dealing import suggested_roles
from firstlight.core.model.cluster import Operator
from firstlight.core.model.cluster_status import ClusterKind, OperatorKind
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import BEFORE_INSTALLATION, HostRole, HostStatus
from firstlight.core.model.inventory import Gpu
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import NO_REPORTS
from firstlight.core.roles import choose_bootstrap, deal, key_of, weight
from tests.builders.clusters import a_cluster, cluster_state
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import GIB, a_disk, an_inventory

M, W, A = HostRole.MASTER, HostRole.WORKER, HostRole.ARBITER


def machine(
    number: int, *, gpu: bool = False, disk_gib: int = 120, host: dict[str, Any] | None = None, **inventory: Any
) -> HostState:
    found = an_inventory(number, **inventory, disks=(a_disk(size_bytes=disk_gib * GIB),))
    found = replace(found, gpus=(Gpu(vendor="x", name="y"),) if gpu else ())
    fresh = {"suggested_role": None} | (host or {})
    return host_state(number, reports=some_reports(number, inventory=found), **fresh)


def fits_all(_: HostState, __: HostRole) -> bool:
    return True


def dealt(hosts: Sequence[HostState], *, fits: Any = fits_all, **cluster: Any) -> list[HostRole | None]:
    roles = deal(a_cluster(**cluster), hosts, fits=fits)
    return [roles.get(key_of(host)) for host in hosts]


def test_the_smallest_capable_machines_become_the_control_plane() -> None:
    hosts = [machine(1, cpu_count=32), machine(2), machine(3, ram_mib=65536), machine(4, cpu_count=9), machine(5)]
    assert dealt(hosts) == [W, M, W, M, M]


def test_equal_machines_keep_their_order() -> None:
    assert dealt([machine(number) for number in range(1, 6)]) == [M, M, M, W, W]


def test_gpus_are_dealt_last() -> None:
    hosts = [machine(1, gpu=True), machine(2, cpu_count=64), machine(3), machine(4, cpu_count=48)]
    assert dealt(hosts) == [W, M, M, M]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"cpu_count": 4, "ram_mib": 16 * 1024 + 400, "disk_gib": 100}, 0.0),
        ({"cpu_count": 6, "ram_mib": 16 * 1024 + 400, "disk_gib": 100}, 2.0),
        ({"cpu_count": 4, "ram_mib": 26 * 1024 + 400, "disk_gib": 100}, 1.0),
        ({"cpu_count": 4, "ram_mib": 16 * 1024 + 400, "disk_gib": 1100}, 4.0),
    ],
)
def test_weights(changes: dict[str, Any], expected: float) -> None:
    assert weight(machine(1, **changes)) == (False, pytest.approx(expected))


def test_disks_nobody_may_use_weigh_nothing() -> None:
    usable = machine(1)
    refused = replace(usable, host=replace(usable.host, disk_problems={a_disk().id: ("too slow",)}))
    assert weight(refused)[1] == pytest.approx(weight(usable)[1] - 0.004 * 120)
    assert weight(host_state(reports=NO_REPORTS)) == (False, 0.0)


def test_nothing_is_dealt_before_everybody_has_shown_itself() -> None:
    assert dealt([machine(1), machine(2), host_state(3, reports=NO_REPORTS)]) == [None, None, None]


def test_what_somebody_chose_counts_and_stays() -> None:
    hosts = [
        machine(1, host={"role": W}),
        machine(2, cpu_count=64, host={"role": M}),
        machine(3),
        machine(4),
        machine(5, cpu_count=16),
    ]
    assert dealt(hosts) == [None, None, M, M, W]


def test_hosts_past_the_start_keep_their_suggestion() -> None:
    late = machine(1, host={"status": HostStatus.INSTALLING, "suggested_role": M})
    assert dealt([late, machine(2), machine(3), machine(4)]) == [None, M, M, W]


def test_a_machine_too_small_for_a_master_is_a_worker() -> None:
    small = [machine(1, cpu_count=2), machine(2), machine(3), machine(4)]
    assert dealt(small, fits=lambda host, _: host.reports.inventory.cpu.count >= 4) == [W, M, M, M]


def test_two_masters_get_an_arbiter() -> None:
    hosts = [machine(number) for number in range(1, 5)]
    assert dealt(hosts, control_plane_count=2) == [M, M, A, W]
    chosen = [machine(1, host={"role": A}), *hosts[1:]]
    assert dealt(chosen, control_plane_count=2) == [None, M, M, W]
    assert dealt(hosts, control_plane_count=2, fits=lambda _, role: role is not A) == [M, M, W, W]
    assert A not in dealt(hosts, control_plane_count=3)


def test_day_two_hosts_are_workers() -> None:
    assert dealt([machine(1), machine(2, host={"role": M})], kind=ClusterKind.ADD_HOSTS) == [W, None]


@given(
    sizes=st.lists(st.integers(4, 64), min_size=3, max_size=8),
    gpus=st.sets(st.integers(0, 7)),
    statuses=st.lists(st.sampled_from(sorted(BEFORE_INSTALLATION)), min_size=8, max_size=8),
)
def test_dealing_again_deals_the_same(sizes: list[int], gpus: set[int], statuses: list[HostStatus]) -> None:
    """Suggestions given are no argument for the next ones: only machines are."""
    hosts = [
        machine(number + 1, cpu_count=size, gpu=number in gpus, host={"status": statuses[number]})
        for number, size in enumerate(sizes)
    ]
    first = deal(a_cluster(), hosts, fits=fits_all)
    again = [replace(host, host=replace(host.host, suggested_role=first[key_of(host)])) for host in hosts]
    assert deal(a_cluster(), again, fits=fits_all) == first
    assert list(first.values()).count(M) == 3
    heaviest_master = max(weight(host) for host in hosts if first[key_of(host)] is M)
    assert all(weight(host) >= heaviest_master for host in hosts if first[key_of(host)] is W)


# --- with the real rules ----------------------------------------------------------------------------------------------


def suggested(hosts: Sequence[HostState], **cluster: Any) -> list[HostRole]:
    state = cluster_state(hosts=hosts, **cluster)
    roles = suggested_roles(state.cluster, state.hosts, context_of(state.cluster, state.hosts, Policy()))
    return [roles[key_of(host)] for host in hosts]


@pytest.mark.parametrize(("cpus", "ram", "role"), [(4, 16384, M), (3, 16384, W), (4, 16384 - 200, W)])
def test_masters_have_what_the_role_needs(cpus: int, ram: int, role: HostRole) -> None:
    hosts = [machine(1, cpu_count=cpus, ram_mib=ram), machine(2), machine(3), machine(4)]
    assert suggested(hosts)[0] is role


def test_operators_raise_what_a_master_needs() -> None:
    hosts = [machine(1, cpu_count=4), *(machine(number, cpu_count=16, ram_mib=32768) for number in (2, 3, 4))]
    cnv = (Operator(name="cnv", kind=OperatorKind.OLM),)
    assert suggested(hosts) == [M, M, M, W]
    assert suggested(hosts, operators=cnv) == [W, M, M, M]


# --- bootstrap --------------------------------------------------------------------------------------------------------


def test_the_last_master_in_line_is_bootstrap() -> None:
    hosts = [host_state(1), host_state(2), host_state(3, suggested_role=W)]
    assert choose_bootstrap(hosts) is hosts[1]


def test_the_one_already_chosen_stays() -> None:
    hosts = [host_state(1, bootstrap=True), host_state(2)]
    assert choose_bootstrap(hosts) is hosts[0]


@pytest.mark.parametrize("status", sorted(HostStatus))
def test_only_hosts_about_to_be_installed_bootstrap(status: HostStatus) -> None:
    host = host_state(1, status=status)
    wanted = status in (HostStatus.KNOWN, HostStatus.PREPARING_FOR_INSTALLATION)
    assert choose_bootstrap([host]) is (host if wanted else None)
