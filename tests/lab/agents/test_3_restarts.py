"""The service and agents are killed in the middle of everything: nothing is lost, and nothing is done twice."""

import json

import pytest
from assisted_service_client import models

from tests.lab.agents.hosts import Host, wait_for_step
from tests.lab.agents.laboratory import PLANS, READY, Laboratory
from tests.lab.agents.servers import until
from tests.lab.agents.watching import V1, wait_for, wait_for_statuses

pytestmark = pytest.mark.timeout(900)

REPEATABLE = (
    "inventory",
    "connectivity-check",
    "free-network-addresses",
    "ntp-synchronizer",
    "domain-resolution",
    "verify-vips",
)
LONG_SECONDS = 240.0
MET = "The service knows this machine."


def whole_again(laboratory: Laboratory) -> None:
    wait_for_statuses(laboratory.watcher, READY, seconds=LONG_SECONDS)
    wait_for(laboratory.watcher, {}, seconds=LONG_SECONDS)


def restart_service(laboratory: Laboratory) -> None:
    laboratory.start_service()
    laboratory.wait_for_service()


def restart_agent(laboratory: Laboratory, host: Host) -> None:
    host.agent.kill()
    laboratory.start_agent(host)


def known_hosts(laboratory: Laboratory) -> dict[str, tuple[str, str]]:
    """Id and role of each host by name."""
    return {host.requested_hostname: (host.id, host.role) for host in laboratory.watcher.cluster.hosts}


def events(laboratory: Laboratory) -> set[tuple[str, str]]:
    watcher = laboratory.watcher
    found = watcher.call(lambda: watcher.sdk.events.v2_list_events(cluster_id=watcher.cluster_id, limit=-1))
    return {(event["event_time"], event["message"]) for event in found}


def test_the_service_is_killed_while_agents_measure(laboratory: Laboratory) -> None:
    """What was measured meanwhile is brought when it is back; who is who and what happened is still known."""
    whole_again(laboratory)
    before, told = known_hosts(laboratory), events(laboratory)
    host = laboratory.hosts["cp-0"]
    ended = host.agent.logged().count("A step has ended. step=connectivity-check")
    kept = host.agent.logged().count("A reply waits for the service to come back")
    wait_for_step(host, "connectivity-check", after=host.begun("connectivity-check"))
    laboratory.service.kill()
    try:
        until(
            lambda: host.agent.logged().count("A step has ended. step=connectivity-check") > ended,
            what="the measurement ends without a service",
        )
        until(
            lambda: host.agent.logged().count("A reply waits for the service to come back") > kept,
            what="its reply is kept",
        )
        laboratory.hosts["w-1"].rename("w-one")
    finally:
        restart_service(laboratory)
    renamed = {name: status for name, status in READY.items() if name != "w-1"} | {"w-one": "known"}
    wait_for_statuses(laboratory.watcher, renamed, seconds=LONG_SECONDS)
    laboratory.hosts["w-1"].rename("w-1")
    whole_again(laboratory)
    assert known_hosts(laboratory) == before
    assert told <= events(laboratory)


def test_an_agent_is_killed_in_every_step_that_may_run_again(laboratory: Laboratory) -> None:
    before = known_hosts(laboratory)
    names = [plan.name for plan in PLANS]
    for number, step in enumerate(REPEATABLE):
        host = laboratory.hosts[names[number % len(names)]]
        wait_for_step(host, step, after=host.begun(step))
        met = host.agent.logged().count(MET)
        restart_agent(laboratory, host)
        # Before it is back, the service takes it for what it was.
        until(lambda host=host, met=met: host.agent.logged().count(MET) > met, what=f"{host.plan.name} is back")
    whole_again(laboratory)
    assert known_hosts(laboratory) == before


# --- what may run once ------------------------------------------------------------------------------------------------

SPEED = "sufficient-installation-disk-speed"
RESUMED = "it does not register again"
KEPT = "A reply waits for the service to come back. step=installation-disk-speed-check"


def install(laboratory: Laboratory) -> None:
    watcher = laboratory.watcher
    watcher.call(lambda: watcher.sdk.installer.v2_install_cluster(watcher.cluster_id))


