"""`firstlight release` as a person runs it, against a registry."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.registries import Registry, layer

COMMAND = str(Path(sys.executable).parent / "firstlight")
PROGRAM = os.urandom(300_000)


@pytest.fixture(scope="module")
def release(registry: Registry) -> str:
    tools = registry.push(
        "ocp/cli", [layer({"usr/bin/kubectl": PROGRAM, "usr/bin/oc": ("hardlink", "usr/bin/kubectl")})]
    )
    stream = {"metadata": {"name": "4.19.7"}, "spec": {"tags": [{"name": "cli", "from": {"name": tools}}]}}
    files = {"release-manifests/image-references": json.dumps(stream).encode()}
    registry.push("ocp/release", [layer(files)], tag="4.19.7")
    return f"{registry.host}/ocp/release:4.19.7"


def firstlight(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [COMMAND, "release", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_info_tells_version_and_images(registry: Registry, release: str) -> None:
    done = firstlight("info", release, "--plain", registry.host, "--output", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["version"] == "4.19.7"
    assert list(found["images"]) == ["cli"]
    assert "@sha256:" in found["image"]
    table = firstlight("info", release, "--plain", registry.host)
    assert "Version 4.19.7, 1 images" in table.stdout


def test_extract_writes_the_program(registry: Registry, release: str, tmp_path: Path) -> None:
    done = firstlight("extract", release, "oc", "--plain", registry.host, "--to", tmp_path / "oc")
    assert done.returncode == 0, done.stderr
    written = tmp_path / "oc"
    assert hashlib.sha256(written.read_bytes()).digest() == hashlib.sha256(PROGRAM).digest()
    assert written.stat().st_mode & 0o111
    assert [path.name for path in tmp_path.iterdir()] == ["oc"]
    assert "oc of OpenShift 4.19.7 is in" in done.stdout


def test_what_goes_wrong_is_one_sentence(registry: Registry, release: str, tmp_path: Path) -> None:
    plain = ("--plain", registry.host)
    cases = {
        ("info", "release"): (1, "is not the full name of a container image"),
        ("info", f"{registry.host}/ocp/release:none", *plain): (3, "There is no"),
        ("info", f"{registry.host}/ocp/cli:none", *plain): (3, "There is no"),
        ("extract", release, "kubelet", *plain): (2, "Choose one of openshift-install"),
        ("extract", release, "openshift-install", *plain, "--to", tmp_path / "x"): (3, "has no image 'installer'"),
        ("extract", release, "oc", *plain, "--to", tmp_path / "no" / "folder"): (1, "No such file or directory"),
    }
    for arguments, (code, words) in cases.items():
        done = firstlight(*arguments)
        assert (done.returncode, words in done.stderr) == (code, True), (arguments, done.stderr)
        assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
