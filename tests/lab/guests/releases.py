"""A release in the true layout with the real openshift-install, and a service whose only release it is."""

import json
import subprocess
from pathlib import Path

from lab.live_iso import BUILD
from tests.conftest import missing
from tests.lab.image_stores import Store, environment
from tests.peers import Missing, peer_path
from tests.registries import Registry, layer

VERSION = "4.19.0"
LINE = "4.19"
SHARED = "localhost/firstlight-shared:latest"
DAEMON = "localhost/machine-config-daemon:lab"
PROGRAM = Path(__file__).resolve().parents[3] / "lab/once_from.py"
SMALL = {"cpu_cores": 1, "ram_mib": 1024, "disk_size_gb": 4, "installation_disk_speed_threshold_ms": 10_000}
HARDWARE = [{"version": "default", **dict.fromkeys(("master", "arbiter", "worker", "sno", "edge-worker"), SMALL)}]
"""An emulated machine is no server."""
NOT_HERE = (
    # Nothing answers a machine of this laboratory but the ports it was given: no time, no names, no public registry.
    *("ntp-synced", "container-images-available", "dns-wildcard-not-configured"),
    *(f"{name}-domain-name-resolved-correctly" for name in ("api", "api-int", "apps")),
)


def push_release(registry: Registry, *, daemon: str) -> str:
    """Its name by digest. The installer in it calls the real one, which is too large to push for a test."""
    try:
        program = peer_path("openshift-install")
    except Missing as reason:
        missing(str(reason))
    script = f'#!/bin/sh\nOPENSHIFT_INSTALL_DATA={program.parent}/data exec {program} "$@"\n'
    images = {
        "installer": registry.push("ocp/installer", [layer({"usr/bin/openshift-install": script.encode()})]),
        "machine-config-operator": daemon,
        "must-gather": f"{registry.host}/ocp/must-gather:lab",
    }
    tags = [{"name": name, "from": {"kind": "DockerImage", "name": image}} for name, image in images.items()]
    references = {
        "kind": "ImageStream",
        "apiVersion": "image.openshift.io/v1",
        "metadata": {"name": VERSION},
        "spec": {"tags": tags},
    }
    metadata = {"kind": "cincinnati-metadata-v0", "version": VERSION}
    files = {
        "release-manifests/image-references": json.dumps(references).encode(),
        "release-manifests/release-metadata": json.dumps(metadata).encode(),
    }
    return registry.push("ocp/release", [layer(files)], tag=f"{VERSION}-x86_64")


def build_daemon(store: Store) -> str:
    """The stand-in for the machine-config daemon, on the layer of our own images."""
    options = ("--storage-driver", "overlay", "--root", f"{store.folder}/root", "--runroot", f"{store.folder}/run")
    script = f"""
        set -eu
        buildah="buildah $*"
        container=$($buildah from --pull-never {SHARED})
        $buildah copy --quiet --chmod 0755 "$container" {store.folder}/daemon /usr/bin/machine-config-daemon
        $buildah commit --quiet --rm "$container" {DAEMON}
    """
    (store.folder / "daemon").write_text("#!/usr/bin/python3 -IS\n" + PROGRAM.read_text())
    subprocess.run(
        ["sh", "-c", script, "build", *options], env=environment(store.folder), check=True, capture_output=True
    )
    return DAEMON


def release_settings(registry: Registry, release: str, *, image: Path) -> dict[str, str]:
    os_image = {"openshift_version": LINE, "cpu_architecture": "x86_64", "version": BUILD, "url": image.as_uri()}
    offered = {"openshift_version": LINE, "cpu_architecture": "x86_64", "version": VERSION, "url": release}
    return {
        "OS_IMAGES": json.dumps([os_image]),
        "RELEASE_IMAGES": json.dumps([offered]),
        "FIRSTLIGHT_INSTALLER": "release",
        "FIRSTLIGHT_PLAIN_REGISTRIES": registry.host,
        "PUBLIC_CONTAINER_REGISTRIES": f"quay.io,localhost,{registry.host}",
        "HW_VALIDATOR_REQUIREMENTS": json.dumps(HARDWARE),
        "DISABLED_HOST_VALIDATIONS": ",".join(NOT_HERE),
    }
