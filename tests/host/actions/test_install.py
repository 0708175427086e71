"""Starting the installer: its command, its lock, its resumption; and stopping, upgrading, logs beside it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from firstlight.host.actions.action import Done, LogsRequest
from firstlight.host.actions.registry import ACTIONS
from firstlight.host.programs import Outcome
from tests.agent_sites import HOST, INFRA_ENV, Script, Scripted, a_site, output_of, text

CLUSTER = "33333333-3333-4333-8333-333333333333"
IMAGE = "quay.io/example/installer@sha256:" + "0" * 64


def a_request(**changes: Any) -> dict[str, Any]:
    """What the original's service sends, with its nulls."""
    request = {
        "cluster_id": CLUSTER,
        "infra_env_id": str(INFRA_ENV),
        "host_id": str(HOST),
        "role": "bootstrap",
        "boot_device": "/dev/sda",
        "controller_image": "quay.io/example/controller:1",
        "installer_image": IMAGE,
        "control_plane_count": 3,
        "check_cvo": True,
        "disks_to_format": None,
        "service_ips": None,
        "unknown_to_us": True,
    }
    return request | changes


def podman(state: str = "", *, run: Outcome | None = None, pull: Outcome | None = None, exists: bool = False) -> Script:
    """A host whose installer container is in the given state."""

    def answer(command: tuple[str, ...]) -> Outcome:
        match command[1:3]:
            case ("container", "inspect"):
                return Outcome(exit_code=0 if state else 125, output=f"{state}\n".encode())
            case ("image", "exists"):
                return Outcome(exit_code=0 if exists else 1)
            case ("pull", _):
                return pull or Outcome(exit_code=0)
            case ("wait", _):
                return Outcome(exit_code=0, output=b"3\n")
            case ("logs", _):
                return Outcome(exit_code=0, output=b"the disk is on fire\n")
            case ("run", _):
                return run or Outcome(exit_code=0)
            case _:
                return Outcome(exit_code=0)

    return answer


@pytest.fixture
def disks(tmp_path: Path) -> Path:
    (tmp_path / "dev").mkdir()
    for name in ("sda", "sdb"):
        (tmp_path / "dev" / name).touch()
    return tmp_path


async def installed(folder: Path, host: Scripted, *, site: dict[str, Any] | None = None, **changes: Any) -> Done:
    return await ACTIONS["install"].run((text(a_request(**changes)),), a_site(folder, host=host, **(site or {})))


def run_of(host: Scripted) -> tuple[str, ...]:
    return next(command for command in host.commands if command[:2] == ("podman", "run"))


@pytest.mark.anyio
async def test_the_command_of_the_installer(disks: Path) -> None:
    host = Scripted(podman())
    done = await installed(
        disks,
        host,
        site={"insecure": True, "ca_certificate": Path("/etc/assisted-service/ca.crt")},
        disks_to_format=["/dev/sdb"],
        installer_args='["--append-karg","ip=eth0:dhcp"]',
        proxy={"http_proxy": "http://p:1", "no_proxy": "a,b"},
        mco_image="quay.io/example/mco:1",
        must_gather_image='{"ocp":"quay.io/example/gather:1"}',
        openshift_version="4.20.1",
        enable_skip_mco_reboot=True,
        service_ips=["192.0.2.1", "192.0.2.2"],
    )
    assert done.exit_code == 0
    command = run_of(host)
    place = command.index(IMAGE)
    assert {"--sig-proxy=false", "--privileged", "--pid=host", "--net=host", "--name=assisted-installer"} <= set(
        command[:place]
    )
    assert "--rm" not in command
    mounts = {command[at + 1] for at, word in enumerate(command[:place]) if word == "--volume"}
    assert {"/dev:/dev:rw", "/tmp:/tmp:rw", "/etc/assisted-service/ca.crt:/etc/assisted-service/ca.crt:rw"} <= mounts
    flags = command[place + 1 :]
    expected = [
        ("--role", "bootstrap"),
        ("--infra-env-id", str(INFRA_ENV)),
        ("--cluster-id", CLUSTER),
        ("--host-id", str(HOST)),
        ("--boot-device", "/dev/sda"),
        ("--url", "https://hub.example.com"),
        ("--controller-image", "quay.io/example/controller:1"),
        ("--agent-image", "quay.io/example/agent:1"),
        ("--control-plane-count", "3"),
        ("--mco-image", "quay.io/example/mco:1"),
        ("--must-gather-image", '{"ocp":"quay.io/example/gather:1"}'),
        ("--openshift-version", "4.20.1"),
        ("--format-disk", "/dev/sdb"),
        ("--cacert", "/etc/assisted-service/ca.crt"),
        ("--installer-args", '["--append-karg","ip=eth0:dhcp"]'),
        ("--http-proxy", "http://p:1"),
        ("--no-proxy", "a,b"),
        ("--service-ips", "192.0.2.1,192.0.2.2"),
    ]
    assert list(flags[: 2 * len(expected)]) == [word for pair in expected for word in pair]
    assert flags[2 * len(expected) :] == ("--insecure", "--check-cluster-version", "--enable-skip-mco-reboot")


