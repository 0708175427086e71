"""Commands that talk to a running service: tables for people, JSON and YAML for programs."""

import io
import os
import signal
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
import yaml

from firstlight.core.hosts.short_code import short_code
from firstlight.simulate.user import simulated_pull_secret
from tests.cli.running import Cli
from tests.services import RunningService


def rows(ended: subprocess.CompletedProcess[str]) -> list[list[str]]:
    return [line.split() for line in ended.stdout.splitlines() if line]


def told(ended: subprocess.CompletedProcess[str]) -> Any:
    return msgspec.json.decode(ended.stdout)


def test_clusters_are_listed_for_people_and_programs(cli: Cli) -> None:
    header, *listed = rows(cli("clusters", "list"))
    assert header == ["Name", "Id", "Status", "Version", "%", "Domain"]
    by_name = {row[0]: row for row in listed}
    assert by_name["lab"][2] == "ready"
    assert by_name["done"][2:] == ["installed", by_name["done"][3], "100", "lab.example.com"]
    as_json = {cluster["name"]: cluster for cluster in told(cli("clusters", "list", "-o", "json"))}
    as_yaml = {cluster["name"]: cluster for cluster in yaml.safe_load(cli("clusters", "list", "-o", "yaml").stdout)}
    assert as_json["lab"]["id"] == by_name["lab"][1]
    assert as_json["lab"]["id"] == as_yaml["lab"]["id"]


def test_a_cluster_is_found_by_name_by_id_and_by_the_beginning_of_its_id(cli: Cli) -> None:
    cluster = told(cli("clusters", "show", "lab", "--output", "json"))
    assert cluster["name"] == "lab"
    for word in (cluster["id"], cluster["id"][:8]):
        shown = cli("clusters", "show", word).stdout
        assert "192.168.103.5" in shown
        assert "master-2" in shown


def test_what_does_not_exist_is_said_with_what_does(cli: Cli) -> None:
    ended = cli("clusters", "show", "labb", code=3)
    assert "there is no cluster 'labb'" in ended.stderr
    assert "lab" in ended.stderr
    assert ended.stdout == ""


def test_a_refusal_of_the_service_is_passed_on(cli: Cli) -> None:
    ended = cli("clusters", "reset", "lab", code=1)
    assert ended.stderr.startswith("firstlight: ")
    assert len(ended.stderr) > 30


def test_hosts_are_listed_by_cluster(cli: Cli) -> None:
    header, *listed = rows(cli("hosts", "list", "--cluster", "lab"))
    assert header[:4] == ["Name", "Id", "Role", "Status"]
    assert sorted(row[0] for row in listed) == ["master-0", "master-1", "master-2", "worker-0"]
    assert len(told(cli("hosts", "list", "-o", "json"))) == 9
    assert {host["status"] for host in told(cli("hosts", "list", "--cluster", "lab", "-o", "json"))} == {"known"}


def test_a_name_that_means_several_hosts_asks_for_the_id(cli: Cli) -> None:
    ended = cli("hosts", "show", "master-1", code=1)
    assert "means 2 hosts" in ended.stderr


def test_a_host_is_shown_and_changed(cli: Cli) -> None:
    host = next(
        host
        for host in told(cli("hosts", "list", "--cluster", "lab", "-o", "json"))
        if host["requested_hostname"].startswith("worker")
    )
    assert "Status" in cli("hosts", "show", host["id"]).stdout
    cli("hosts", "set", host["id"], "--name", "worker-x", "--role", "worker")
    changed = told(cli("hosts", "show", "worker-x", "-o", "json"))
    assert (changed["id"], changed["role"]) == (host["id"], "worker")
    assert "nothing to change" in cli("hosts", "set", host["id"], code=2).stderr
    cli("hosts", "set", host["id"], "--name", "worker-0", "--role", "auto-assign")


