"""The first boot of an installed machine, as far as others see it: Ignition, its units, and a kubelet that joins.

Started in the machine's own namespaces: `python -m lab.cluster.node IGNITION ADDRESS`. Ignition is what
coreos-installer was told to put on the disk. Everything after it comes from the machine-config server. It joins when
the laboratory lets it (the file `join`): real machines take minutes for what is done here at once.
"""

import base64
import json
import os
import shlex
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

import httpx2
import msgspec
import yaml

from firstlight.core.install import ignition
from firstlight.core.install.ignition_merge import merge
from firstlight.core.install.ignition_models import Config, References
from lab.cluster.api import Api, Json, wait_for
from lab.cluster.joiner import Joiner
from lab.cluster.kubelet import LOGS, Kubelet
from lab.cluster.laying import content_of, lay_over
from lab.cluster.machine_configs import CURRENT, DESIRED, ENCAPSULATED, KUBECONFIG, KUBELET

PATIENCE: Final = 600.0
KUBELET_PORT: Final = 10250
BOOT_TIME: Final = 2
"""The kind of a boot's record in wtmp."""
MCO: Final = "openshift-machine-config-operator"
AGENT: Final = "Ignition/2.14.0"
REPORTER: Final = "/etc/systemd/system/firstlight-first-boot.service"


def say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


def ignited(document: bytes) -> Config:
    """The whole config: what it refers to is fetched, as often as it takes."""
    own = ignition.decode(document)
    trusted = "".join(
        content_of(one.source or "").decode() for one in own.ignition.security.tls.certificate_authorities
    )
    section = msgspec.structs.replace(own.ignition, config=References())
    whole = msgspec.structs.replace(own, ignition=section)
    for reference in own.ignition.config.merge:
        say(f"fetching {reference.source}")
        whole = merge(ignition.decode(fetched(reference.source or "", trusted)), whole)
    return whole


def fetched(url: str, trusted: str) -> bytes:
    context = ssl.create_default_context(cadata=trusted) if trusted else ssl.create_default_context()
    accept = "application/vnd.coreos.ignition+json;version=3.3.0, */*;q=0.1"
    end = time.monotonic() + PATIENCE
    while True:
        try:
            answer = httpx2.get(
                url, verify=context, headers={"User-Agent": AGENT, "Accept": accept}, trust_env=False, timeout=10
            )
            answer.raise_for_status()
        except httpx2.HTTPError as trouble:
            say(f"not yet: {trouble}")
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
        else:
            return answer.content


def start_reporter() -> None:
    """The unit of our own that tells the service about this boot; systemd would start it like this."""
    unit = Path(REPORTER)
    if not unit.exists():
        return
    told = {name: value for name, _, value in (line.partition("=") for line in unit.read_text().splitlines())}
    words = (shlex.split(line)[0] for line in Path(told["EnvironmentFile"]).read_text().splitlines())
    variables = {name: value for name, _, value in (word.partition("=") for word in words)}
    environment = {**os.environ, **variables, "FIRSTLIGHT_REST": "0.5"}
    subprocess.Popen(shlex.split(told["ExecStart"]), env=environment, stdin=subprocess.DEVNULL)


def bootstrapper() -> Api:
    """Whoever holds the kubeconfig that came with the configuration."""
    config = yaml.safe_load(Path(KUBECONFIG).read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    data = {name: base64.b64decode(value).decode() for name, value in {**cluster, **user}.items() if "-data" in name}
    return Api(
        cluster["server"],
        authorities=data["certificate-authority-data"],
        certificate=data["client-certificate-data"],
        key=data["client-key-data"],
    )


def machine_config_name() -> str:
    rendered = cast("Json", json.loads(Path(ENCAPSULATED).read_text()))
    return str(rendered["metadata"]["name"])


class MachineKubelet(Kubelet):
    """Shows the log of the machine-config server, wherever that runs, and the machine's record of its boots."""

    def answer(self, target: str) -> bytes | None:
        path = urlsplit(target).path
        if path == "/logs/wtmp":
            return struct.pack("<h382x", BOOT_TIME) * int(os.environ["LAB_BOOTS"])
        if path.startswith(f"{LOGS}{MCO}/machine-config-server"):
            return Path(os.environ["LAB_MCS_LOG"]).read_bytes()
        return super().answer(target)


def main(words: list[str]) -> None:
    config, address = Path(words[1]).read_bytes(), words[2]
    whole = ignited(config)
    say(f"{lay_over(cast('Json', json.loads(ignition.encode(whole))), Path('/'))} files and units were written")
    name = Path("/etc/hostname").read_text().strip()
    socket.sethostname(name)
    start_reporter()
    wait_for(Path(os.environ["LAB_HOST"], "join").exists, what="the end of the first boot", seconds=PATIENCE)
    api = bootstrapper()
    wait_for(api.is_ready, what="the API server", seconds=PATIENCE)
    subprocess.run(["systemctl", "start", KUBELET], check=True)
    joiner = Joiner(name, address=address, bootstrapper=api, server=api.server, patience=PATIENCE)
    rendered = machine_config_name()
    joiner.join(annotations={CURRENT: rendered, DESIRED: rendered})
    say("joined")
    joiner.become_ready()
    say("ready")
    with MachineKubelet(joiner, address=address, port=KUBELET_PORT).running():
        say("serving")
        threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv)
