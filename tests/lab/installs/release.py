"""A release image in the true layout with the real openshift-install in it, in Debian's registry in the laboratory."""

import json
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.conftest import missing
from tests.lab.agents.servers import SERVICES, Server, until
from tests.namespaces import program_or_skip
from tests.peers import Missing, peer_path
from tests.registries import Registry, layer

PORT = 5000
HOST = f"{SERVICES}:{PORT}"
VERSION = "4.19.0"
PARTS = {
    "machine-config-operator": f"{HOST}/ocp/machine-config-operator:lab",
    "must-gather": f"{HOST}/ocp/must-gather:lab",
    "rhel-coreos": f"{HOST}/ocp/rhel-coreos:lab",
}
UNPACKING = """#!/bin/sh
# This build of openshift-install reads its templates from a folder; the program itself follows below.
program=$HOME/.openshift-install
[ -x "$program" ] || { tail -c +SKIPPED "$0" >"$program" && chmod 700 "$program"; } || exit 1
OPENSHIFT_INSTALL_DATA=TEMPLATES exec "$program" "$@"
"""


def start_registry(stack: ExitStack, *, namespace: str, folder: Path) -> Registry:
    program = program_or_skip("docker-registry", package="docker-registry")
    data, config = folder / "registry", folder / "registry.yml"
    config.write_text(
        f"version: 0.1\nlog: {{level: warn}}\nstorage: {{filesystem: {{rootdirectory: {data}}}}}\n"
        f"http: {{addr: {HOST}}}\n"
    )
    server = Server(stack, namespace=namespace, log=folder / "registry.log")
    server.start(program, "serve", config)
    stack.callback(lambda: shutil.rmtree(data, ignore_errors=True))
    return Registry(host=HOST, folder=data, headers={})


def openshift_install() -> bytes:
    """The program as its image has it: the real one, behind a line that tells it where its templates are."""
    try:
        program = peer_path("openshift-install")
    except Missing as reason:
        missing(str(reason))
    head = UNPACKING.replace("TEMPLATES", str(program.parent / "data"))
    # The number has five digits where its place holder has seven.
    size = len(head.encode()) - len("SKIPPED") + 5
    return head.replace("SKIPPED", f"{size + 1:05}").encode() + program.read_bytes()


def push_release(registry: Registry) -> str:
    """Gives back its name by digest. Called from inside the registry's network."""
    until(lambda: _answers(registry), what="the registry answers")
    installer = registry.push("ocp/installer", [layer({"usr/bin/openshift-install": openshift_install()})], level=1)
    references = {
        "kind": "ImageStream",
        "apiVersion": "image.openshift.io/v1",
        "metadata": {"name": VERSION},
        "spec": {"tags": [_tag(name, image) for name, image in {"installer": installer, **PARTS}.items()]},
    }
    metadata = {"kind": "cincinnati-metadata-v0", "version": VERSION}
    files = {
        "release-manifests/image-references": json.dumps(references).encode(),
        "release-manifests/release-metadata": json.dumps(metadata).encode(),
    }
    return registry.push("ocp/release", [layer(files)], tag=f"{VERSION}-x86_64")


def _tag(name: str, image: str) -> Mapping[str, object]:
    return {"name": name, "from": {"kind": "DockerImage", "name": image}}


def _answers(registry: Registry) -> bool:
    try:
        registry.push_blob("ocp/release", b"{}")
    except OSError:
        return False
    return True
