"""The shell launcher of the agent, run by a plain shell with a podman that only writes down how it was called."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "deploy/agent/agent"
UNIT_FLAGS = (
    "--url",
    "https://hub.example.com",
    "--infra-env-id",
    "11111111-1111-4111-8111-111111111111",
    "--agent-version",
    "quay.io/example/agent:1",
    "--insecure=false",
)


class Host:
    """A folder in the place of `/run`, and a podman whose exit codes are given in advance."""

    def __init__(self, folder: Path, *codes: int, present: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.record = folder / "record"
        (folder / "codes").write_text("".join(f"{code}\n" for code in codes))
        (folder / "present").write_text("".join(f"{image}\n" for image in present))
        (folder / "bin").mkdir()
        podman = folder / "bin/podman"
        podman.write_text(
            "#!/bin/sh\n"
            f'if [ "$1" = image ]; then exec grep -qxF "$3" {folder}/present; fi\n'
            f'for word in "$@"; do printf "%s\\n" "$word" >>{self.record}; done\n'
            f'echo "= token ${{PULL_SECRET_TOKEN-none}}" >>{self.record}\n'
            f"code=$(head -n 1 {folder}/codes); sed -i 1d {folder}/codes\n"
            f'[ "$code" != 99 ] || {{ trap "exit 0" TERM; echo up >{folder}/up; while :; do sleep 0.1; done; }}\n'
            f"[ ! -e {folder}/next ] || mv {folder}/next {self.state}/next-image\n"
            "exit $code\n"
        )
        podman.chmod(0o755)
        self.launcher = folder / "agent"
        self.launcher.write_text(LAUNCHER.read_text().replace("/run/firstlight-agent", str(self.state)))

    def start(self, *flags: str, shell: str = "sh", **environment: str) -> subprocess.Popen[str]:
        own = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", **environment}
        return subprocess.Popen(
            [shell, self.launcher, *flags], env=own, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self, *flags: str, shell: str = "sh", **environment: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*flags, shell=shell, **environment)
        output, errors = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    @property
    def calls(self) -> list[list[str]]:
        """The words of each call, its last one being the token that podman saw."""
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        calls: list[list[str]] = [[]]
        for line in lines:
            calls[-1].append(line)
            if line.startswith("= token"):
                calls.append([])
        return calls[:-1]


def image_of(call: list[str]) -> str:
    return call[call.index("agent") - 1]


@pytest.mark.parametrize("shell", ["sh", "dash", "bash"])
def test_the_flags_of_the_unit_become_a_container(tmp_path: Path, shell: str) -> None:
    authority = tmp_path / "ca.crt"
    authority.touch()
    host = Host(tmp_path, 3)
    done = host.run(
        *UNIT_FLAGS, "--cacert", str(authority), shell=shell, PULL_SECRET_TOKEN="s3cret", HTTPS_PROXY="http://u:p@x"
    )
    assert done.returncode == 3, done.stderr
    (call,) = host.calls
    assert call[:2] == ["run", "--rm"]
    assert {"--privileged", "--pid=host", "--uts=host", "--net=host", "--pids-limit=0"} <= set(call)
    assert call[call.index("--name") + 1] == "next-step-runner"
    mounts = {call[place + 1] for place, word in enumerate(call) if word == "--volume"}
    assert {"/dev:/dev", "/var/log:/var/log", f"{authority}:{authority}"} <= mounts
    variables = {call[place + 1] for place, word in enumerate(call) if word == "--env"}
    assert variables == {"FIRSTLIGHT_AGENT_LAUNCHED=1", "PULL_SECRET_TOKEN", "HTTPS_PROXY"}
    start = call.index("quay.io/example/agent:1", call.index("--privileged"))
    flags = call[start + 1 : -1]
    assert flags == ["agent", *UNIT_FLAGS, "--cacert", str(authority), "--agent-version", "quay.io/example/agent:1"]
    assert call[-1] == "= token s3cret"


def test_no_secret_is_a_word_of_the_command(tmp_path: Path) -> None:
    host = Host(tmp_path, 0)
    host.run(*UNIT_FLAGS, PULL_SECRET_TOKEN="s3cret", HTTPS_PROXY="http://u:p@x")
    assert not [word for word in host.calls[0][:-1] if "s3cret" in word or "u:p" in word]


def test_arguments_arrive_as_they_are(tmp_path: Path) -> None:
    """Blanks, quotes and dollar signs mean nothing to the launcher."""
    host = Host(tmp_path, 0)
    odd = "a b'c\"d$HOME`id`*"
    host.run("--url", odd, "--agent-version=img:1")
    assert odd in host.calls[0]


@pytest.mark.parametrize("image", ["", "-rm", "a b", "img;reboot", "$(id)"])
def test_an_image_that_is_none_is_refused(tmp_path: Path, image: str) -> None:
    host = Host(tmp_path, 0)
    done = host.run("--url", "https://x", f"--agent-version={image}")
    assert done.returncode == 2
    assert "--agent-version" in done.stderr
    assert host.calls == []


def test_another_image_is_started_when_the_agent_asks(tmp_path: Path) -> None:
    host = Host(tmp_path, 75, 4)
    (tmp_path / "next").write_text("quay.io/example/agent:2")
    done = host.run(*UNIT_FLAGS)
    assert done.returncode == 4
    assert [image_of(call) for call in host.calls] == ["quay.io/example/agent:1", "quay.io/example/agent:2"]
    assert host.calls[1][-3:-1] == ["--agent-version", "quay.io/example/agent:2"]


def test_asking_without_naming_an_image_is_an_end(tmp_path: Path) -> None:
    assert Host(tmp_path, 75).run(*UNIT_FLAGS).returncode == 75


@pytest.mark.parametrize(("present", "started"), [(("quay.io/example/agent:2",), "2"), ((), "1")])
def test_the_image_of_this_boot_is_remembered(tmp_path: Path, present: tuple[str, ...], started: str) -> None:
    """After a restart of the unit the newer image goes first, if it is still there."""
    host = Host(tmp_path, 0, present=present)
    host.state.mkdir()
    (host.state / "next-image").write_text("quay.io/example/agent:2")
    host.run(*UNIT_FLAGS)
    assert image_of(host.calls[0]) == f"quay.io/example/agent:{started}"


def test_an_image_that_does_not_start_gives_way_to_the_first(tmp_path: Path) -> None:
    host = Host(tmp_path, 75, 127, 0)
    (tmp_path / "next").write_text("quay.io/example/agent:2")
    done = host.run(*UNIT_FLAGS)
    assert done.returncode == 0
    assert [image_of(call)[-1] for call in host.calls] == ["1", "2", "1"]
    assert "does not start" in done.stderr


def test_a_stop_reaches_the_container_and_is_no_failure(tmp_path: Path) -> None:
    host = Host(tmp_path, 99)
    process = host.start(*UNIT_FLAGS)
    end = time.monotonic() + 60
    while not (tmp_path / "up").exists():
        assert time.monotonic() < end, "podman was not started"
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert len(host.calls) == 1


def test_without_podman_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    done = subprocess.run(
        ["/bin/sh", LAUNCHER, *UNIT_FLAGS], env={"PATH": str(tmp_path / "bin")}, check=False, capture_output=True
    )
    assert done.returncode == 1
    assert b"podman" in done.stderr
