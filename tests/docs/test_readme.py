"""What README tells people to type works: its commands are run, in order, in one shell against a fresh service."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.clients.command_line import COLOUR
from tests.clients.sdk import SSH_KEY
from tests.services import run_service
from tools.settings_page import ROOT

README: Final = (ROOT / "README.md").read_text()
BLOCK: Final = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
ADDRESS: Final = "http://127.0.0.1:8090"
SET_UP: Final = ("make ", "python3 -m venv", "export PATH=")
"""What the test has arranged already: the service, the programs."""
FASTER: Final = "firstlight simulate --speed 200"
LONGEST_SECONDS: Final = 300


def commands() -> list[str]:
    lines = [line for block in BLOCK.findall(README) for line in block.splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def test_the_two_commands_are_told() -> None:
    assert [command.split("  ")[0] for command in commands()[:2]] == ["make run", "make test"]


@pytest.mark.slow
def test_what_readme_tells_to_type_works(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_ed25519.pub").write_text(SSH_KEY + "\n")
    wanted = [command for command in commands() if not command.startswith(SET_UP)]
    with run_service(tmp_path) as service:
        environment = {
            **os.environ,
            "HOME": str(home),
            "TMPDIR": str(tmp_path),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "AI_URL": service.url,
            "FIRSTLIGHT_URL": service.url,
        }
        script = "\n".join(wanted).replace(ADDRESS, service.url).replace("firstlight simulate", FASTER)
        ended = subprocess.run(
            ["bash", "-ec", f"{script}\nwait\ncat machines.log kubeconfig.first"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_SECONDS,
            check=False,
            text=True,
        )
        assert service.complaints() == ""
    printed = COLOUR.sub("", ended.stdout)
    assert ended.returncode == 0, printed
    assert "Traceback" not in printed
    for promised in (
        "| master-0 |",
        "Status            installed",
        "first_logs.tar:",
        "✗ has-min-valid-disks (failure)",
        "event: cluster_registration_succeeded",
        "Reached the end: the cluster is installed",
        "https://api.first.example.com:6443",
    ):
        assert promised in printed, printed
