"""Which steps are due in which status, and how soon the agent is to ask again."""

import json
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster import DiskEncryption
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus, EncryptionMode
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus
from firstlight.core.model.plan import StepPlan, StepType
from firstlight.core.model.reports import NO_REPORTS, ApiVipReply, DiskSpeed, ImageStatus, Reports, TangReply
from firstlight.core.steps.due import AWAITED_SECONDS, BUILDERS, SOON_SECONDS, UPGRADABLE, plan_steps
from firstlight.core.steps.inputs import BootArtifacts, ReleaseFacts, StepInputs
from firstlight.core.steps.occasion import Neighbourhood, has_seen_all, neighbourhood_of
from tests.builders.clusters import a_cluster, a_policy, an_infra_env, cluster_state
from tests.builders.hosts import a_pool_host, a_presence, host_state, some_reports
from tests.builders.moments import INFRA_ENV_ID, NOW

S, T = HostStatus, StepType
TANG_IGNITION = json.dumps({"storage": {"luks": [{"clevis": {"tang": [{"url": "http://t", "thumbprint": "x"}]}}]}})
INPUTS = StepInputs(
    release=ReleaseFacts(mco_image="mco", must_gather_images={"ocp": "gather"}),
    boot_artifacts={INFRA_ENV_ID: BootArtifacts(kernel_url="k", rootfs_url="r", initrd_url="i")},
)
CHECKS = ["connectivity-check", "tang-connectivity-check", "free-network-addresses", "dhcp-lease-allocate"]
NAMES = ["ntp-synchronizer", "domain-resolution"]

DAY_ONE: dict[HostStatus, tuple[list[str], int, bool]] = {
    S.DISCOVERING: (["inventory"], 60, False),
    S.KNOWN: ([*CHECKS, "inventory", *NAMES, "verify-vips"], 60, False),
    S.INSUFFICIENT: (["inventory", *CHECKS, *NAMES, "verify-vips"], 60, False),
    S.PENDING_FOR_INPUT: (["inventory", *CHECKS, *NAMES, "verify-vips"], 60, False),
    S.DISCONNECTED: (["inventory"], 120, False),
    S.PREPARING_FOR_INSTALLATION: (
        ["dhcp-lease-allocate", "installation-disk-speed-check", "container-image-availability"],
        2,
        False,
    ),
    S.PREPARING_SUCCESSFUL: ([], 5, False),
    S.INSTALLING: (["install", "dhcp-lease-allocate"], 5, False),
    S.INSTALLING_IN_PROGRESS: (["dhcp-lease-allocate"], 60, False),
    S.DISABLED: ([], 120, False),
    S.RESETTING: ([], 120, False),
    S.ERROR: (["logs-gather", "stop-installation"], 120, False),
    S.CANCELLED: (["logs-gather", "stop-installation"], 120, False),
    S.BINDING: ([], 0, True),
}
DAY_TWO: dict[HostStatus, tuple[list[str], int, bool]] = {
    S.DISCOVERING: (["inventory", *NAMES], 60, False),
    S.KNOWN: (
        ["connectivity-check", "api-vip-connectivity-check", "tang-connectivity-check", "inventory", *NAMES],
        60,
        False,
    ),
    S.INSUFFICIENT: (
        ["inventory", "connectivity-check", "api-vip-connectivity-check", "tang-connectivity-check", *NAMES],
        60,
        False,
    ),
    S.PENDING_FOR_INPUT: (
        ["inventory", "connectivity-check", "api-vip-connectivity-check", "tang-connectivity-check"],
        60,
        False,
    ),
    S.DISCONNECTED: (["inventory"], 120, False),
    S.INSTALLING: (["install"], 5, False),
    S.DISABLED: ([], 120, False),
    S.RESETTING: ([], 120, False),
    S.ERROR: (["logs-gather", "stop-installation"], 120, False),
    S.CANCELLED: (["logs-gather", "stop-installation"], 120, False),
    S.BINDING: ([], 0, True),
}
POOL: dict[HostStatus, tuple[list[str], int, bool]] = {
    S.DISCOVERING_UNBOUND: (["inventory", "ntp-synchronizer"], 60, False),
    S.INSUFFICIENT_UNBOUND: (["inventory", "ntp-synchronizer"], 60, False),
    S.KNOWN_UNBOUND: (["inventory", "ntp-synchronizer"], 60, False),
    S.DISCONNECTED_UNBOUND: (["inventory"], 120, False),
    S.DISABLED_UNBOUND: ([], 120, False),
    S.UNBINDING: ([], 0, True),
    S.UNBINDING_PENDING_USER_ACTION: ([], 0, True),
    S.RECLAIMING: (["download-boot-artifacts"], 5, False),
    S.RECLAIMING_REBOOTING: (["reboot-for-reclaim"], 120, True),
}
SILENT: tuple[list[str], int, bool] = ([], 60, False)