@pytest.mark.anyio
async def test_the_token_is_no_word_of_any_command(disks: Path) -> None:
    host = Scripted(podman())
    await installed(disks, host)
    assert not [word for command in host.commands for word in command if "a-secret-token" in word]
    assert host.environments[host.commands.index(run_of(host))] == {"PULL_SECRET_TOKEN": "a-secret-token"}
    assert "--env=PULL_SECRET_TOKEN" in run_of(host)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "changes",
    [
        {"boot_device": "/dev/sdz"},
        {"boot_device": "/etc/passwd"},
        {"boot_device": "/dev/../etc/passwd"},
        {"disks_to_format": ["/dev/sdz"]},
        {"installer_image": "--privileged"},
        {"controller_image": "a b"},
        {"mco_image": "quay.io/x;reboot"},
        {"role": "king"},
        {"installer_args": '["--preserve-on-error"]'},
        {"installer_args": "--append-karg x"},
        {"must_gather_image": '{"evil":"quay.io/a/b:1"}'},
        {"must_gather_image": "{"},
    ],
)
async def test_what_must_not_be_installed_with(disks: Path, changes: dict[str, Any]) -> None:
    host = Scripted(podman())
    done = await installed(disks, host, **changes)
    assert done.exit_code == -1
    assert host.commands == []


@pytest.mark.anyio
async def test_an_image_that_cannot_be_pulled_is_code_two(disks: Path) -> None:
    host = Scripted(podman(pull=Outcome(exit_code=125, errors=b"no route to registry")))
    done = await installed(disks, host)
    assert done.exit_code == 2
    assert "no route to registry" in done.error
    assert sum(command[1] == "pull" for command in host.commands) == 3


@pytest.mark.anyio
async def test_an_image_that_is_there_needs_no_registry(disks: Path) -> None:
    host = Scripted(podman(pull=Outcome(exit_code=125), exists=True))
    assert (await installed(disks, host)).exit_code == 0


@pytest.mark.anyio
async def test_the_installers_failure_is_the_reply(disks: Path) -> None:
    host = Scripted(podman(run=Outcome(exit_code=7, errors=b"no such disk")))
    done = await installed(disks, host)
    assert (done.exit_code, done.error) == (7, "no such disk")


@pytest.mark.anyio
async def test_a_running_installer_is_waited_for_after_a_restart(disks: Path) -> None:
    """The agent was killed and asked again: the container goes on, and its end is reported."""
    host = Scripted(podman("running"))
    done = await installed(disks, host)
    assert done.exit_code == 3
    assert "on fire" in done.error
    assert not [command for command in host.commands if command[1] == "run"]


