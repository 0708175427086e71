"""Our images built from scratch into a store of their own, and a real podman that runs them from there."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.namespaces import network_or_skip, program_or_skip
from tests.peers import private_folder

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "deploy/build"
IMAGE = "localhost/firstlight-agent:latest"
SETTINGS = """\
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=2048:2048"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


@dataclass(frozen=True, kw_only=True)
class Store:
    """Containers in a folder of their own."""

    folder: Path
    tags: Mapping[str, str]
    """Image → its full name."""

    def on_host(self, script: str, *, seconds: int = 120) -> subprocess.CompletedProcess[str]:
        """Run a script as the first process of a host that has podman and nothing of ours."""
        return subprocess.run(
            ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "sh", "-c", script],
            env=environment(self.folder),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )


def environment(folder: Path) -> dict[str, str]:
    path = f"{folder}/bin:{os.environ['PATH']}"
    return {"PATH": path, "CONTAINERS_CONF": str(folder / "containers.conf"), "LOGGED": str(folder / "log")}


def built(folder: Path, *images: str) -> dict[str, str]:
    options = ("--storage-driver", "overlay", "--root", f"{folder}/root", "--runroot", f"{folder}/run")
    command = [BUILD, *images, "--", *options]
    done = subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(images, done.stdout.split(), strict=True))


@contextmanager
def image_store(*images: str) -> Iterator[Store]:
    """Skips the calling test by name where images cannot be built or run."""
    network_or_skip()
    program_or_skip("buildah", package="buildah")
    program_or_skip("runc", package="runc")
    program_or_skip("fio", package="fio")
    podman = program_or_skip("podman", package="podman")
    with private_folder("images") as folder:
        (folder / "bin").mkdir()
        (folder / "hostbin").mkdir()
        (folder / "containers.conf").write_text(SETTINGS)
        wrapper = folder / "bin/podman"
        wrapper.write_text(
            f'#!/bin/sh\nexec {podman} --storage-driver overlay --root {folder}/root --runroot {folder}/run "$@"\n'
        )
        wrapper.chmod(0o755)
        try:
            yield Store(folder=folder, tags=built(folder, *images))
        finally:
            subprocess.run([wrapper, "rm", "--all", "--force"], env=environment(folder), check=False, timeout=120)
            # The store mounts its own folder; while it does, the folder cannot go.
            subprocess.run(["umount", folder / "root/overlay"], check=False, capture_output=True)