def test_hosts_are_tried_again_and_replaced_only_where_that_makes_sense(cli: Cli) -> None:
    hosts = told(cli("hosts", "list", "--cluster", "lab", "-o", "json"))
    first, second = (host["id"] for host in hosts[:2])
    for ended in (cli("hosts", "retry", first, code=1), cli("hosts", "replace", first, second, code=1)):
        assert (
            "a host is tried again only while its cluster installs" in ended.stderr or "Unbind it first" in ended.stderr
        )
    assert cli("hosts", "replace", first, "nobody", code=3).stderr


def test_findings_tell_evidence_and_fix(cli: Cli) -> None:
    shown = cli("findings", "broken").stdout
    assert "Cluster broken is insufficient" in shown
    assert "✗ has-min-valid-disks" in shown
    assert "✓" not in shown
    assert "✓" in cli("findings", "broken", "--all").stdout
    as_json = told(cli("findings", "broken", "-o", "json"))
    failed = {
        finding["id"] for listed in as_json["hosts"].values() for finding in listed if finding["status"] == "failure"
    }
    assert "has-min-valid-disks" in failed
    broken = next(
        host["id"]
        for host in told(cli("hosts", "list", "--cluster", "broken", "-o", "json"))
        if host["requested_hostname"] == "worker-0"
    )
    (finding,) = [one for one in told(cli("hosts", "findings", broken, "-o", "json")) if one["status"] == "failure"]
    assert finding["id"] == "has-min-valid-disks"
    assert finding["evidence"]
    assert "Nothing stands in the way" in cli("findings", "lab").stdout


def test_events_are_listed_oldest_first(cli: Cli) -> None:
    found = told(cli("events", "--cluster", "done", "--limit", "5000", "-o", "json"))
    times = [event["event_time"] for event in found]
    assert times == sorted(times)
    assert "cluster_installation_completed" in {event["name"] for event in found}
    newest = told(cli("events", "--cluster", "done", "--limit", "2", "-o", "json"))
    assert newest == found[-2:]
    assert "Message" in cli("events", "--cluster", "done").stdout.splitlines()[0]


def test_following_begins_after_the_number_that_was_given_and_ends_with_an_interrupt(running: RunningService) -> None:
    def follow(since: int, count: int) -> list[dict[str, Any]]:
        command = [sys.executable, "-m", "firstlight.cli.main", "events", "-f", "--since", str(since), "-o", "json"]
        with subprocess.Popen(
            command, env={**os.environ, "FIRSTLIGHT_URL": running.url}, stdout=subprocess.PIPE
        ) as ended:
            assert ended.stdout is not None
            found = [msgspec.json.decode(ended.stdout.readline()) for _ in range(count)]
            ended.send_signal(signal.SIGINT)
            ended.stdout.read()
        assert ended.returncode == 0
        return found

    first = follow(0, 4)
    assert [event["seq"] for event in first] == [1, 2, 3, 4]
    assert follow(2, 2) == first[2:]


def test_logs_and_kubeconfig_are_fetched(cli: Cli, tmp_path: Path) -> None:
    cli("logs", "done", "--to", str(tmp_path / "all.tar"))
    with tarfile.open(tmp_path / "all.tar") as archive:
        assert archive.getnames()
    cli("logs", "done", "--controller", "--to", str(tmp_path / "controller.tar.gz"))
    with tarfile.open(fileobj=io.BytesIO((tmp_path / "controller.tar.gz").read_bytes())) as archive:
        assert archive.getnames() == ["assisted-installer-controller.logs"]
    printed = cli("clusters", "kubeconfig", "done").stdout
    cli("clusters", "kubeconfig", "done", "--to", str(tmp_path / "kubeconfig"))
    assert (tmp_path / "kubeconfig").read_text().strip() == printed.strip()
    assert (tmp_path / "kubeconfig").stat().st_mode & 0o777 == 0o600
    assert yaml.safe_load(printed)["kind"] == "Config"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.tar", "controller.tar.gz", "kubeconfig"]


def test_logs_that_do_not_exist_leave_no_file(cli: Cli, tmp_path: Path) -> None:
    ended = cli("logs", "lab", "--controller", "--to", str(tmp_path / "none"), code=1)
    assert ended.stderr.startswith("firstlight: ")
    assert [*tmp_path.iterdir()] == []


