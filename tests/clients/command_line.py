"""aicli from its package index, unchanged, run as a user runs it: a process, a home folder, text on the screen."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.clients.sdk import PULL_SECRET, SSH_KEY

PROGRAM = Path(sys.executable).parent / "aicli"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LONGEST_SECONDS = 300
DOMAIN = "example.com"


class Aicli:
    """`aicli("list", "clusters")` gives what was printed; a failure or a traceback ends the test."""

    def __init__(self, url: str, home: Path) -> None:
        self.url = url
        self.home = home
        (home / ".ssh").mkdir()
        (home / ".ssh" / "id_ed25519.pub").write_text(SSH_KEY + "\n")
        (home / "openshift_pull.json").write_text(PULL_SECRET + "\n")

    def __call__(self, *arguments: str) -> str:
        return self._run(*arguments, code=0)

    def refused(self, *arguments: str) -> str:
        """For what must not work: aicli says so and ends with 1."""
        return self._run(*arguments, code=1)

    def json(self, *arguments: str) -> Any:
        return json.loads(self("-o", "json", *arguments))

    def create(self, name: str, **parameters: Any) -> None:
        """A cluster with its infra-env from a parameter file."""
        self("create", "cluster", "--paramfile", self.parameters(base_dns_domain=DOMAIN, **parameters), name)

    def parameters(self, **content: Any) -> str:
        path = self.home / f"parameters-{len(list(self.home.glob('parameters-*')))}.yml"
        path.write_text(yaml.safe_dump(content))
        return path.name

    def cluster(self, name: str) -> Any:
        return self.json("info", "cluster", name)

    def infra_env_id(self, name: str) -> str:
        """The id of a cluster's infra-env."""
        return self("info", "infraenv", "-f", "id", "-v", name).split()[-1]

    def read(self, name: str) -> str:
        return (self.home / name).read_text()

    def _run(self, *arguments: str, code: int) -> str:
        done = subprocess.run(
            (str(PROGRAM), "-u", self.url, *arguments),
            cwd=self.home,
            env={**os.environ, "HOME": str(self.home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_SECONDS,
            check=False,
            text=True,
        )
        printed = COLOUR.sub("", done.stdout)
        assert "Traceback" not in printed, printed
        assert done.returncode == code, printed
        return printed
