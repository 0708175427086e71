"""Failed hosts are tried again or replaced: what the cluster becomes, what goes on beneath, and when it is too late."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.commands.progress import report_host_progress
from firstlight.core.commands.registration import register_again
from firstlight.core.commands.retries import replace_host, retry_finding, retry_host
from firstlight.core.decision import Decision, applied, combined
from firstlight.core.errors import Conflict, NotFound
from firstlight.core.evaluate import Surroundings, evaluate_cluster
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus
from firstlight.core.model.host import HostState, NodeLabel, Progress
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus, LogsState, Stage
from firstlight.core.model.plan import Step, StepType
from firstlight.core.model.policy import Policy, Timeouts
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import a_pool_host, a_presence, host_state, some_reports
from tests.builders.inventories import an_inventory
from tests.builders.moments import INFRA_ENV_ID, NOW, host_id

S, C = HostStatus, ClusterStatus
POLICY = Policy()
MINUTE = timedelta(minutes=1)
BOOTSTRAP, MASTER, OTHER, WORKERS = 1, 2, 3, (4, 5)
FAR = NOW + timedelta(days=9)


def key(number: int) -> tuple[Any, Any]:
    return (INFRA_ENV_ID, host_id(number))


def member(number: int, status: HostStatus, stage: Stage | None, **changes: Any) -> HostState:
    progress = Progress() if stage is None else Progress(stage=stage, started_at=NOW, updated_at=NOW)
    usual: dict[str, Any] = {
        "role": HostRole.MASTER if number <= OTHER else HostRole.WORKER,
        "bootstrap": number == BOOTSTRAP,
        "status_updated_at": NOW,
        "requested_hostname": f"host-{number}",
    }
    presence = changes.pop("presence", a_presence(checked_in_at=FAR))
    all_changes = usual | {"status": status, "progress": progress} | changes
    return host_state(number, peers=range(1, 6), presence=presence, **all_changes)


def at_work(**failed: Any) -> ClusterState:
    """Three masters, of which the first bootstraps, and two workers; the second master has just failed."""
    hosts = [
        member(BOOTSTRAP, S.INSTALLING_IN_PROGRESS, Stage.WAITING_FOR_CONTROL_PLANE),
        member(MASTER, S.ERROR, Stage.WRITING_IMAGE, **{"status_info": "Failed - no space left"} | failed),
        member(OTHER, S.INSTALLING_IN_PROGRESS, Stage.REBOOTING),
        *(member(number, S.INSTALLING_IN_PROGRESS, Stage.WAITING_FOR_CONTROL_PLANE) for number in WORKERS),
    ]
    return cluster_state(hosts=hosts, status=C.INSTALLING, status_updated_at=NOW, install_started_at=NOW)


def settled(state: ClusterState, *, policy: Policy = POLICY, now: datetime = NOW) -> ClusterState:
    return applied(state, evaluate_cluster(state, Surroundings(policy=policy, now=now)))


def failed_cluster(**changes: Any) -> ClusterState:
    state = settled(at_work())
    return replace(state, cluster=replace(state.cluster, **changes)) if changes else state


def statuses(state: ClusterState) -> dict[int, HostStatus]:
    return {host.host.id.int & 0xFF: host.host.status for host in state.hosts}


def steps(state: ClusterState, number: int) -> set[StepType]:
    found = next(host for host in state.hosts if host.host.id == host_id(number))
    assert found.plan is not None
    return {step.type for step in found.plan.steps}


def install_step(state: ClusterState) -> Step:
    plan = numbered(state, MASTER).plan
    assert plan is not None
    return next(step for step in plan.steps if step.type is StepType.INSTALL)


def numbered(state: ClusterState, number: int) -> HostState:
    return next(host for host in state.hosts if host.host.id == host_id(number))


def changed(state: ClusterState, number: int, **changes: Any) -> ClusterState:
    hosts = tuple(
        replace(host, host=replace(host.host, **changes)) if host.host.id == host_id(number) else host
        for host in state.hosts
    )
    return replace(state, hosts=hosts)


def retried(state: ClusterState, number: int = MASTER, *, now: datetime = NOW) -> tuple[ClusterState, Decision]:
    decision = retry_host(state, key(number), policy=POLICY, now=now)
    middle = applied(state, decision)
    followed = evaluate_cluster(middle, Surroundings(policy=POLICY, now=now))
    return applied(middle, followed), combined(decision, followed)


# --- nobody tries again -----------------------------------------------------------------------------------------------


def test_a_failed_master_fails_the_cluster_and_only_that_one_is_stopped() -> None:
    state = settled(at_work())
    assert state.cluster.status is C.ERROR
    assert set(statuses(state).values()) == {S.ERROR}
    assert StepType.STOP_INSTALLATION in steps(state, MASTER)
    for number in (BOOTSTRAP, *WORKERS):
        assert steps(state, number) == {StepType.LOGS_GATHER}
    later = settled(state, now=NOW + 60 * MINUTE - timedelta(seconds=1))
    assert StepType.STOP_INSTALLATION not in steps(later, BOOTSTRAP)
    late = settled(later, now=NOW + 60 * MINUTE)
    for number in (BOOTSTRAP, MASTER, *WORKERS):
        assert StepType.STOP_INSTALLATION in steps(late, number)
    with pytest.raises(Conflict, match="bootstrap host runs, and that one failed as well, or was stopped"):
        retry_host(late, key(MASTER), policy=POLICY, now=NOW + 60 * MINUTE)


def test_a_failed_bootstrap_stops_everybody_at_once() -> None:
    state = changed(at_work(), MASTER, status=S.INSTALLING_IN_PROGRESS)
    state = settled(changed(state, BOOTSTRAP, status=S.ERROR))
    assert state.cluster.status is C.ERROR
    assert all(StepType.STOP_INSTALLATION in steps(state, number) for number in (BOOTSTRAP, MASTER, *WORKERS))


def test_the_cluster_may_be_told_to_wait_before_it_fails() -> None:
    policy = Policy(timeouts=Timeouts(host_retry_grace=10 * MINUTE))
    waiting = settled(at_work(), policy=policy)
    assert waiting.cluster.status is C.INSTALLING
    assert "host-2" in waiting.cluster.status_info
    assert settled(waiting, policy=policy, now=NOW + 10 * MINUTE).cluster.status is C.ERROR


# --- somebody tries again ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", [C.INSTALLING, C.ERROR])
def test_a_retry_brings_everything_back(cluster: ClusterStatus) -> None:
    state = failed_cluster() if cluster is C.ERROR else at_work()
    after, decision = retried(state)
    assert after.cluster.status is C.INSTALLING
    assert after.cluster.install_completed_at is None
    assert statuses(after) == {
        BOOTSTRAP: S.INSTALLING_IN_PROGRESS,
        MASTER: S.INSTALLING,
        OTHER: S.INSTALLING_IN_PROGRESS,
        **dict.fromkeys(WORKERS, S.INSTALLING_IN_PROGRESS),
    }
    host = numbered(after, MASTER).host
    assert (host.progress, host.tries, host.logs) == (Progress(), 1, LogsState.NONE)
    assert StepType.INSTALL in steps(after, MASTER)
    assert [numbered(after, number).host.kept_status for number in range(1, 6)] == [None] * 5
    told = [change.event.name for change in decision.changes]
    assert "host_installation_retried" in told
    assert ("cluster_installation_resumed" in told) == (cluster is C.ERROR)


def test_a_second_failure_can_be_tried_again_and_its_step_is_another_one() -> None:
    after, _ = retried(failed_cluster())
    first = install_step(after)
    again = settled(changed(after, MASTER, status=S.ERROR, progress=Progress(stage=Stage.INSTALLING)))
    assert again.cluster.status is C.INSTALLING, "who tries again once is given time to do so once more"
    after, _ = retried(again)
    second = install_step(after)
    assert (first.tries, second.tries) == (1, 2)
    assert first.args == second.args


def test_what_went_on_beneath_the_failure_counts() -> None:
    state = failed_cluster()
    report = report_host_progress(
        numbered(state, OTHER), stage=Stage.CONFIGURING, info="", cluster=state.cluster, policy=POLICY, now=NOW
    )
    state = applied(state, report)
    assert statuses(state)[OTHER] is S.ERROR
    after, _ = retried(state)
    other = numbered(after, OTHER).host
    assert (other.status, other.progress.stage) == (S.INSTALLING_IN_PROGRESS, Stage.CONFIGURING)
    done = report_host_progress(
        numbered(state, OTHER), stage=Stage.DONE, info="", cluster=state.cluster, policy=POLICY, now=NOW
    )
    after, _ = retried(applied(state, done))
    assert statuses(after)[OTHER] is S.INSTALLED


def test_a_host_that_fails_beneath_has_failed_itself() -> None:
    state = failed_cluster()
    broken = numbered(state, OTHER)
    report = report_host_progress(
        broken, stage=Stage.FAILED, info="no disk", cluster=state.cluster, policy=POLICY, now=NOW
    )
    after, _ = retried(applied(state, report))
    assert statuses(after)[OTHER] is S.ERROR
    assert after.cluster.status is C.INSTALLING, "and the cluster waits until it is tried again, too"
    again, _ = retried(after, OTHER)
    assert statuses(again)[OTHER] is S.INSTALLING


def test_a_host_that_restarted_beneath_has_failed_itself() -> None:
    state = failed_cluster()
    restarted = register_again(
        numbered(state, WORKERS[0]), infra_env=an_infra_env(), cluster=state.cluster, policy=POLICY, now=NOW
    )
    after, _ = retried(applied(state, restarted))
    assert statuses(after)[WORKERS[0]] is S.ERROR
    lost = register_again(
        numbered(state, BOOTSTRAP), infra_env=an_infra_env(), cluster=state.cluster, policy=POLICY, now=NOW
    )
    with pytest.raises(Conflict, match="Reset the cluster"):
        retry_host(applied(state, lost), key(MASTER), policy=POLICY, now=NOW)


def test_a_silent_host_is_waited_for_until_it_boots() -> None:
    state = failed_cluster()
    old = NOW - timedelta(hours=1)
    hosts = tuple(
        replace(
            host, presence=a_presence(checked_in_at=old), host=replace(host.host, registered_at=old)
        ) if host.host.id == host_id(MASTER) else host
        for host in state.hosts
    )  # fmt: skip
    after, _ = retried(replace(state, hosts=hosts))
    assert statuses(after)[MASTER] is S.RESETTING_PENDING_USER_ACTION
    assert after.cluster.status is C.INSTALLING
    booted = register_again(
        numbered(after, MASTER), infra_env=an_infra_env(), cluster=after.cluster, policy=POLICY, now=NOW
    )
    seen = applied(after, booted)
    hosts = tuple(
        replace(host, presence=a_presence(checked_in_at=FAR), reports=some_reports(MASTER, peers=range(1, 6)))
        if host.host.id == host_id(MASTER)
        else host
        for host in seen.hosts
    )
    assert statuses(settled(replace(seen, hosts=hosts)))[MASTER] is S.INSTALLING
    gone = settled(after, now=NOW + 60 * MINUTE)
    assert numbered(gone, MASTER).host.status_info.startswith("Host was to be tried again")


def test_a_host_that_boots_before_its_agent_took_the_step_is_welcome() -> None:
    after, _ = retried(failed_cluster())
    booted = register_again(
        numbered(after, MASTER), infra_env=an_infra_env(), cluster=after.cluster, policy=POLICY, now=NOW
    )
    state = settled(applied(after, booted))
    assert statuses(state)[MASTER] is S.DISCOVERING
    assert state.cluster.status is C.INSTALLING


# --- too late, or never -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "changes", "cluster", "words"),
    [
        (BOOTSTRAP, {"status": S.ERROR}, {}, "bootstraps cluster east"),
        (OTHER, {}, {}, "is installing-in-progress; only a host that failed"),
        (MASTER, {"kind": HostKind.DAY_TWO}, {}, "joins a cluster that runs already"),
        (MASTER, {}, {"kind": ClusterKind.ADD_HOSTS}, "joins a cluster that runs already"),
        (MASTER, {}, {"control_plane_count": 1}, "is all there is"),
        (MASTER, {}, {"status": C.INSTALLED}, "only while its cluster installs"),
        (MASTER, {}, {"status": C.CANCELLED}, "only while its cluster installs"),
        (MASTER, {"kept_status": S.INSTALLING}, {}, "did not fail itself"),
        (OTHER, {"status": S.ERROR, "kept_status": S.INSTALLING}, {}, f"Try again host-{MASTER} instead"),
    ],
)
def test_refusals_say_why(number: int, changes: dict[str, Any], cluster: dict[str, Any], words: str) -> None:
    state = changed(at_work(), number, **changes)
    state = replace(state, cluster=replace(state.cluster, **cluster))
    with pytest.raises(Conflict, match=words):
        retry_host(state, key(number), policy=POLICY, now=NOW)


@pytest.mark.parametrize("stage", [Stage.REBOOTING, Stage.CONFIGURING, Stage.JOINED, Stage.DONE])
def test_a_master_needs_the_bootstrap_but_a_worker_does_not(stage: Stage) -> None:
    state = changed(at_work(), BOOTSTRAP, progress=Progress(stage=stage, started_at=NOW, updated_at=NOW))
    with pytest.raises(Conflict, match="has rebooted into the new cluster already"):
        retry_host(state, key(MASTER), policy=POLICY, now=NOW)
    state = changed(changed(state, MASTER, status=S.INSTALLED), WORKERS[0], status=S.ERROR)
    after, _ = retried(state, WORKERS[0])
    assert statuses(after)[WORKERS[0]] is S.INSTALLING


def test_a_silent_bootstrap_is_as_good_as_gone() -> None:
    state = at_work()
    old = NOW - timedelta(hours=1)
    first = replace(
        state.hosts[0], presence=a_presence(checked_in_at=old), host=replace(state.hosts[0].host, registered_at=old)
    )
    with pytest.raises(Conflict, match="has not been heard of lately"):
        retry_host(replace(state, hosts=(first, *state.hosts[1:])), key(MASTER), policy=POLICY, now=NOW)


def test_too_few_workers_fail_the_cluster_and_are_tried_again() -> None:
    state = changed(at_work(), MASTER, status=S.INSTALLED)
    state = changed(changed(state, BOOTSTRAP, status=S.INSTALLED), OTHER, status=S.INSTALLED)
    state = settled(changed(state, WORKERS[0], status=S.ERROR))
    assert state.cluster.status is C.ERROR
    after, _ = retried(state, WORKERS[0])
    assert after.cluster.status is C.INSTALLING
    assert statuses(after)[BOOTSTRAP] is S.INSTALLED


def test_a_cluster_that_failed_for_another_reason_is_not_saved() -> None:
    hosts = [member(number, S.INSTALLED, Stage.DONE) for number in (1, 2, 3, 4, 5)]
    hosts.append(member(6, S.ERROR, Stage.JOINED))
    state = settled(cluster_state(hosts=hosts, status=C.ERROR, status_updated_at=NOW))
    with pytest.raises(Conflict, match="too late to try host host-6 again"):
        retry_host(state, key(6), policy=POLICY, now=NOW)


def test_a_stranger_is_not_found() -> None:
    with pytest.raises(NotFound):
        retry_host(at_work(), key(77), policy=POLICY, now=NOW)


# --- what people read -------------------------------------------------------------------------------------------------


def test_the_finding_has_the_request_that_mends_it_or_says_why_there_is_none() -> None:
    state = failed_cluster()
    found = retry_finding(state, numbered(state, MASTER), policy=POLICY, now=NOW)
    assert found is not None
    assert [fix.path for fix in found.fixes] == ["/v1/infra-envs/{infra_env_id}/hosts/{host_id}/actions/retry"]
    assert found.message.startswith("Failed - no space left.")
    assert retry_finding(state, numbered(state, OTHER), policy=POLICY, now=NOW) is None
    late = changed(state, BOOTSTRAP, kept_status=None)
    refused = retry_finding(late, numbered(late, MASTER), policy=POLICY, now=NOW)
    assert refused is not None
    assert refused.fixes == ()
    assert "too late" in refused.message


# --- another machine --------------------------------------------------------------------------------------------------


def spare(number: int = 9, **changes: Any) -> HostState:
    return host_state(number, host=a_pool_host(number), presence=a_presence(checked_in_at=FAR), **changes)


@pytest.mark.parametrize("keep_name", [True, False])
def test_another_machine_takes_the_place(keep_name: bool) -> None:
    state = changed(failed_cluster(), MASTER, node_labels=(NodeLabel("rack", "7"),), machine_config_pool_name="infra")
    decision = replace_host(state, key(MASTER), spare(), keep_name=keep_name, policy=POLICY, now=NOW)
    old, new = decision.hosts[key(MASTER)], decision.hosts[key(9)]
    assert (old.status, old.cluster_id) == (S.UNBINDING_PENDING_USER_ACTION, None)
    assert (new.status, new.cluster_id, new.role, new.tries) == (S.BINDING, state.cluster.id, HostRole.MASTER, 1)
    assert new.requested_hostname == ("host-2" if keep_name else "")
    assert (new.node_labels, new.machine_config_pool_name) == ((NodeLabel("rack", "7"),), "infra")
    assert not new.bootstrap
    after = settled(applied(state, decision))
    assert after.cluster.status is C.INSTALLING
    assert statuses(after)[BOOTSTRAP] is S.INSTALLING_IN_PROGRESS
    assert "host_replaced" in [change.event.name for change in decision.changes]


def test_the_new_machine_installs_once_it_is_known_although_nobody_measures_its_way_to_others() -> None:
    state = failed_cluster()
    after = settled(applied(state, replace_host(state, key(MASTER), spare(), keep_name=True, policy=POLICY, now=NOW)))
    came = register_again(numbered(after, 9), infra_env=an_infra_env(), cluster=after.cluster, policy=POLICY, now=NOW)
    seen = applied(after, came)
    alone = replace(some_reports(9, peers=()), connectivity=None)
    hosts = tuple(
        replace(host, presence=a_presence(checked_in_at=FAR), reports=alone) if host.host.id == host_id(9) else host
        for host in seen.hosts
    )
    assert statuses(settled(replace(seen, hosts=hosts)))[9] is S.INSTALLING


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (member(8, S.KNOWN, None), "belongs to cluster"),
        (spare(status=S.INSUFFICIENT_UNBOUND), "insufficient-unbound"),
        (spare(reports=some_reports(9, inventory=an_inventory(9, architecture="aarch64"))), "processor of type arm64"),
    ],
)
def test_machines_that_do_not_fit_are_refused(machine: HostState, words: str) -> None:
    with pytest.raises(Exception, match=words):
        replace_host(failed_cluster(), key(MASTER), machine, keep_name=True, policy=POLICY, now=NOW)
