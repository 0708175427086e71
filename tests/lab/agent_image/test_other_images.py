"""The installer's and the controller's images: run by a real podman as agent and job run them, on one shared layer."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.image_stores import Store, environment, image_store

IMAGES = tuple(f"localhost/firstlight-{name}:latest" for name in ("agent", "installer", "controller"))
_, INSTALLER, CONTROLLER = IMAGES
IDS = "--cluster-id 11111111-1111-4111-8111-111111111111 --host-id 22222222-1111-4111-8111-111111111111"
LARGEST_OWN = 64 * 1024
"""Bytes that a host fetches for the installer's image after the agent's."""


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with image_store("agent", "installer", "controller") as made:
        yield made


def asked(store: Store, *words: str) -> list[dict[str, Any]]:
    done = subprocess.run(["podman", *words], env=environment(store.folder), capture_output=True, check=True)
    return json.loads(done.stdout)


def test_they_share_all_but_a_few_bytes(store: Store) -> None:
    layers = {image: asked(store, "image", "inspect", image)[0]["RootFS"]["Layers"] for image in IMAGES}
    assert [len(found) for found in layers.values()] == [2, 2, 2]
    assert len({found[0] for found in layers.values()}) == 1
    for image in (INSTALLER, CONTROLLER):
        assert asked(store, "history", "--format", "json", image)[0]["size"] < LARGEST_OWN


def test_the_installer_is_started_with_flags_only(store: Store) -> None:
    """It enters the host for its programs: this host's `mkdir` says how it was called, and fails."""
    fake = store.folder / "bin/mkdir"
    fake.write_text('#!/bin/sh\necho "mkdir of the host: $@" >>$LOGGED\nexit 9\n')
    fake.chmod(0o755)
    command = "podman run --privileged --pid=host --net=host --env PATH --env LOGGED"
    command += f" --env FIRSTLIGHT_INSTALLER_TIME_SCALE=0.001 {INSTALLER}"
    done = store.on_host(f"{command} {IDS} --role master --url http://127.0.0.1:9 --boot-device /dev/nothing")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "mkdir failed on this host" in done.stdout
    assert "mkdir of the host: -p /opt/install-dir" in (store.folder / "log").read_text()


def test_wrong_flags_are_told(store: Store) -> None:
    done = store.on_host(f"podman run --rm --net=host {INSTALLER} --role king {IDS}")
    assert done.returncode == 2
    assert "bootstrap, master, worker, arbiter" in done.stderr


def test_the_controller_is_started_by_its_job(store: Store) -> None:
    """Nothing but variables; without them it says which one is missing."""
    done = store.on_host(f"podman run --rm --net=host {CONTROLLER}")
    assert done.returncode == 2
    assert "CLUSTER_ID" in done.stderr
