"""Registration in every status, new and again."""

from typing import Any

import pytest

from firstlight.core.commands.registration import register_again, register_new
from firstlight.core.decision import Decision
from firstlight.core.errors import Conflict, Invalid
from firstlight.core.model.cluster import Preparation
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus, PreparationStatus
from firstlight.core.model.host import Host, HostState, Progress
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus, LogsState, MediaStatus, Stage
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import ReportKind
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id

S, C = HostStatus, ClusterStatus
DAY_TWO = {"kind": ClusterKind.ADD_HOSTS, "status": C.ADDING_HOSTS}
KEY = (INFRA_ENV_ID, host_id(1))
OPEN = {C.INSUFFICIENT, C.READY, C.PENDING_FOR_INPUT, C.ADDING_HOSTS}


def new(cluster: dict[str, Any] | None = None, **infra_env: Any) -> Host:
    decision = register_new(
        host_id(1),
        infra_env=an_infra_env(**infra_env),
        cluster=None if cluster is None else a_cluster(**cluster),
        now=NOW,
        user_name="jo",
    )
    assert [change.event.name for change in decision.changes] == ["host_registration_succeeded"]
    return decision.hosts[KEY]


def again(status: HostStatus, *, cluster: dict[str, Any] | None = None, **host: Any) -> Decision:
    known = host_state(1, status=status, **host)
    return register_again(known, infra_env=an_infra_env(), cluster=a_cluster(**cluster or {}), policy=Policy(), now=NOW)


def test_a_new_host_of_a_cluster_is_discovering() -> None:
    host = new({})
    assert (host.status, host.role, host.kind, host.bootstrap) == (S.DISCOVERING, HostRole.AUTO_ASSIGN, "Host", False)
    assert (host.cluster_id, host.registered_at, host.user_name) == (CLUSTER_ID, NOW, "jo")


def test_a_new_host_without_cluster_waits_in_the_pool() -> None:
    host = new(cluster_id=None)
    assert (host.status, host.cluster_id, host.role) == (S.DISCOVERING_UNBOUND, None, HostRole.AUTO_ASSIGN)


def test_the_only_node_is_master_and_bootstrap() -> None:
    host = new({"control_plane_count": 1})
    assert (host.role, host.suggested_role, host.bootstrap) == (HostRole.MASTER, HostRole.MASTER, True)


def test_a_day_two_host_is_a_worker() -> None:
    host = new(DAY_TWO)
    assert (host.kind, host.role, host.machine_config_pool_name) == (HostKind.DAY_TWO, HostRole.WORKER, "worker")
    assert not host.bootstrap


@pytest.mark.parametrize("status", sorted(C))
def test_new_hosts_join_open_clusters_only(status: ClusterStatus) -> None:
    if status in OPEN:
        assert new({"status": status}).status is S.DISCOVERING
        return
    with pytest.raises(Conflict) as refusal:
        new({"status": status})
    assert ("Switch it to adding hosts" in str(refusal.value)) == (status is C.INSTALLED)


def test_disconnected_images_do_not_register() -> None:
    with pytest.raises(Invalid, match="disconnected images"):
        new({}, image_type="disconnected-iso")
    with pytest.raises(Invalid, match="disconnected images"):
        register_again(
            host_state(),
            infra_env=an_infra_env(image_type="disconnected-iso"),
            cluster=a_cluster(),
            policy=Policy(),
            now=NOW,
        )


FRESH = sorted({S.DISCOVERING, S.KNOWN, S.DISCONNECTED, S.INSUFFICIENT, S.PENDING_FOR_INPUT, S.BINDING,
                S.RESETTING_PENDING_USER_ACTION})  # fmt: skip
POOLED = sorted({S.DISCOVERING_UNBOUND, S.KNOWN_UNBOUND, S.INSUFFICIENT_UNBOUND, S.DISCONNECTED_UNBOUND, S.UNBINDING,
                 S.UNBINDING_PENDING_USER_ACTION, S.RECLAIMING_REBOOTING})  # fmt: skip
