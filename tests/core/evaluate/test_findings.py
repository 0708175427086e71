"""What an evaluation tells about checks, disks, roles and single nodes beside the moves."""

from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.decision import Decision, applied, host_after
from firstlight.core.evaluate import Surroundings, evaluate_cluster, evaluate_pool_host
from firstlight.core.evaluate.context import band_of
from firstlight.core.evaluate.derived import with_single_node_vips
from firstlight.core.model.cluster import ClusterState, Operator
from firstlight.core.model.cluster_status import ClusterStatus, OperatorKind
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import NO_REPORTS
from firstlight.core.rules import Status
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import a_pool_host, a_presence, host_state, some_reports
from tests.builders.inventories import GIB, a_disk, an_interface, an_inventory
from tests.builders.moments import INFRA_ENV_ID, NOW, host_id

S, C = HostStatus, ClusterStatus
KEY = (INFRA_ENV_ID, host_id(1))


def evaluate(state: ClusterState, **policy: Any) -> Decision:
    return evaluate_cluster(state, Surroundings(policy=Policy(**policy), now=NOW))


def settled(state: ClusterState, **policy: Any) -> ClusterState:
    return applied(state, evaluate(state, **policy))


def told(decision: Decision) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for change in decision.changes:
        check = getattr(change.event, "validation_id", "")
        if check:
            found.setdefault(change.event.name, []).append(check)
    return found


def with_reports(state: ClusterState, **reports: Any) -> ClusterState:
    first = replace(state.hosts[0], reports=replace(state.hosts[0].reports, **reports))
    return replace(state, hosts=(first, *state.hosts[1:]))


def test_first_judgements_are_no_news() -> None:
    assert told(evaluate(cluster_state())) == {}


def test_a_check_that_begins_to_fail_and_is_mended_is_told_once_each() -> None:
    good = settled(cluster_state())
    bad = with_reports(good, inventory=an_inventory(1, cpu_count=1))
    broken = evaluate(bad)
    assert "has-min-cpu-cores" in told(broken)["host_validation_failed"]
    assert "all-hosts-are-ready-to-install" in told(broken)["cluster_validation_failed"]
    after = applied(bad, broken)
    mended = evaluate(with_reports(after, inventory=an_inventory(1)))
    assert "has-min-cpu-cores" in told(mended)["host_validation_fixed"]
    assert "all-hosts-are-ready-to-install" in told(mended)["cluster_validation_fixed"]
    change = next(change for change in broken.changes if change.event.name == "host_validation_failed")
    assert (change.before["status"], change.after["status"]) == ("success", "failure")


def test_a_check_that_loses_its_facts_is_no_mended_one() -> None:
    bad = settled(with_reports(cluster_state(), inventory=an_inventory(1, cpu_count=1)))
    unknown = evaluate(with_reports(bad, inventory=None))
    assert "has-min-cpu-cores" not in told(unknown).get("host_validation_fixed", [])


def test_unknown_is_neither_failed_nor_mended() -> None:
    """A cluster check that fails and then waits for something is not told as mended."""
    fine = settled(cluster_state())
    pending = tuple(
        replace(finding, status=Status.PENDING) if finding.id == "sufficient-masters-count" else finding
        for finding in fine.findings
    )
    assert "sufficient-masters-count" not in str(told(evaluate(replace(fine, findings=pending))))


def test_switched_off_checks_hold_everywhere_but_where_checks_are_waived() -> None:
    small = with_reports(cluster_state(), inventory=an_inventory(1, cpu_count=1))
    off = {"disabled_host_validations": frozenset({"has-min-cpu-cores", "has-cpu-cores-for-role"})}
    assert settled(small, **off).hosts[0].host.status is S.KNOWN
    waived = replace(small, cluster=replace(small.cluster, ignored_host_validations=("has-default-route",)))
    assert settled(waived, **off).hosts[0].host.status is S.INSUFFICIENT


@pytest.mark.parametrize("ignored", [(), ("network-type-valid",)])
def test_switched_off_cluster_checks(ignored: tuple[str, ...]) -> None:
    state = cluster_state(base_dns_domain="", ignored_cluster_validations=ignored)
    after = settled(state, disabled_cluster_validations=frozenset({"dns-domain-defined"}))
    found = next(finding.status for finding in after.findings if finding.id == "dns-domain-defined")
    assert (found is Status.DISABLED) == (not ignored)


def test_waiving_all_lets_a_small_host_in() -> None:
    small = with_reports(cluster_state(), inventory=an_inventory(1, cpu_count=1))
    waived = replace(small, cluster=replace(small.cluster, ignored_host_validations=("all",)))
    assert settled(waived).hosts[0].host.status is S.KNOWN


def test_a_day_two_host_does_not_share_the_fate_of_a_failed_cluster() -> None:
    state = cluster_state(hosts=[host_state(1, status=S.INSTALLING, kind=HostKind.DAY_TWO)], status=C.ERROR)
    assert settled(state).hosts[0].host.status is S.INSTALLING


def test_the_disk_is_chosen_before_the_installation_only() -> None:
    disks = (a_disk(1), a_disk(2, size_bytes=10 * GIB))
    bare = {"installation_disk_id": "", "installation_disk_path": ""}
    reports = some_reports(inventory=an_inventory(1, disks=disks))
    open_host = settled(cluster_state(hosts=[host_state(1, reports=reports, **bare)])).hosts[0].host
    assert (open_host.installation_disk_id, open_host.installation_disk_path) == (disks[0].id, "/dev/sda")
    assert set(open_host.disk_problems) == {disks[1].id}
    late = cluster_state(hosts=[host_state(1, reports=reports, status=S.INSTALLING, **bare)], status=C.INSTALLING)
    assert settled(late).hosts[0].host.installation_disk_id == ""


