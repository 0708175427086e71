"""Run `firstlight …` as a person would: in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable

Cli = Callable[..., subprocess.CompletedProcess[str]]


def run_cli(
    *args: str, code: int = 0, env: dict[str, str] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """`code` is how it has to end."""
    ended = subprocess.run(
        [sys.executable, "-m", "firstlight.cli.main", *args],
        env={**os.environ, **(env or {})},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert ended.returncode == code, f"{args}\n{ended.stdout}\n{ended.stderr}"
    return ended