USED = {
    "progress": Progress(stage=Stage.REBOOTING, percentage=70),
    "logs": LogsState.COMPLETED,
    "logs_started_at": NOW,
    "logs_collected_at": NOW,
    "bootstrap": True,
    "media": MediaStatus.DISCONNECTED,
    "connection_timed_out": True,
    "requested_hostname": "node-1",
    "role": HostRole.MASTER,
    "installer_args": ("--append-karg", "a=b"),
}


@pytest.mark.parametrize("status", FRESH + POOLED)
def test_a_host_that_comes_again_may_be_another_machine(status: HostStatus) -> None:
    decision = again(status, **USED)
    host = decision.hosts[KEY]
    assert host.status is (S.DISCOVERING if status in FRESH else S.DISCOVERING_UNBOUND)
    assert host.progress == Progress()
    assert (host.logs, host.logs_started_at, host.logs_collected_at) == (LogsState.NONE, None, None)
    assert (host.bootstrap, host.media, host.connection_timed_out) == (False, MediaStatus.CONNECTED, False)
    assert decision.dropped_reports[KEY] == {ReportKind.INVENTORY, ReportKind.IMAGES, ReportKind.NTP}
    # What the user said about the machine stays.
    assert (host.requested_hostname, host.role) == ("node-1", HostRole.MASTER)
    assert host.installer_args == USED["installer_args"]
    assert host.registered_at == NOW
    assert decision.cluster is None


@pytest.mark.parametrize("status", [S.PREPARING_FOR_INSTALLATION, S.PREPARING_SUCCESSFUL])
def test_a_restart_during_preparation_voids_the_preparation(status: HostStatus) -> None:
    cluster = {
        "status": C.PREPARING_FOR_INSTALLATION,
        "preparation": Preparation(status=PreparationStatus.SUCCESS, attempt=3),
    }
    decision = again(status, cluster=cluster, bootstrap=True)
    host = decision.hosts[KEY]
    assert (host.status, host.bootstrap) == (S.KNOWN, True)
    assert decision.dropped_reports[KEY] == {ReportKind.IMAGES, ReportKind.NTP}
    assert decision.cluster is not None
    assert decision.cluster.preparation.status is PreparationStatus.NOT_STARTED
    assert decision.cluster.preparation.attempt == 4
    assert [(effect.kind, effect.attempt) for effect in decision.effects] == [("prepare-installation", 4)]


@pytest.mark.parametrize(
    ("status", "stage", "kind"),
    [
        (S.INSTALLING_IN_PROGRESS, Stage.REBOOTING, HostKind.HOST),
        (S.INSTALLING_IN_PROGRESS, Stage.REBOOTING, HostKind.DAY_TWO),
        (S.INSTALLING_IN_PROGRESS, Stage.DONE, HostKind.DAY_TWO),
        (S.ADDED_TO_EXISTING_CLUSTER, Stage.REBOOTING, HostKind.DAY_TWO),
        (S.ADDED_TO_EXISTING_CLUSTER, Stage.DONE, HostKind.DAY_TWO),
    ],
)
def test_the_wrong_boot_order_asks_for_its_user(status: HostStatus, stage: Stage, kind: HostKind) -> None:
    decision = again(status, progress=Progress(stage=stage), kind=kind)
    host = decision.hosts[KEY]
    assert host.status is S.INSTALLING_PENDING_USER_ACTION
    assert "Correct the boot order" in host.status_info
    assert "(sda, /dev/disk/by-id/" in host.status_info
    assert host.progress.stage is stage
    assert not decision.dropped_reports
    waiting = host_state(host=host)
    with pytest.raises(Invalid, match="must boot from its installation disk") as refusal:
        register_again(waiting, infra_env=an_infra_env(), cluster=a_cluster(), policy=Policy(), now=NOW)
    assert refusal.value.code == "wrong-boot-order"


