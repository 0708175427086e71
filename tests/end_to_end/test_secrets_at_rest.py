"""After a whole installation nothing in database and files can be read without the key, which can be changed."""

import base64
import subprocess
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec
import pytest

from firstlight.simulate import user
from firstlight.simulate.calls import Service, connect
from firstlight.simulate.ends import cluster_is
from firstlight.simulate.fleet import Fleet
from firstlight.simulate.machines import Plan, make_machines
from tests.end_to_end.mortal import Mortal
from tests.services import COMMAND, run_service

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LIMIT: Final = 300.0
WORDS: Final = {
    what: f"zebra-{number}-{what}-quagga"
    for number, what in enumerate(("pull", "proxy", "config", "discovery", "host", "manifest", "network"), start=1)
}
NETWORK: Final = f"""interfaces:
- name: eth0
  type: ethernet
  state: up
  802.1x: {{identity: me, eap-methods: [tls], private-key-password: {WORDS["network"]}}}
"""
FILES: Final = ("bootstrap.ign", "master.ign", "worker.ign", "metadata.json", "install-config.yaml")


def pull_secret() -> str:
    login = base64.b64encode(f"me:{WORDS['pull']}".encode()).decode()
    return msgspec.json.encode({"auths": {name: {"auth": login} for name in user.REGISTRIES}}).decode()


def ignition(word: str) -> str:
    file = {"path": "/etc/secret", "contents": {"source": f"data:,{word}"}}
    return msgspec.json.encode({"ignition": {"version": "3.1.0"}, "storage": {"files": [file]}}).decode()


async def with_secrets_everywhere(service: Service, cluster_id: UUID, infra_env_id: UUID) -> None:
    proxy = f"http://me:{WORDS['proxy']}@proxy.example.com:3128"
    await service.send("PATCH", f"/v2/clusters/{cluster_id}", {"http_proxy": proxy})
    override = {"featureSet": "CustomNoUpgrade", "featureGates": [f"{WORDS['config']}=true"]}
    path = f"/v2/clusters/{cluster_id}/install-config"
    await service.send("PATCH", path, msgspec.json.encode(override).decode())
    manifest = {
        "file_name": "secret.yaml",
        "content": base64.b64encode(
            msgspec.json.encode(
                {
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": {"name": "mine", "namespace": "default"},
                    "stringData": {"password": WORDS["manifest"]},
                }
            )
        ).decode(),
    }
    await service.send("POST", f"/v2/clusters/{cluster_id}/manifests", manifest)
    changes: dict[str, Any] = {
        "ignition_config_override": ignition(WORDS["discovery"]),
        "proxy": {"http_proxy": proxy},
        "static_network_config": [
            {
                "network_yaml": NETWORK,
                "mac_interface_map": [{"mac_address": "02:00:00:00:00:01", "logical_nic_name": "eth0"}],
            }
        ],
    }
    await service.send("PATCH", f"/v2/infra-envs/{infra_env_id}", changes)


async def installed(url: str) -> list[bytes]:
    """A single node with a secret in every place that takes one; answers what must be readable nowhere."""
    async with connect(url) as service:
        new = user.NewCluster(name="sealed", control_plane_count=1, pull_secret=pull_secret())
        cluster_id, infra_env_id = await user.create_cluster(service, new)
        await with_secrets_everywhere(service, cluster_id, infra_env_id)
        fleet = Fleet(url, infra_env_id, make_machines(Plan(masters=1), seed=3), speed=240.0, service=service)
        async with fleet.powered():
            assert (await fleet.wait(user.inventories_are_in, limit=LIMIT)).reached
            path = f"/v2/infra-envs/{infra_env_id}/hosts/{fleet.machines[0].id}/ignition"
            await service.send("PATCH", path, {"config": ignition(WORDS["host"])})
            result = await fleet.wait(cluster_is("ready"), limit=LIMIT)
            assert result.reached, result.snapshot
            await user.install(service, cluster_id)
            result = await fleet.wait(cluster_is("installed"), limit=LIMIT)
            assert result.reached, result.snapshot
            await fleet.last_words()
        own = f"/v2/infra-env/{infra_env_id}/hosts/{fleet.machines[0].id}/downloads/ignition"
        return await made_secrets(service, cluster_id, own=await service.ask("GET", own))


async def made_secrets(service: Service, cluster_id: UUID, *, own: bytes) -> list[bytes]:
    kubeconfig = await service.credentials(cluster_id, "kubeconfig")
    keys = [line.split()[1] for line in kubeconfig.splitlines() if b"client-key-data" in line]
    assert keys
    password = await service.credentials(cluster_id, "kubeadmin-password")
    files = [*[await service.cluster_file(cluster_id, name) for name in FILES], own]
    assert b"quay.io" in files[4]
    assert WORDS["host"].encode() in files[5]
    archive = await service.ask("GET", f"/v2/clusters/{cluster_id}/logs", query={"logs_type": "all"})
    assert WORDS["manifest"].encode() in archive, "whoever may read it gets it in plain text"
    # A file that could be read at rest would show its beginning.
    return [*keys, password, *(file[:200] for file in files), b"BEGIN RSA PRIVATE", b"BEGIN PRIVATE", b"BEGIN EC"]


def readable(folder: Path, secrets: list[bytes]) -> list[tuple[str, bytes]]:
    words = [word.encode() for word in WORDS.values()]
    login = base64.b64encode(f"me:{WORDS['pull']}".encode())
    texts = [*secrets, *words, login]
    every = [*texts, *(base64.b64encode(text)[:-4] for text in texts), *(text.hex().encode() for text in texts)]
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {"firstlight.sqlite", "encryption-key", "kubeconfig", "bootstrap.ign"} <= {file.name for file in files}
    return [(str(file), text) for file in files for text in every if text in file.read_bytes()]


def refused(folder: Path, **settings: str) -> str:
    with pytest.raises(RuntimeError) as trouble, run_service(folder, **settings):
        pass
    return str(trouble.value)


async def test_nothing_can_be_read_without_the_key_and_the_key_can_be_changed(tmp_path: Path) -> None:
    mortal = Mortal(tmp_path, FIRSTLIGHT_LOG_LEVEL="info", AUTH_TYPE="none")
    await mortal.start()
    try:
        secrets = await installed(mortal.url)
        assert readable(tmp_path, secrets) == []
    finally:
        await mortal.stop()
    assert "Traceback" not in mortal.log
    assert readable(tmp_path, secrets) == []

    wrong, new = "ab" * 32, "cd" * 32
    assert "FIRSTLIGHT_ENCRYPTION_KEY has key" in refused(tmp_path, FIRSTLIGHT_ENCRYPTION_KEY=wrong)
    file = tmp_path / "data" / "encryption-key"
    file.write_text(f"{new}\n{file.read_text()}")
    command = [COMMAND[0], "reencrypt", "--data-dir", str(tmp_path / "data")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Everything is under key" in ended.stdout
    file.write_text(new)
    await mortal.start()
    try:
        async with connect(mortal.url) as service:
            clusters = msgspec.json.decode(await service.ask("GET", "/v2/clusters"))
            assert b"client-key-data" in await service.credentials(UUID(clusters[0]["id"]), "kubeconfig")
    finally:
        await mortal.stop()