@pytest.mark.anyio
async def test_a_container_that_ended_makes_room(disks: Path) -> None:
    host = Scripted(podman("exited"))
    assert (await installed(disks, host)).exit_code == 0
    assert ("podman", "rm", "--force", "assisted-installer") in host.commands
    assert run_of(host)


@pytest.mark.anyio
async def test_a_second_request_is_told_that_the_name_is_taken(disks: Path) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Scripted):
        async def run(self, *command: str, **options: Any) -> Outcome:
            if command[1] == "run":
                started.set()
                await go_on.wait()
            return await super().run(*command, **options)

    first = asyncio.create_task(installed(disks, Slow(podman())))
    await started.wait()
    second = await installed(disks, Scripted(podman("running")))
    assert second.exit_code == 125
    assert 'the container name "assisted-installer" is already in use' in second.error
    go_on.set()
    assert (await first).exit_code == 0
    assert (await installed(disks, Scripted(podman()))).exit_code == 0


@pytest.mark.anyio
@pytest.mark.parametrize(("birth", "edited"), [("0", True), ("99999999999", False), ("-", False)])
async def test_a_network_edited_on_the_console_is_kept(disks: Path, birth: str, edited: bool) -> None:
    for name in ("var/log/agent/agent-tui.log", "etc/NetworkManager/system-connections/eth0.nmconnection"):
        (disks / name).parent.mkdir(parents=True)
        (disks / name).touch()
    answers = podman()
    host = Scripted(
        lambda command: Outcome(exit_code=0, output=birth.encode()) if command[0] == "stat" else answers(command)
    )
    await installed(disks, host, installer_args='["--append-karg","a"]')
    command = run_of(host)
    arguments = command[command.index("--installer-args") + 1]
    assert ("--copy-network" in arguments) == edited


# --- beside it --------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize(("code", "result", "ends"), [(0, "success", True), (125, "failure", False)])
async def test_an_upgrade_ends_the_program_only_if_it_worked(code: int, result: str, ends: bool) -> None:
    host = Scripted(lambda _: Outcome(exit_code=code))
    image = "quay.io/example/agent:2"
    done = await ACTIONS["upgrade-agent"].run((text({"agent_image": image}),), a_site(host=host))
    assert output_of(done) == {"agent_image": image, "result": result}
    assert done.stop_polling == ends


LOGS = {"cluster_id": CLUSTER, "host_id": str(HOST), "infra_env_id": str(INFRA_ENV), "master_ips": None}


@pytest.mark.anyio
async def test_logs_are_sent_by_a_container(tmp_path: Path) -> None:
    host = Scripted()
    request = LOGS | {"bootstrap": True, "installer_gather": True, "master_ips": ["192.0.2.12", "192.0.2.13"]}
    await ACTIONS["logs-gather"].run((text(request),), a_site(tmp_path, host=host, agent_image="quay.io/a/b+c:1"))
    (command,) = host.commands
    place = command.index("quay.io/a/b+c:1")
    assert command[place + 1 :] == (
        "logs_sender",
        *("-url", "https://hub.example.com", "-cluster-id", CLUSTER, "-host-id", str(HOST)),
        *("-infra-env-id", str(INFRA_ENV), "--insecure=false", "-bootstrap=true"),
        *("-with-installer-gather-logging=true", "-masters-ips=192.0.2.12,192.0.2.13"),
    )
    assert not [word for word in command if "a-secret-token" in word]


@pytest.mark.anyio
async def test_logs_are_sent_by_this_program_if_it_can(tmp_path: Path) -> None:
    asked: list[LogsRequest] = []

    async def gather(request: LogsRequest) -> Done:
        asked.append(request)
        return Done(output="sent")

    host = Scripted()
    done = await ACTIONS["logs-gather"].run((text(LOGS),), a_site(tmp_path, host=host, gather_logs=gather))
    assert done.output == "sent"
    assert str(asked[0].cluster_id) == CLUSTER
    assert host.commands == []
