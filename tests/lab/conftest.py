"""Fixtures of every suite that boots machines: the stand-in image and the real coreos-installer."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.building import Missing
from lab.live_iso import live_iso
from tests.conftest import missing
from tests.peers import Missing as PeerMissing
from tests.peers import peer_path

CoreosInstaller = Callable[..., bytes]


@pytest.fixture(scope="session")
def stand_in() -> Path:
    """The pristine live ISO; made at its first use, which takes minutes."""
    try:
        return live_iso()
    except Missing as reason:
        missing(str(reason))


@pytest.fixture(scope="session")
def coreos_installer() -> CoreosInstaller:
    """Runs the real program and returns what it prints; a refusal fails the test with its reason."""
    try:
        program = peer_path("coreos-installer")
    except PeerMissing as reason:
        missing(str(reason))

    def run(*words: str | Path, refuses: bool = False) -> bytes:
        done = subprocess.run([program, *words], capture_output=True, timeout=300, check=False)
        assert bool(done.returncode) == refuses, done.stderr.decode()
        return done.stderr if refuses else done.stdout

    return run