def shown(plan: StepPlan) -> tuple[list[str], int, bool]:
    return [str(step.type) for step in plan.steps], plan.next_instruction_seconds, plan.exit


def planned(
    member: HostState, *, cluster: dict[str, Any] | None = None, policy: dict[str, Any] | None = None
) -> StepPlan:
    """The plan of the first of three hosts in a cluster for which every step has a reason."""
    everything: dict[str, Any] = {
        "vip_dhcp_allocation": True,
        "disk_encryption": DiskEncryption(enable_on="all", mode=EncryptionMode.TANG, tang_servers="[]"),
    }
    state = cluster_state(
        hosts=(member, host_state(2), host_state(3)), cluster=a_cluster(), **(everything | (cluster or {}))
    )
    return plan_steps(state, member, policy=a_policy(**(policy or {})), inputs=INPUTS)


def with_all_reports(**changes: Any) -> Reports:
    return some_reports(
        tang=TangReply(success=True), api_vip=ApiVipReply(success=True, ignition=TANG_IGNITION), **changes
    )


@pytest.mark.parametrize("status", HostStatus)
def test_day_one_table(status: HostStatus) -> None:
    member = host_state(1, status=status, reports=with_all_reports())
    assert shown(planned(member)) == DAY_ONE.get(status, SILENT)


@pytest.mark.parametrize("status", HostStatus)
def test_day_two_table(status: HostStatus) -> None:
    member = host_state(1, status=status, kind=HostKind.DAY_TWO, reports=with_all_reports())
    day_two = {
        "kind": ClusterKind.ADD_HOSTS,
        "status": ClusterStatus.ADDING_HOSTS,
        "api_vip_dns_name": "api.example.com",
    }
    assert shown(planned(member, cluster=day_two)) == DAY_TWO.get(status, SILENT)


@pytest.mark.parametrize("status", HostStatus)
def test_pool_table(status: HostStatus) -> None:
    member = host_state(host=a_pool_host(status=status))
    plan = plan_steps(None, member, policy=a_policy(), inputs=INPUTS, infra_env=an_infra_env(cluster_id=None))
    assert shown(plan) == POOL.get(status, SILENT)


def test_every_step_can_be_built() -> None:
    assert BUILDERS.keys() == set(StepType)


@pytest.mark.parametrize("status", HostStatus)
def test_an_outdated_agent_is_asked_to_upgrade_and_nothing_else(status: HostStatus) -> None:
    member = host_state(1, status=status, presence=a_presence(agent_version="old"), reports=with_all_reports())
    plan = planned(member)
    if status in UPGRADABLE:
        assert shown(plan) == (["upgrade-agent"], 60, False)
        assert plan.steps[0].args == (json.dumps({"agent_image": a_policy().agent_image}, separators=(",", ":")),)
    else:
        assert shown(plan) == DAY_ONE.get(status, SILENT)