def test_roles_are_suggested_and_told() -> None:
    state = cluster_state(hosts=[host_state(number, suggested_role=None) for number in (1, 2, 3)])
    decision = evaluate(state)
    assert [change.event.name for change in decision.changes].count("host_role_updated") == 3
    assert {host.suggested_role for host in decision.hosts.values()} == {HostRole.MASTER}
    quiet = evaluate(state, auto_assign_roles=False)
    assert "host_role_updated" not in [change.event.name for change in quiet.changes]


def test_roles_follow_what_operators_need() -> None:
    """With virtualization a four-core machine no longer carries the control plane."""
    numbers = (1, 2, 3, 4)
    hosts = [
        host_state(
            number,
            suggested_role=None,
            reports=some_reports(
                number, peers=numbers, inventory=an_inventory(number, cpu_count=4 if number == 1 else 16, ram_mib=32768)
            ),
        )
        for number in numbers
    ]
    plain = settled(cluster_state(hosts=hosts))
    assert plain.hosts[0].host.suggested_role is HostRole.MASTER
    cnv = settled(cluster_state(hosts=hosts, operators=(Operator(name="cnv", kind=OperatorKind.OLM),)))
    assert [host.host.suggested_role for host in cnv.hosts] == [HostRole.WORKER] + [HostRole.MASTER] * 3


# --- single nodes -----------------------------------------------------------------------------------------------------


def test_a_single_node_takes_its_address_in_the_primary_network() -> None:
    two = an_inventory(1, interfaces=(an_interface(1, ipv4=("198.51.100.7/24", "192.0.2.77/24")),))
    host = host_state(1, reports=some_reports(inventory=two))
    state = cluster_state(hosts=[host], api_vips=(), ingress_vips=())
    after = with_single_node_vips(state.cluster, state.hosts)
    assert after.api_vips == after.ingress_vips == ("192.0.2.77",)


@pytest.mark.parametrize(
    ("cluster", "reports"),
    [
        pytest.param({"machine_networks": ()}, some_reports(), id="no-network"),
        pytest.param({"machine_networks": ("203.0.113.0/24",)}, some_reports(), id="elsewhere"),
        pytest.param({}, NO_REPORTS, id="no-inventory"),
    ],
)
def test_without_such_an_address_nothing_changes(cluster: dict[str, Any], reports: Any) -> None:
    state = cluster_state(hosts=[host_state(1, reports=reports)], **cluster)
    assert with_single_node_vips(state.cluster, state.hosts) == state.cluster


# --- the pool ---------------------------------------------------------------------------------------------------------


def pool(state: HostState) -> tuple[HostState, Decision]:
    decision = evaluate_pool_host(state, an_infra_env(cluster_id=None), Surroundings(policy=Policy(), now=NOW))
    return host_after(state, decision), decision


def test_a_pool_host_gets_everything_at_once_and_rests() -> None:
    host = a_pool_host(status=S.DISCOVERING_UNBOUND, installation_disk_id="", installation_disk_path="")
    after, decision = pool(host_state(1, host=host))
    assert after.host.status is S.KNOWN_UNBOUND
    assert after.host.installation_disk_id == a_disk().id
    assert after.plan is not None
    assert decision.next_deadline is not None
    again, rest = pool(after)
    assert again == after
    assert replace(rest, next_deadline=None) == Decision()


def test_a_small_pool_host_is_told() -> None:
    good, _ = pool(host_state(1, host=a_pool_host()))
    small = replace(good, reports=some_reports(inventory=an_inventory(1, ram_mib=2048)))
    after, decision = pool(small)
    assert after.host.status is S.INSUFFICIENT_UNBOUND
    assert "has-min-memory" in told(decision)["host_validation_failed"]


def test_the_infra_env_may_be_unknown() -> None:
    """A cluster judges hosts whose infra-env was deleted as well."""
    state = replace(cluster_state(), infra_envs={})
    assert settled(state).cluster.status is C.READY


@pytest.mark.parametrize(
    ("offset", "band"),
    [(None, None), (0.0, 0), (-1200.0, 0), (-1200.1, -1), (3600.0, 0), (3600.1, 1)],
)
def test_clocks_are_told_apart_only_where_a_rule_does(offset: float | None, band: int | None) -> None:
    assert band_of(offset) == band
    state = cluster_state()
    first = replace(state.hosts[0], presence=a_presence(clock_offset_seconds=offset))
    after = settled(replace(state, hosts=(first, *state.hosts[1:])))
    assert (after.hosts[0].host.status is S.KNOWN) == (band == 0)


def test_a_table_that_never_rests_is_told_as_the_mistake_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.core.evaluate.cluster.MAX_ROUNDS", 0)
    monkeypatch.setattr("firstlight.core.evaluate.pool.MAX_ROUNDS", 0)
    with pytest.raises(RuntimeError, match="does not come to rest"):
        evaluate(cluster_state())
    with pytest.raises(RuntimeError, match="does not come to rest"):
        pool(host_state(1, host=a_pool_host()))