def test_the_disk_to_boot_from_is_told_without_an_inventory() -> None:
    known = host_state(1, status=S.INSTALLING_IN_PROGRESS, progress=Progress(stage=Stage.REBOOTING))
    bare = HostState(host=known.host)
    decision = register_again(bare, infra_env=an_infra_env(), cluster=a_cluster(), policy=Policy(), now=NOW)
    assert "reboot it from disk (sda, " in decision.hosts[KEY].status_info


@pytest.mark.parametrize(
    ("status", "stage"),
    [
        (S.INSTALLING, None),
        (S.INSTALLING, Stage.REBOOTING),
        (S.INSTALLING_IN_PROGRESS, Stage.WRITING_IMAGE),
        (S.INSTALLING_IN_PROGRESS, Stage.DONE),
    ],
)
def test_a_restart_during_installation_is_an_error(status: HostStatus, stage: Stage | None) -> None:
    decision = again(status, progress=Progress(stage=stage))
    assert decision.hosts[KEY].status is S.ERROR
    assert "restarted unexpectedly" in decision.hosts[KEY].status_info


def test_a_failed_host_is_welcome_and_stays_failed() -> None:
    host = again(S.ERROR, status_info="disk died").hosts[KEY]
    assert (host.status, host.status_info, host.registered_at) == (S.ERROR, "disk died", NOW)


@pytest.mark.parametrize(("stage", "after"), [(Stage.REBOOTING, S.RESETTING), (None, S.DISCOVERING)])
def test_the_legacy_reset_ends_with_the_discovery_image(stage: Stage | None, after: HostStatus) -> None:
    decision = again(S.RESETTING, progress=Progress(stage=stage))
    assert decision.hosts[KEY].status is after
    assert (KEY in decision.dropped_reports) == (after is S.DISCOVERING)


def test_an_installed_host_is_ignored() -> None:
    with pytest.raises(Conflict, match="booted the discovery image again"):
        again(S.INSTALLED)


@pytest.mark.parametrize(
    "status",
    [
        S.PREPARING_FAILED,
        S.CANCELLED,
        S.RECLAIMING,
        S.DISABLED,
        S.DISABLED_UNBOUND,
        S.INSTALLING_PENDING_USER_ACTION,
        S.ADDED_TO_EXISTING_CLUSTER,
    ],
)
def test_elsewhere_the_agent_is_told_to_ask_again(status: HostStatus) -> None:
    """Not a conflict: agents give up for good on one."""
    with pytest.raises(Invalid, match="cannot register in this state"):
        again(status)


def test_every_status_has_its_answer() -> None:
    """The tables above leave no status out."""
    spoken = {*FRESH, *POOLED, S.PREPARING_FOR_INSTALLATION, S.PREPARING_SUCCESSFUL, S.INSTALLING, S.ERROR, S.RESETTING,
              S.INSTALLING_IN_PROGRESS, S.ADDED_TO_EXISTING_CLUSTER, S.INSTALLED, S.PREPARING_FAILED, S.CANCELLED,
              S.RECLAIMING, S.DISABLED, S.DISABLED_UNBOUND, S.INSTALLING_PENDING_USER_ACTION}  # fmt: skip
    assert spoken == set(HostStatus)


def test_a_host_bound_from_the_pool_learns_its_place() -> None:
    auto = {"role": HostRole.AUTO_ASSIGN, "suggested_role": None}
    day_two = again(S.BINDING, cluster=DAY_TWO, **auto).hosts[KEY]
    assert (day_two.kind, day_two.role, day_two.machine_config_pool_name) == (
        HostKind.DAY_TWO,
        HostRole.WORKER,
        "worker",
    )
    only = again(S.BINDING, cluster={"control_plane_count": 1}, **auto).hosts[KEY]
    assert (only.role, only.bootstrap) == (HostRole.MASTER, True)
    chosen = again(S.BINDING, cluster=DAY_TWO, role=HostRole.MASTER).hosts[KEY]
    assert (chosen.kind, chosen.role) == (HostKind.DAY_TWO, HostRole.MASTER)
    again_only = again(S.KNOWN, cluster={"control_plane_count": 1}, role=HostRole.MASTER).hosts[KEY]
    assert again_only.bootstrap