@pytest.mark.parametrize("policy", [{"upgrade_agent": False}, {"disabled_steps": frozenset({"upgrade-agent"})}])
def test_upgrades_can_be_switched_off(policy: dict[str, Any]) -> None:
    member = host_state(1, presence=a_presence(agent_version="old"), reports=with_all_reports())
    assert shown(planned(member, policy=policy)) == DAY_ONE[S.KNOWN]


def test_disabled_steps_are_left_out() -> None:
    member = host_state(1, status=S.PENDING_FOR_INPUT, reports=with_all_reports())
    off = frozenset({"inventory", "verify-vips", "no-such-step"})
    assert shown(planned(member, policy={"disabled_steps": off}))[0] == [*CHECKS, *NAMES]


def seconds_of(member: HostState, *, hosts: int = 3, policy: dict[str, Any] | None = None, **cluster: Any) -> int:
    peers = range(1, hosts + 1)
    others = tuple(host_state(number, peers=peers) for number in peers if number != 1)
    state = cluster_state(hosts=(member, *others), cluster=a_cluster(), **cluster)
    return plan_steps(state, member, policy=a_policy(**(policy or {}))).next_instruction_seconds


@pytest.mark.parametrize(
    ("reports", "seconds"),
    [
        ({}, 60),
        ({"inventory": None}, AWAITED_SECONDS),
        ({"connectivity": None}, AWAITED_SECONDS),
        ({"domains": None}, AWAITED_SECONDS),
        ({"vips": None}, AWAITED_SECONDS),
        ({"vips": {"192.0.2.5": True}}, AWAITED_SECONDS),
        ({"ntp": None}, 60),
        ({"free_addresses": None}, 60),
    ],
)
def test_a_missing_report_that_somebody_waits_for_hurries(reports: dict[str, Any], seconds: int) -> None:
    assert seconds_of(host_state(1, reports=some_reports(1, **reports))) == seconds


def test_a_peer_that_was_not_asked_for_hurries() -> None:
    assert seconds_of(host_state(1, peers=(1, 2))) == AWAITED_SECONDS
    assert seconds_of(host_state(1, peers=(1, 2, 3, 4))) == 60


def test_discovering_hurries_until_the_inventory_is_there() -> None:
    assert seconds_of(host_state(1, status=S.DISCOVERING, reports=NO_REPORTS)) == AWAITED_SECONDS


def test_a_crowd_is_given_more_time() -> None:
    member = host_state(1, reports=some_reports(1, connectivity=None))
    assert seconds_of(member, hosts=49) == AWAITED_SECONDS
    assert seconds_of(member, hosts=50) == AWAITED_SECONDS + 1
    assert seconds_of(member, hosts=100) == AWAITED_SECONDS + 2


@pytest.mark.parametrize(
    ("hosts", "cluster", "seconds"),
    [
        (3, {}, 60),
        (2, {}, SOON_SECONDS),
        (2, {"status": ClusterStatus.INSTALLING}, 60),
        (2, {"control_plane_count": 2}, 60),
    ],
)
def test_while_hosts_are_missing_the_others_keep_asking(hosts: int, cluster: dict[str, Any], seconds: int) -> None:
    assert seconds_of(host_state(1, peers=range(1, hosts + 1)), hosts=hosts, **cluster) == seconds


@pytest.mark.parametrize(("status", "seconds"), [(S.DISCOVERING, SOON_SECONDS), (S.DISCONNECTED, 60)])
def test_a_newcomer_keeps_the_others_awake_unless_it_is_gone(status: HostStatus, seconds: int) -> None:
    member, other = host_state(1, peers=(1, 2, 3)), host_state(2, peers=(1, 2, 3))
    newcomer = host_state(4, status=status, reports=NO_REPORTS)
    state = cluster_state(hosts=(member, other, host_state(3, peers=(1, 2, 3)), newcomer), cluster=a_cluster())
    assert plan_steps(state, member, policy=a_policy()).next_instruction_seconds == seconds


def test_one_node_waits_for_nobody() -> None:
    member = host_state(1, reports=some_reports(1, connectivity=None))
    assert seconds_of(member, hosts=1, control_plane_count=1) == 60