def test_a_cluster_is_created_and_given_up(cli: Cli, tmp_path: Path) -> None:
    secret = tmp_path / "pull-secret"
    secret.write_text(simulated_pull_secret())
    said = cli("clusters", "create", "passing", "--base-domain", "example.com", "--pull-secret", str(secret)).stdout
    assert "Cluster passing is registered" in said
    said = cli(
        "infra-envs", "create", "passing", "--cluster", "passing", "--pull-secret", "-", stdin=secret.read_text()
    )
    assert "Boot the machines from http" in said.stdout
    listed = {row[0] for row in rows(cli("infra-envs", "list"))}
    assert "passing" in listed
    shown = cli("infra-envs", "show", "passing")
    assert "Image" in shown.stdout
    for words in ("No other machine can boot from the images", "FIRSTLIGHT_IMAGE_SERVICE_BASE_URL"):
        assert words in shown.stderr
    assert "FIRSTLIGHT_SERVICE_BASE_URL" in shown.stderr
    assert "Give up cluster passing" in cli("clusters", "delete", "passing", code=1, stdin="n\n").stdout
    cli("clusters", "delete", "passing", "--yes")
    cli("clusters", "show", "passing", code=3)


def test_without_a_pull_secret_nothing_is_created(cli: Cli) -> None:
    assert "--pull-secret" in cli("clusters", "create", "nothing", code=2).stderr


def test_hosts_are_bound_and_unbound(cli: Cli) -> None:
    host = told(cli("hosts", "list", "--cluster", "broken", "-o", "json"))[0]["id"]
    # Its infra-env belongs to the cluster, so it can be in no other.
    assert cli("hosts", "unbind", host, code=1).stderr.startswith("firstlight: ")
    assert cli("hosts", "bind", host, "lab", code=1).stderr.startswith("firstlight: ")


def test_simulated_machines_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    ended = cli(
        "simulate", "--new-cluster", "from-cli", "--masters", "1", "--speed", "150", "--show", "json",
        "--kubeconfig", str(tmp_path / "kubeconfig"),
    )  # fmt: skip
    lines = [msgspec.json.decode(line) for line in ended.stdout.splitlines()]
    assert lines[-1]["cluster"] == "installed"
    assert lines[-1]["hosts"] == {"installed": 1}


def test_a_scenario_that_does_not_come_true_fails_the_command(cli: Cli) -> None:
    ended = cli(
        "simulate", "--new-cluster", "in-vain", "--masters", "3", "--scenario", "silent-host", "--limit", "2",
        "--speed", "100", code=1,
    )  # fmt: skip
    assert "was not reached" in ended.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["simulate"], "either --infra-env-id or --new-cluster"),
        (["simulate", "--new-cluster", "x", "--scenario", "flood"], "There is no fault 'flood'"),
    ],
)
def test_wrong_usage_is_told(cli: Cli, args: list[str], said: str) -> None:
    assert said in cli(*args, code=2).stderr


def test_the_log_of_an_agent_by_id_and_by_the_code_on_its_console(cli: Cli, running: RunningService) -> None:
    host = next(host for host in told(cli("hosts", "list", "--cluster", "lab", "-o", "json")) if host["id"])
    path = f"/api/firstlight/v1/infra-envs/{host['infra_env_id']}/hosts/{host['id']}/log"
    request = urllib.request.Request(
        running.url + path, data=b"a step\t\x1b]0;mine\x07 begins\n", headers={"Content-Type": "text/plain"}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60):
        pass
    for word in (host["id"], short_code(UUID(host["id"])).lower()):
        assert (
            cli("hosts", "log", word).stdout
            == "a step\t\N{REPLACEMENT CHARACTER}]0;mine\N{REPLACEMENT CHARACTER} begins\n"
        )
    assert "there is no host '2222'" in cli("hosts", "log", "2222", code=3).stderr