def measurements(laboratory: Laboratory) -> dict[str, int]:
    """How often each host's disk was measured; one measurement is two runs of fio side by side."""
    return {name: len(host.calls("fio")) // 2 for name, host in laboratory.hosts.items()}


def test_service_and_agents_are_killed_while_disks_are_measured(laboratory: Laboratory) -> None:
    """One measurement is cut off, another ends while nobody is there to hear of it. Neither is made again by itself."""
    cut_off, unheard = laboratory.hosts["cp-0"], laboratory.hosts["cp-1"]
    for host in (cut_off, unheard):
        (host.folder / "hold").touch()
    install(laboratory)
    everybody = laboratory.hosts.values()
    until(lambda: all(len(host.calls("fio")) == 2 for host in everybody), what="fio runs", seconds=LONG_SECONDS)
    laboratory.service.kill()
    (unheard.folder / "hold").unlink()
    until(lambda: KEPT in unheard.agent.logged(), what="the measured speed is kept", seconds=LONG_SECONDS)
    # Agents first: who told its speed and then registers anew may be other hardware, and is measured again.
    for host in (cut_off, unheard):
        host.agent.kill()
    restart_service(laboratory)
    for host in (cut_off, unheard):
        laboratory.start_agent(host)
    expected = {
        (SPEED, "disk-speed-not-measured", "cp-0"): (cut_off.device,),
        ("all-hosts-are-ready-to-install", "hosts-not-ready", ""): ("cp-0",),
    }
    wait_for(laboratory.watcher, expected, seconds=LONG_SECONDS)
    assert measurements(laboratory) == {plan.name: 1 for plan in PLANS}
    (cut_off.folder / "hold").unlink()


def test_a_person_asks_for_the_measurement_again(laboratory: Laboratory) -> None:
    watcher = laboratory.watcher
    watcher.post(
        f"{V1}/v1/clusters/{watcher.cluster_id}/actions/check", {"check": SPEED, "host_ids": [str(PLANS[0].uuid)]}
    )
    whole_again(laboratory)
    install(laboratory)
    until(lambda: all(installers(laboratory).values()), what="an installer on each host", seconds=LONG_SECONDS)
    assert measurements(laboratory) == {plan.name: 1 + (plan.name == "cp-0") for plan in PLANS}


def installers(laboratory: Laboratory) -> dict[str, int]:
    """How often the installer's container was started on each host."""
    return {
        name: sum(call.startswith("run ") for call in host.calls("podman")) for name, host in laboratory.hosts.items()
    }


def tell_progress(laboratory: Laboratory, name: str) -> None:
    """As the installer does when it begins."""
    watcher, update = laboratory.watcher, laboratory.watcher.sdk.installer.v2_update_host_install_progress
    host_id = known_hosts(laboratory)[name][0]
    progress = models.HostProgress(current_stage="Starting installation")
    watcher.call(lambda: update(laboratory.infra_env_id, host_id, progress))


def test_service_and_agents_are_killed_while_installers_run(laboratory: Laboratory) -> None:
    """Installers of the control plane have called home already, those of the workers have not: they are asked for
    once more, found running, and waited for."""
    control_plane, workers = [plan.name for plan in PLANS[:3]], [plan.name for plan in PLANS[3:]]
    for name in control_plane:
        tell_progress(laboratory, name)
    laboratory.service.kill()
    for host in laboratory.hosts.values():
        restart_agent(laboratory, host)
    restart_service(laboratory)
    for name in workers:
        host = laboratory.hosts[name]
        until(lambda host=host: any(call.startswith("wait ") for call in host.calls("podman")), what=f"{name} waits")
    status = {name: "installing-in-progress" if name in control_plane else "installing" for name in READY} | {
        "": "installing"
    }
    wait_for_statuses(laboratory.watcher, status, seconds=LONG_SECONDS)
    for name in workers:
        tell_progress(laboratory, name)
    in_progress = {**dict.fromkeys(status, "installing-in-progress"), "": "installing"}
    wait_for_statuses(laboratory.watcher, in_progress, seconds=LONG_SECONDS)
    assert installers(laboratory) == {plan.name: 1 for plan in PLANS}


def is_settled(host: Host) -> bool:
    """Whether the end of the installer was brought to the service, by the machine's own journal."""
    journal = json.loads((host.folder / "state/once.json").read_text())
    return [entry.get("delivered", False) for entry in journal["entries"] if entry["step_type"] == "install"] == [True]


def test_installers_end_while_the_service_is_away_and_agents_are_killed_before_it_is_back(
    laboratory: Laboratory,
) -> None:
    hosts = [laboratory.hosts[plan.name] for plan in PLANS[1:]]
    before = laboratory.watcher.statuses()
    laboratory.service.kill()
    for host in hosts:
        (host.folder / "finish").touch()
    ended = "A reply waits for the service to come back. step=install "
    until(lambda: all(ended in host.agent.logged() for host in hosts), what="the ends are known", seconds=LONG_SECONDS)
    for host in hosts:
        restart_agent(laboratory, host)
    restart_service(laboratory)
    until(lambda: all(map(is_settled, hosts)), what="the service knows of the ends", seconds=LONG_SECONDS)
    assert laboratory.watcher.statuses() == before
    # Once more, now that nothing is owed: a registration would look like a boot from the wrong medium.
    resumed = {host.plan.name: host.agent.logged().count(RESUMED) for host in hosts}
    for host in hosts:
        restart_agent(laboratory, host)
    until(
        lambda: all(host.agent.logged().count(RESUMED) > resumed[host.plan.name] for host in hosts),
        what="agents go on as whom the service knows",
        seconds=LONG_SECONDS,
    )
    assert laboratory.watcher.statuses() == before
    assert installers(laboratory) == {plan.name: 1 for plan in PLANS}


def test_an_installer_fails_while_its_agent_is_dead(laboratory: Laboratory) -> None:
    """The service hears of it as soon as there is an agent again, though it does not ask."""
    host = laboratory.hosts["cp-0"]
    host.agent.kill()
    (host.folder / "code").write_text("3\n")
    (host.folder / "finish").touch()
    until(lambda: (host.folder / "podman/state").read_text() == "exited\n", what="the installer has ended")
    laboratory.start_agent(host)
    until(lambda: laboratory.watcher.statuses()["cp-0"] == "error", what="the host has failed", seconds=LONG_SECONDS)
    [failed] = [one for one in laboratory.watcher.cluster.hosts if one.requested_hostname == "cp-0"]
    assert "installation command failed" in failed.status_info
    until(lambda: is_settled(host), what="the journal says so")
    assert installers(laboratory) == {plan.name: 1 for plan in PLANS}