def test_the_usual_interval_is_a_setting_and_the_longest() -> None:
    policy = {"poll_seconds": 1}
    assert seconds_of(host_state(1), policy=policy) == 1
    assert seconds_of(host_state(1, reports=some_reports(1, connectivity=None)), policy=policy) == 1
    assert seconds_of(host_state(1, status=S.INSTALLING), policy=policy) == 1
    assert seconds_of(host_state(1, status=S.DISCONNECTED), policy=policy) == 2


def test_preparation_slows_down_once_everything_is_measured() -> None:
    images = dict.fromkeys((a_cluster().release_image, a_policy().installer_image), ImageStatus(success=True))
    disk = a_host_disk(host_state(1).host)
    reports = some_reports(1, disk_speeds={disk: DiskSpeed(speed_ms=1)}, images=images)
    assert seconds_of(host_state(1, status=S.PREPARING_FOR_INSTALLATION, reports=reports)) == SOON_SECONDS


def a_host_disk(host: Host) -> str:
    return host.installation_disk_id


def test_logs_are_asked_for_once() -> None:
    member = host_state(1, status=S.ERROR, logs_collected_at=NOW)
    assert shown(planned(member))[0] == ["stop-installation"]


def test_the_neighbourhood_may_be_shared() -> None:
    state = cluster_state()
    shared = neighbourhood_of(state)
    for member in state.hosts:
        alone = plan_steps(state, member, policy=a_policy())
        assert plan_steps(state, member, policy=a_policy(), neighbourhood=shared) == alone


def test_large_clusters_need_not_repeat_the_peers() -> None:
    state = cluster_state()
    shared = neighbourhood_of(state)
    plan = plan_steps(state, state.hosts[0], policy=a_policy(), neighbourhood=shared, inline_peers=False)
    assert plan.steps[0].args == (shared.digest,)
    lonely = cluster_state(hosts=(host_state(1),))
    steps = plan_steps(lonely, lonely.hosts[0], policy=a_policy(), inline_peers=False).steps
    assert T.CONNECTIVITY_CHECK not in {step.type for step in steps}


def test_peers_that_cannot_answer_are_not_asked_for() -> None:
    hosts = (
        host_state(1),
        host_state(2, status=S.DISCOVERING),
        host_state(3, status=S.DISCONNECTED),
        host_state(4, reports=NO_REPORTS),
        host_state(5, role=HostRole.WORKER),
    )
    state = cluster_state(hosts=hosts, cluster=a_cluster())
    assert set(neighbourhood_of(state).spans) == {hosts[0].host.id, hosts[4].host.id}
    peers = json.loads(plan_steps(state, hosts[0], policy=a_policy()).steps[0].args[0])
    assert [peer["host_id"] for peer in peers] == [str(hosts[4].host.id)]


def test_equal_facts_give_equal_plans() -> None:
    state = cluster_state()
    member = state.hosts[0]
    later = replace(member, presence=a_presence(checked_in_at=NOW, clock_offset_seconds=3.0))
    assert plan_steps(state, member, policy=a_policy()) == plan_steps(state, later, policy=a_policy())


def test_packed_ids_are_cut_at_their_borders_only() -> None:
    """An id that shows up across two others is not one of them."""
    first, second = UUID(bytes=b"a" * 8 + b"b" * 8), UUID(bytes=b"c" * 8 + b"d" * 8)
    across = UUID(bytes=b"b" * 8 + b"c" * 8)
    packed = Neighbourhood(packed=first.bytes + second.bytes)
    assert packed.packed_without(across) == first.bytes + second.bytes
    assert packed.packed_without(second) == first.bytes
    both = Neighbourhood(packed=first.bytes + across.bytes + second.bytes)
    assert both.packed_without(across) == first.bytes + second.bytes


def test_where_nobody_else_can_be_reached_everybody_was_seen() -> None:
    member = host_state(1, reports=NO_REPORTS)
    assert has_seen_all(member, neighbourhood=Neighbourhood())
