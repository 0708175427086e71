"""Logs between real processes: the installer's as it grows, and an archive over a line that breaks."""

import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.api.machines import PULL_SECRET
from tests.host.agent.cutting import cutting_line
from tests.host.agent.machines import HOST_ID, a_machine, eventually, running_agent
from tests.host.agent.test_agent_process import DIRECT, Lab, ask
from tests.services import RunningService, run_service

MEBIBYTE = 2**20
START = "import os, sys; from firstlight.host.main import run;sys.exit(run(['logs_sender', *sys.argv[1:]], os.environ))"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_machine(tmp_path / "root")
    (tmp_path / "root/var/log").mkdir(parents=True)
    return tmp_path


def test_the_installer_is_followed_as_it_writes(folder: Path) -> None:
    """The file comes late, grows, is rotated; what it says is in the host's log within moments, marked and masked."""
    path = folder / "root/var/log/assisted-installer.log"
    with run_service(folder) as service:
        lab = Lab(service)
        with running_agent(folder, url=service.url, infra_env_id=lab.infra_env_id):

            def shown() -> str:
                return lab.own(f"/infra-envs/{lab.infra_env_id}/hosts/{HOST_ID}/log?offset=0")["text"]

            eventually(lab.host, lambda host: host["status"] != "unknown")
            with path.open("a", buffering=1) as file:
                file.write("Writing image to disk 10%\n")
                eventually(shown, lambda text: "installer | Writing image to disk 10%\n" in text)
                file.write("Writing image to disk 20%\npassword=hunter2\n")
                eventually(shown, lambda text: "password=***" in text)
            path.rename(path.with_suffix(".1"))
            path.write_text("after the rotation\n")
            text = eventually(shown, lambda text: "after the rotation" in text)
    assert "hunter2" not in text
    assert [line for line in text.splitlines() if line.startswith("installer | ")] == [
        "installer | Writing image to disk 10%",
        "installer | Writing image to disk 20%",
        "installer | password=***",
        "installer | after the rotation",
    ]


def a_cluster(service: RunningService) -> dict[str, Any]:
    body = {"name": "lab", "openshift_version": "4.19", "base_dns_domain": "example.com", "pull_secret": PULL_SECRET}
    return dict(ask(f"{service.api}/v2/clusters", body))


def an_infra_env(service: RunningService, cluster_id: str) -> str:
    body = {"name": "lab-env", "pull_secret": PULL_SECRET, "cluster_id": cluster_id}
    return str(ask(f"{service.api}/v2/infra-envs", body)["id"])


def send_logs(folder: Path, *, url: str, cluster_id: str, infra_env_id: str) -> "subprocess.CompletedProcess[str]":
    """The real program; the machine's journal is four mebibytes that cannot be compressed."""
    tools = folder / "bin"
    tools.mkdir()
    journal = tools / "journalctl"
    journal.write_text('#!/bin/sh\ncase "$*" in *TAG=agent*) head -c 4000000 /dev/urandom | base64 -w 100;; esac\n')
    journal.chmod(0o755)
    ids = ("--cluster-id", cluster_id, "--infra-env-id", infra_env_id, "--host-id", HOST_ID)
    flags = ("--url", url, *ids, "--dont-clean", "--with-journal-logging=false", "--with-stdout-logging=true")
    environment = {**os.environ, "FIRSTLIGHT_AGENT_ROOT": str(folder / "root"), "PATH": f"{tools}:{os.environ['PATH']}"}
    command = (sys.executable, "-c", START, *flags, "--with-installer-gather-logging=false")
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("offered", [True, False])
def test_an_archive_goes_on_where_the_line_broke(folder: Path, offered: bool) -> None:
    with run_service(folder) as service:
        cluster_id = a_cluster(service)["id"]
        infra_env_id = an_infra_env(service, cluster_id)
        with running_agent(folder, url=service.url, infra_env_id=infra_env_id) as agent:
            eventually(agent.said, lambda text: "knows this machine" in text)
        kept = folder / "root/run/firstlight-agent/registration.json"
        assert "log_piece_bytes" in kept.read_text()
        if not offered:
            kept.unlink()
        with cutting_line(service.url, after=MEBIBYTE * 3 // 2 if offered else MEBIBYTE * 64) as line:
            sent = send_logs(folder, url=line.url, cluster_id=cluster_id, infra_env_id=infra_env_id)
            assert sent.returncode == 0, sent.stdout + sent.stderr
        archive = (folder / "root/var/log/logs.tar.gz").read_bytes()
        query = f"logs_type=host&host_id={HOST_ID}"
        request = urllib.request.Request(f"{service.api}/v2/clusters/{cluster_id}/logs?{query}")
        with DIRECT.open(request, timeout=20) as answer:
            assert answer.read() == archive
        host = ask(f"{service.api}/v2/infra-envs/{infra_env_id}/hosts/{HOST_ID}")
        assert host["logs_info"] == "completed"
        assert len(archive) > 2 * MEBIBYTE
        whole = f"POST /api/assisted-install/v2/clusters/{cluster_id}/logs"
        assert any(path.startswith(whole) for path in line.paths) is not offered
        if offered:
            assert line.cuts >= 2
            assert line.carried < len(archive) + (line.cuts + 1) * MEBIBYTE
        assert not service.complaints()
