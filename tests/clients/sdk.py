"""The published Python client with its own checks switched on, and a machine that speaks through it."""

import json
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from assisted_service_client import ApiClient, Configuration, api, models
from assisted_service_client.rest import ApiException

from bench.machines import Machine

PULL_SECRET = json.dumps({"auths": {name: {"auth": "dXNlcjpwYXNz"} for name in ("cloud.openshift.com", "quay.io")}})
SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMTlWkvJgqRiNltPNtHWRoAGmUkEmnDQo+eV36sqkfxZ admin@example.com"
VERSION = "4.18"
WAIT_SECONDS = 120


class Sdk:
    """One attribute for each group of operations."""

    def __init__(self, url: str) -> None:
        configuration = Configuration()
        configuration.host = url
        configuration.client_side_validation = True
        client = ApiClient(configuration=configuration)
        self.installer = api.InstallerApi(client)
        self.events = api.EventsApi(client)
        self.manifests = api.ManifestsApi(client)
        self.operators = api.OperatorsApi(client)
        self.versions = api.VersionsApi(client)
        self.domains = api.ManagedDomainsApi(client)

    def a_cluster(self, **settings: Any) -> models.Cluster:
        wanted = {
            "name": f"c{uuid4().hex[:8]}",
            "openshift_version": VERSION,
            "base_dns_domain": "example.com",
            "pull_secret": PULL_SECRET,
            "ssh_public_key": SSH_KEY,
        }
        return self.installer.v2_register_cluster(models.ClusterCreateParams(**(wanted | settings)))

    def a_single_node(self, **settings: Any) -> models.Cluster:
        return self.a_cluster(high_availability_mode="None", user_managed_networking=True, **settings)

    def an_infra_env(self, cluster: models.Cluster | None = None, **settings: Any) -> models.InfraEnv:
        wanted = {"name": f"e{uuid4().hex[:8]}", "pull_secret": PULL_SECRET, "openshift_version": VERSION}
        if cluster is not None:
            wanted["cluster_id"] = cluster.id
        return self.installer.register_infra_env(models.InfraEnvCreateParams(**(wanted | settings)))

    def a_host(self, infra_env: models.InfraEnv, number: int = 0) -> "Agent":
        return Agent(self, infra_env.id, number)


def refusal(call: Callable[..., object], *arguments: object, **settings: object) -> dict[str, Any]:
    """The document a call is refused with; the client's own model has checked it."""
    with pytest.raises(ApiException) as refused:
        call(*arguments, **settings)
    document: dict[str, Any] = json.loads(refused.value.body)
    assert refused.value.status == int(document["code"])
    if "reason" in document:
        models.Error(**document)
    return document


def downloaded(call: Callable[..., Any], *arguments: object, **settings: object) -> tuple[str, bytes]:
    """Name and content of a file. The client's own way of storing it fails on Python 3, so everybody reads it raw."""
    answer = call(*arguments, _preload_content=False, **settings)
    disposition = answer.getheader("Content-Disposition")
    assert disposition.startswith('attachment; filename="')
    length = answer.getheader("Content-Length")
    assert length is None or int(length) == len(answer.data)
    return disposition.partition('"')[2].rstrip('"'), answer.data


class Agent:
    """A machine that registers, asks for steps and answers them, all through the client."""

    def __init__(self, sdk: Sdk, infra_env_id: str, number: int) -> None:
        self._installer = sdk.installer
        self._machine = Machine(uuid4().int & 0xFFFF, number, infra_env_id)
        self.infra_env_id = infra_env_id
        self.id = self._machine.host_id
        self.key = (infra_env_id, self.id)
        self.version = sdk.versions.v2_list_component_versions().versions["discovery-agent"]
        self.register()

    def register(self) -> None:
        params = models.HostCreateParams(host_id=self.id, discovery_agent_version=self.version)
        registered = self._installer.v2_register_host(self.infra_env_id, params)
        command = json.loads(registered.next_step_runner_command.args[0])
        assert (command["infra_env_id"], command["host_id"]) == self.key
        assert command["agent_version"] == self.version

    def poll(self) -> list[str]:
        """One round: ask, answer each step but the installation; start anew when told to. Gives the types asked for."""
        steps = self._installer.v2_get_next_steps(
            *self.key, timestamp=int(time.time()), discovery_agent_version=self.version
        )
        for step in steps.instructions or []:
            if step.step_type != "install":
                self._installer.v2_post_step_reply(*self.key, reply=self._reply(step))
        if steps.post_step_action == "exit":
            self.register()
        return [step.step_type for step in steps.instructions or []]

    def poll_until(self, reached: Callable[[], object]) -> None:
        end = time.monotonic() + WAIT_SECONDS
        while not reached():
            assert time.monotonic() < end, self.host().status_info
            self.poll()
            time.sleep(0.2)

    def become(self, status: str) -> models.Host:
        self.poll_until(lambda: self.host().status == status)
        return self.host()

    def host(self) -> models.Host:
        return self._installer.v2_get_host(*self.key)

    def _reply(self, step: models.Step) -> models.StepReply:
        match step.step_type:
            case "installation-disk-speed-check":
                output = json.dumps({"path": "/dev/sda", "io_sync_duration": 5})
            case "container-image-availability":
                measured = {"result": "success", "size_bytes": 1e9, "time": 10.0, "download_rate": 1e8}
                images = [{"name": name, **measured} for name in json.loads(step.args[0])["images"]]
                output = json.dumps({"images": images})
            case "api-vip-connectivity-check":
                # A running cluster with managed names: day-2 hosts need no DNS of their own.
                names = {"path": "/etc/kubernetes/manifests/coredns.yaml", "contents": {"source": "data:,"}}
                ignition = {"ignition": {"version": "3.2.0"}, "storage": {"files": [names]}}
                output = json.dumps({"is_success": True, "ignition": json.dumps(ignition)})
            case _:
                asked = {"step_type": step.step_type, "args": step.args}
                output = json.loads(self._machine.answer(asked))["output"]
        return models.StepReply(step_type=step.step_type, step_id=step.step_id, exit_code=0, output=output, error="")
