"""What users and agents do to clusters and hosts, in every status."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.commands import actions
from firstlight.core.commands.progress import report_host_progress
from firstlight.core.decision import Decision, applied
from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.hosts.triggers import HostTrigger
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus
from firstlight.core.model.host import Host, Progress
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus, MediaStatus, Stage
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import ImageStatus, ReportKind
from tests.builders.clusters import a_cluster, an_infra_env, cluster_state
from tests.builders.hosts import a_pool_host, host_state, some_reports
from tests.builders.inventories import an_inventory
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id

S, C = HostStatus, ClusterStatus
KEY = (INFRA_ENV_ID, host_id(1))
POLICY = Policy()
POOL = {S.DISCOVERING_UNBOUND, S.KNOWN_UNBOUND, S.INSUFFICIENT_UNBOUND, S.DISCONNECTED_UNBOUND, S.DISABLED_UNBOUND,
        S.UNBINDING, S.UNBINDING_PENDING_USER_ACTION, S.RECLAIMING, S.RECLAIMING_REBOOTING}  # fmt: skip
IN_CLUSTER = sorted(set(S) - POOL)


def events(decision: Decision) -> list[str]:
    return [change.event.name for change in decision.changes]


def a_state(status: HostStatus = S.KNOWN, *, cluster: dict[str, Any] | None = None, **host: Any) -> ClusterState:
    hosts = [host_state(number, status=status, **host) for number in (1, 2, 3)]
    return cluster_state(hosts=hosts, **cluster or {})


# --- install ----------------------------------------------------------------------------------------------------------


def test_suggestions_become_roles() -> None:
    state = cluster_state(
        hosts=[
            host_state(1, suggested_role=HostRole.ARBITER),
            host_state(2, role=HostRole.WORKER),
            host_state(3, suggested_role=None),
        ]
    )
    fixed = actions.fix_roles(state, now=NOW)
    assert {key: host.role for key, host in fixed.hosts.items()} == {KEY: HostRole.ARBITER}


@pytest.mark.parametrize("status", sorted(C))
def test_only_a_ready_cluster_is_installed(status: ClusterStatus) -> None:
    state = a_state(cluster={"status": status, "status_info": "so and so"})
    if status is not C.READY:
        with pytest.raises(Conflict, match="^Cluster is not ready for installation.*so and so because$"):
            actions.install_cluster(state, policy=POLICY, now=NOW, why_not="because")
        return
    decision = actions.install_cluster(state, policy=POLICY, now=NOW, why_not="")
    assert decision.cluster is not None
    assert decision.cluster.status is C.PREPARING_FOR_INSTALLATION
    assert [effect.subject for effect in decision.effects] == [f"cluster:{CLUSTER_ID}"]
    (bootstrap,) = decision.hosts.values()
    assert (bootstrap.id, bootstrap.bootstrap) == (host_id(3), True)
    assert events(decision) == ["cluster_status_updated", "host_bootstrap_set"]


def test_the_bootstrap_host_of_before_is_kept() -> None:
    state = cluster_state(hosts=[host_state(1, bootstrap=True), host_state(2), host_state(3)])
    decision = actions.install_cluster(state, policy=POLICY, now=NOW, why_not="")
    assert decision.hosts == {}
    assert "host_bootstrap_set" not in events(decision)


def test_without_a_master_there_is_no_bootstrap() -> None:
    with pytest.raises(Conflict, match="no control-plane host"):
        actions.install_cluster(a_state(role=HostRole.WORKER), policy=POLICY, now=NOW, why_not="")


@pytest.mark.parametrize("ignored", ["ignored_host_validations", "ignored_cluster_validations"])
def test_waived_checks_are_told(ignored: str) -> None:
    state = a_state(cluster={ignored: ("all",)})
    assert "validations_ignored" in events(actions.install_cluster(state, policy=POLICY, now=NOW, why_not=""))


@pytest.mark.parametrize("good", [True, False])
def test_images_that_could_not_be_pulled_are_tried_again(good: bool) -> None:
    reports = some_reports(images={"a": ImageStatus(success=True), "b": ImageStatus(success=good)})
    state = cluster_state(hosts=[host_state(1, reports=reports), host_state(2), host_state(3)])
    decision = actions.install_cluster(state, policy=POLICY, now=NOW, why_not="")
    assert decision.dropped_reports == ({} if good else {KEY: frozenset({ReportKind.IMAGES})})


# --- cancel and reset -------------------------------------------------------------------------------------------------

CANCELLED_FROM = {C.INSTALLING, C.INSTALLING_PENDING_USER_ACTION, C.ERROR, C.FINALIZING}
RESET_FROM = CANCELLED_FROM | {C.PREPARING_FOR_INSTALLATION, C.CANCELLED}
AFTER_CANCEL = {
    S.INSTALLING: S.CANCELLED,
    S.INSTALLING_IN_PROGRESS: S.CANCELLED,
    S.INSTALLING_PENDING_USER_ACTION: S.CANCELLED,
    S.INSTALLED: S.CANCELLED,
    S.ERROR: S.CANCELLED,
    S.PREPARING_FOR_INSTALLATION: S.KNOWN,
    S.PREPARING_SUCCESSFUL: S.KNOWN,
    S.PREPARING_FAILED: S.KNOWN,
}


@pytest.mark.parametrize("status", sorted(C))
def test_cancel_in_every_status_of_the_cluster(status: ClusterStatus) -> None:
    state = a_state(S.INSTALLING, cluster={"status": status})
    if status not in CANCELLED_FROM | {C.PREPARING_FOR_INSTALLATION}:
        with pytest.raises(Conflict, match="cannot cancel in this state"):
            actions.cancel(state, policy=POLICY, now=NOW)
        return
    decision = actions.cancel(state, policy=POLICY, now=NOW)
    assert decision.cluster is not None
    assert decision.cluster.status is (C.CANCELLED if status in CANCELLED_FROM else C.READY)
    assert events(decision).count("host_installation_cancelled") == 3
    assert "cluster_installation_canceled" in events(decision)


@pytest.mark.parametrize("status", IN_CLUSTER)
def test_no_host_stops_a_cancel(status: HostStatus) -> None:
    state = a_state(status, cluster={"status": C.ERROR})
    after = applied(state, actions.cancel(state, policy=POLICY, now=NOW))
    assert {host.host.status for host in after.hosts} == {AFTER_CANCEL.get(status, status)}
    assert after.cluster.status is C.CANCELLED


@pytest.mark.parametrize("command", [actions.cancel, actions.reset])
def test_what_went_on_beneath_a_failure_is_over(command: Callable[..., Decision]) -> None:
    """Or a late word of its installer would make a cancelled host fail."""
    state = a_state(S.ERROR, cluster={"status": C.ERROR}, kept_status=S.INSTALLING_IN_PROGRESS)
    after = applied(state, command(state, policy=POLICY, now=NOW))
    assert {host.host.kept_status for host in after.hosts} == {None}
    with pytest.raises(Conflict, match="progress is taken only while it installs"):
        report_host_progress(after.hosts[0], stage=Stage.FAILED, info="", cluster=after.cluster, policy=POLICY, now=NOW)


@pytest.mark.parametrize("status", sorted(C))
def test_reset_in_every_status_of_the_cluster(status: ClusterStatus) -> None:
    state = a_state(S.INSTALLING, cluster={"status": status}, bootstrap=True)
    if status not in RESET_FROM:
        with pytest.raises(Conflict, match="cannot reset in this state"):
            actions.reset(state, policy=POLICY, now=NOW)
        return
    after = applied(state, actions.reset(state, policy=POLICY, now=NOW))
    assert after.cluster.status is C.INSUFFICIENT
    assert not any(host.host.bootstrap for host in after.hosts)


@pytest.mark.parametrize("status", IN_CLUSTER)
def test_no_host_stops_a_reset(status: HostStatus) -> None:
    progress = Progress(stage=Stage.REBOOTING)
    state = a_state(status, cluster={"status": C.ERROR}, progress=progress)
    decision = actions.reset(state, policy=POLICY, now=NOW)
    after = applied(state, decision)
    kept = status in (S.BINDING, S.DISABLED)
    assert {host.host.status for host in after.hosts} == {status if kept else S.RESETTING_PENDING_USER_ACTION}
    # The stage shows what was until the discovery image runs again.
    assert {host.host.progress for host in after.hosts} == {progress}
    assert events(decision).count("host_installation_reset") == (0 if kept else 3)


# --- day 2 ------------------------------------------------------------------------------------------------------------

DAY_TWO = a_cluster(kind=ClusterKind.ADD_HOSTS, status=C.ADDING_HOSTS)


@pytest.mark.parametrize("status", sorted(S))
def test_a_known_day_two_host_is_installed(status: HostStatus) -> None:
    state = host_state(1, status=status, kind=HostKind.DAY_TWO, suggested_role=HostRole.WORKER)
    if status is not S.KNOWN:
        with pytest.raises(Conflict, match="cannot install"):
            actions.install_day_two_host(state, cluster=DAY_TWO, policy=POLICY, now=NOW)
        return
    decision = actions.install_day_two_host(state, cluster=DAY_TWO, policy=POLICY, now=NOW)
    host = decision.hosts[KEY]
    assert (host.status, host.role) == (S.INSTALLING, HostRole.WORKER)
    assert "host_installation_started" in events(decision)


def test_day_one_hosts_are_installed_and_reset_with_their_cluster() -> None:
    for command in (actions.install_day_two_host, actions.reset_day_two_host):
        with pytest.raises(Conflict, match="the cluster instead"):
            command(host_state(), cluster=a_cluster(), policy=POLICY, now=NOW)
    with pytest.raises(NotFound, match="Bind it to one first"):
        actions.install_day_two_host(host_state(kind=HostKind.DAY_TWO), cluster=None, policy=POLICY, now=NOW)


def test_a_role_somebody_chose_stays_on_day_two() -> None:
    state = host_state(1, kind=HostKind.DAY_TWO, role=HostRole.MASTER)
    host = actions.install_day_two_host(state, cluster=DAY_TWO, policy=POLICY, now=NOW).hosts[KEY]
    assert host.role is HostRole.MASTER


def test_a_day_two_host_is_reset_alone() -> None:
    state = host_state(1, status=S.ADDED_TO_EXISTING_CLUSTER, kind=HostKind.DAY_TWO)
    decision = actions.reset_day_two_host(state, cluster=DAY_TWO, policy=POLICY, now=NOW)
    assert decision.hosts[KEY].status is S.RESETTING_PENDING_USER_ACTION


@pytest.mark.parametrize("status", sorted(C))
def test_only_an_installed_cluster_is_switched_to_adding_hosts(status: ClusterStatus) -> None:
    cluster = a_cluster(status=status)
    if status is not C.INSTALLED:
        with pytest.raises(Invalid, match="only an installed cluster"):
            actions.transform_to_adding_hosts(cluster, now=NOW, info="")
        return
    decision = actions.transform_to_adding_hosts(cluster, now=NOW, info="come in")
    assert decision.cluster is not None
    assert (decision.cluster.kind, decision.cluster.status) == (ClusterKind.ADD_HOSTS, C.ADDING_HOSTS)
    assert (decision.cluster.api_vip_dns_name, decision.cluster.status_info) == ("192.0.2.5", "come in")
    assert events(decision) == ["cluster_status_updated"]


@pytest.mark.parametrize("changes", [{"user_managed_networking": True}, {"api_vips": ()}])
def test_without_a_vip_the_cluster_is_found_by_name(changes: dict[str, Any]) -> None:
    decision = actions.transform_to_adding_hosts(a_cluster(status=C.INSTALLED, **changes), now=NOW, info="")
    assert decision.cluster is not None
    assert decision.cluster.api_vip_dns_name == "api.east.example.com"


def test_a_grown_cluster_is_not_switched_twice() -> None:
    with pytest.raises(Invalid, match="only an installed cluster"):
        actions.transform_to_adding_hosts(replace(DAY_TWO, status=C.INSTALLED), now=NOW, info="")


# --- bind and unbind --------------------------------------------------------------------------------------------------


def bind(host: Host | None = None, *, cluster: dict[str, Any] | None = None, **reports: Any) -> Decision:
    state = host_state(1, host=a_pool_host() if host is None else host, reports=some_reports(**reports))
    return actions.bind(state, cluster=a_cluster(**cluster or {}), policy=POLICY, now=NOW)


def test_binding_waits_for_the_agent_to_come_back() -> None:
    decision = bind(a_pool_host(progress=Progress(stage=Stage.DONE), bootstrap=True))
    host = decision.hosts[KEY]
    assert (host.status, host.cluster_id, host.progress, host.bootstrap) == (S.BINDING, CLUSTER_ID, Progress(), False)
    assert decision.dropped_reports[KEY] == {ReportKind.INVENTORY, ReportKind.IMAGES}
    assert events(decision) == ["host_bind_succeeded", "host_status_updated"]


@pytest.mark.parametrize("status", sorted(POOL - {S.KNOWN_UNBOUND}))
def test_only_hosts_ready_in_the_pool_are_bound(status: HostStatus) -> None:
    with pytest.raises(Conflict, match="cannot bind in this state"):
        bind(a_pool_host(status=status))


def test_a_bound_host_is_not_bound_again() -> None:
    with pytest.raises(Conflict, match="already"):
        bind(a_pool_host(cluster_id=CLUSTER_ID))


@pytest.mark.parametrize("status", sorted(C))
def test_hosts_are_bound_to_open_clusters_only(status: ClusterStatus) -> None:
    if status in {C.INSUFFICIENT, C.READY, C.PENDING_FOR_INPUT, C.ADDING_HOSTS}:
        assert bind(cluster={"status": status}).hosts[KEY].status is S.BINDING
    else:
        with pytest.raises(Conflict, match="takes no further hosts"):
            bind(cluster={"status": status})


@pytest.mark.parametrize(
    ("have", "want", "fits"),
    [
        ("x86_64", "x86_64", True),
        ("amd64", "x86_64", True),
        ("aarch64", "arm64", True),
        ("aarch64", "x86_64", False),
        ("s390x", "multi", True),
        ("", "x86_64", True),
    ],
)
def test_the_processor_must_fit(have: str, want: str, fits: bool) -> None:
    inventory = an_inventory(architecture=have)
    if fits:
        assert bind(cluster={"cpu_architecture": want}, inventory=inventory).hosts[KEY].status is S.BINDING
    else:
        with pytest.raises(Invalid, match="of type arm64"):
            bind(cluster={"cpu_architecture": want}, inventory=inventory)
    assert bind(cluster={"cpu_architecture": want}, inventory=None).hosts[KEY].status is S.BINDING


BEFORE = {S.KNOWN, S.DISCOVERING, S.DISCONNECTED, S.INSUFFICIENT, S.PENDING_FOR_INPUT}
INSTALLING = {S.PREPARING_FOR_INSTALLATION, S.PREPARING_FAILED, S.PREPARING_SUCCESSFUL, S.INSTALLING,
              S.INSTALLING_IN_PROGRESS, S.INSTALLING_PENDING_USER_ACTION}  # fmt: skip
OVER = {S.INSTALLED, S.ADDED_TO_EXISTING_CLUSTER, S.ERROR, S.CANCELLED, S.RESETTING_PENDING_USER_ACTION}
OF_THE_CLUSTER = {
    "role": HostRole.MASTER,
    "bootstrap": True,
    "machine_config_pool_name": "infra",
    "progress": Progress(stage=Stage.DONE),
    "kind": HostKind.DAY_TWO,
    "connection_timed_out": True,
}


@pytest.mark.parametrize("status", IN_CLUSTER)
def test_unbinding_in_every_status(status: HostStatus) -> None:
    state = host_state(1, status=status, requested_hostname="node-1", **OF_THE_CLUSTER)
    own = an_infra_env(cluster_id=None)
    if status not in BEFORE | OVER:
        with pytest.raises(Conflict) as refusal:
            actions.unbind(state, infra_env=own, cluster=a_cluster(), policy=POLICY, now=NOW)
        assert ("Cancel or reset" in str(refusal.value)) == (status in INSTALLING)
        return
    decision = actions.unbind(state, infra_env=own, cluster=a_cluster(), policy=POLICY, now=NOW)
    host = decision.hosts[KEY]
    assert host.status is (S.UNBINDING if status in BEFORE else S.UNBINDING_PENDING_USER_ACTION)
    assert (host.cluster_id, host.role, host.suggested_role, host.bootstrap) == (
        None,
        HostRole.AUTO_ASSIGN,
        None,
        False,
    )
    assert (host.kind, host.machine_config_pool_name, host.installation_disk_id) == (HostKind.HOST, "", "")
    assert (host.progress, host.connection_timed_out) == (Progress(), False)
    assert host.requested_hostname == "node-1"
    assert ReportKind.CONNECTIVITY in decision.dropped_reports[KEY]
    assert events(decision) == ["host_unbind_succeeded", "host_status_updated"]


def test_hosts_of_a_cluster_s_own_infra_env_are_not_unbound() -> None:
    with pytest.raises(Conflict, match="Delete the host instead"):
        actions.unbind(host_state(), infra_env=an_infra_env(), cluster=a_cluster(), policy=POLICY, now=NOW)


RECLAIMED = (
    dict.fromkeys({S.INSTALLED, S.ADDED_TO_EXISTING_CLUSTER}, S.RECLAIMING)
    | dict.fromkeys(BEFORE, S.UNBINDING)
    | dict.fromkeys({S.ERROR, S.CANCELLED}, S.UNBINDING_PENDING_USER_ACTION)
)


@pytest.mark.parametrize("status", sorted(S))
def test_reclaiming_in_every_status(status: HostStatus) -> None:
    state = host_state(1, status=status)
    if status not in RECLAIMED:
        with pytest.raises(Conflict, match="cannot reclaim"):
            actions.leave(state, trigger=HostTrigger.RECLAIM, cluster=None, policy=POLICY, now=NOW)
        return
    decision = actions.leave(state, trigger=HostTrigger.RECLAIM, cluster=None, policy=POLICY, now=NOW)
    assert decision.hosts[KEY].status is RECLAIMED[status]
    assert decision.hosts[KEY].cluster_id is None


@pytest.mark.parametrize("arrived", [True, False])
@pytest.mark.parametrize("status", sorted(S))
def test_boot_artifacts_concern_only_hosts_that_are_reclaimed(status: HostStatus, arrived: bool) -> None:
    state = host_state(1, host=a_pool_host(status=status))
    decision = actions.boot_artifacts(state, arrived=arrived, cluster=None, policy=POLICY, now=NOW)
    concerned = {S.RECLAIMING} if arrived else {S.RECLAIMING, S.RECLAIMING_REBOOTING}
    if status not in concerned:
        assert decision == Decision()
        return
    after = S.RECLAIMING_REBOOTING if arrived else S.UNBINDING_PENDING_USER_ACTION
    assert decision.hosts[KEY].status is after


# --- what agents saw --------------------------------------------------------------------------------------------------

MEDIA_GONE = (
    dict.fromkeys(BEFORE | {S.BINDING}, S.DISCONNECTED)
    | dict.fromkeys(INSTALLING - {S.INSTALLING_PENDING_USER_ACTION} | {S.ERROR}, S.ERROR)
    | dict.fromkeys(
        {S.DISCOVERING_UNBOUND, S.KNOWN_UNBOUND, S.INSUFFICIENT_UNBOUND, S.DISCONNECTED_UNBOUND, S.UNBINDING},
        S.DISCONNECTED_UNBOUND,
    )
)


@pytest.mark.parametrize("status", sorted(S))
def test_a_medium_is_lost_in_every_status(status: HostStatus) -> None:
    state = host_state(1, status=status)
    decision = actions.media_gone(state, cluster=a_cluster(), policy=POLICY, now=NOW)
    if status not in MEDIA_GONE:
        assert decision == Decision()
        return
    host = decision.hosts[KEY]
    assert (host.status, host.media) == (MEDIA_GONE[status], MediaStatus.DISCONNECTED)
    assert "host_media_disconnected" in events(decision)
    again = actions.media_gone(replace(state, host=host), cluster=a_cluster(), policy=POLICY, now=NOW)
    assert again == Decision()
    back = actions.media_back(replace(state, host=host), now=NOW)
    assert back.hosts[KEY].media is MediaStatus.CONNECTED


def test_a_medium_that_was_never_lost_is_no_news() -> None:
    assert actions.media_back(host_state(), now=NOW) == Decision()


@pytest.mark.parametrize("status", sorted(S))
def test_a_failed_installer_fails_hosts_that_install(status: HostStatus) -> None:
    decision = actions.install_failed(host_state(1, status=status), cluster=a_cluster(), policy=POLICY, now=NOW)
    if status in {S.INSTALLING, S.INSTALLING_IN_PROGRESS}:
        assert decision.hosts[KEY].status is S.ERROR
    else:
        assert decision == Decision()


def test_a_check_is_made_again() -> None:
    decision = actions.retry_check(host_state(), kind=ReportKind.DISK_SPEEDS)
    assert decision == Decision(dropped_reports={KEY: frozenset({ReportKind.DISK_SPEEDS})})
