"""aicli takes simulated machines from nothing to a running cluster, lets it grow, and clears up."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import yaml

from firstlight.simulate.machines import Machine
from tests.clients.command_line import Aicli
from tests.clients.fleets import powered, some_machines
from tests.services import RunningService

SLOW = 15.0
"""Slow enough that a look every five seconds finds the installation under way."""
NEVER = "0001-01-01 00:00:00+00:00"


@pytest.fixture
def power(service: RunningService) -> Iterator[Any]:
    """`power(infra_env_id, machines)` switches machines on until the test ends."""
    with ExitStack() as stack:
        yield lambda *fleet, **pace: stack.enter_context(powered(service.url, *fleet, **pace))


def hosts_of(aicli: Aicli, name: str) -> dict[str, Any]:
    cluster_id = aicli.cluster(name)["id"]
    return {
        host["requested_hostname"]: host for host in aicli.json("list", "hosts") if host.get("cluster_id") == cluster_id
    }


def set_vips(aicli: Aicli, name: str, machines: list[Machine]) -> None:
    network = machines[0].network
    wish = aicli.parameters(api_vip=network.api_vip, ingress_vip=network.ingress_vip, infraenv=False)
    aicli("update", "cluster", "--paramfile", wish, name)


def read_credentials(aicli: Aicli, name: str) -> None:
    aicli("download", "kubeconfig", name)
    assert yaml.safe_load(aicli.read(f"kubeconfig.{name}"))["clusters"]
    aicli("download", "kubeadmin-password", name)
    assert len(aicli.read(f"kubeadmin-password.{name}")) == 23


def test_three_and_two(aicli: Aicli, power: Any) -> None:
    *machines, one_more = some_machines(masters=3, workers=3, salt="east")
    aicli.create("east")
    power(aicli.infra_env_id("east"), machines)
    set_vips(aicli, "east", machines)
    aicli("wait", "hosts", "-n", "5", "east")
    for role in ("master", "worker"):
        aicli("update", "host", "-P", f"role={role}", "-P", "infraenv=east", role)
    aicli("update", "host", "-P", "name=control-0", "-P", "disk=sda", machines[0].mac)
    aicli("update", "host", "-P", "extra_args=--append-karg quiet", "-P", "labels=[zone=one]", "worker-0")
    hosts = hosts_of(aicli, "east")
    assert {name: host["role"] for name, host in hosts.items()} == {
        "control-0": "master",
        "master-1": "master",
        "master-2": "master",
        "worker-0": "worker",
        "worker-1": "worker",
    }
    assert hosts["control-0"]["installation_disk_path"] == "/dev/sda"
    assert json.loads(hosts["worker-0"]["installer_args"]) == ["--append-karg", "quiet"]
    assert machines[0].address in aicli("info", "host", "control-0")
    aicli("wait", "cluster", "-s", "ready", "east")
    aicli("start", "cluster", "east")
    aicli("wait", "cluster", "east")
    found = aicli.cluster("east")
    assert found["status"] == "installed"
    assert found["install_completed_at"] != NEVER
    assert {host["status"] for host in hosts_of(aicli, "east").values()} == {"installed"}
    read_credentials(aicli, "east")
    for role in ("bootstrap", "master", "worker"):
        aicli("download", "ignition", "--role", role, "east")
        assert json.loads(aicli.read(f"{role}.ign.east"))["ignition"]["version"]
    assert "(bootstrap)" in aicli("list", "hosts")
    assert "installed" in aicli("list", "events", "east")
    aicli("update", "cluster", "-P", "day2=true", "east")
    assert aicli.cluster("east")["status"] == "adding-hosts"
    power(aicli.infra_env_id("east"), [one_more])
    _grow_in_place(aicli, one_more.name)
    _grow_as_another(aicli)
    aicli("delete", "cluster", "-y", "east")
    left = aicli("list", "clusters") + aicli("list", "infraenvs")
    assert "east" not in left


def _grow_in_place(aicli: Aicli, name: str) -> None:
    aicli("wait", "hosts", "-n", "1", "east")
    aicli("start", "cluster", "east")
    end = time.monotonic() + 120
    while hosts_of(aicli, "east")[name]["status"] != "added-to-existing-cluster":
        assert time.monotonic() < end


def _grow_as_another(aicli: Aicli) -> None:
    aicli("create", "cluster", "east-day2")
    grown = aicli.cluster("east-day2")
    assert (grown["kind"], grown["imported"], grown["status"]) == ("AddHostsCluster", True, "adding-hosts")
    assert grown["api_vip_dns_name"] == aicli.cluster("east")["api_vips"][0]["ip"]
    assert "east-day2_infra-env" in aicli("list", "infraenvs")


def test_one_machine(aicli: Aicli, power: Any) -> None:
    machines = some_machines(masters=1, salt="one")
    aicli.create("one", sno=True)
    power(aicli.infra_env_id("one"), machines)
    aicli("wait", "hosts", "one")
    aicli("wait", "cluster", "-s", "ready", "one")
    aicli("start", "cluster", "one")
    aicli("wait", "cluster", "one")
    assert aicli.cluster("one")["status"] == "installed"
    read_credentials(aicli, "one")


def test_three_machines_out_of_a_pool_stopped_midway(aicli: Aicli, power: Any) -> None:
    machines = some_machines(masters=3, salt="pool")
    aicli("create", "infraenv", "pool")
    power(aicli.infra_env_id("pool"), machines, speed=SLOW)
    aicli.create("compact", infraenv=False)
    aicli("bind", "infraenv", "pool", "compact")
    set_vips(aicli, "compact", machines)
    aicli("wait", "hosts", "-n", "3", "pool")
    aicli("wait", "cluster", "-s", "ready", "compact")
    aicli("start", "cluster", "compact")
    aicli("wait", "cluster", "-s", "installing", "compact")
    aicli("stop", "cluster", "compact")
    assert aicli.cluster("compact")["status"] in ("insufficient", "pending-for-input", "ready")
    aicli("unbind", "host", str(machines[0].id))
    assert "N/A" in aicli("list", "hosts")
    aicli("delete", "infraenv", "-f", "-y", "pool")
    aicli("delete", "cluster", "-y", "compact")
