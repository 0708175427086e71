"""Installations through the generated Python client alone: it plays user, agent, installer and controller."""

import ast
import inspect
import io
import json
import tarfile
from pathlib import Path

import pytest
import yaml
from assisted_service_client import api, models

from tests.clients.certificates import a_certificate
from tests.clients.sdk import Agent, Sdk, downloaded, refusal

GROUPS = {
    "installer": api.InstallerApi,
    "events": api.EventsApi,
    "manifests": api.ManifestsApi,
    "operators": api.OperatorsApi,
    "versions": api.VersionsApi,
    "domains": api.ManagedDomainsApi,
}


def an_archive(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def installing(sdk: Sdk) -> tuple[str, Agent]:
    """A single node whose agent has been told to install."""
    cluster = sdk.a_single_node()
    agent = sdk.a_host(sdk.an_infra_env(cluster))
    agent.poll_until(lambda: sdk.installer.v2_get_cluster(cluster.id).status == "ready")
    started = sdk.installer.v2_install_cluster(cluster.id)
    assert started.status == "preparing-for-installation"
    agent.become("installing")
    agent.poll_until(lambda: "install" in agent.poll() or agent.host().status == "installing-in-progress")
    return cluster.id, agent


def test_a_single_node_is_installed_and_grows(sdk: Sdk, tmp_path: Path) -> None:
    cluster_id, agent = installing(sdk)
    installer = sdk.installer
    for stage in agent.host().progress_stages:
        installer.v2_update_host_install_progress(*agent.key, models.HostProgress(current_stage=stage))
        assert agent.host().progress.current_stage == stage
    assert agent.host().status == "installed"
    name, content = downloaded(installer.v2_download_host_ignition, *agent.key)
    assert name.endswith(".ign")
    assert json.loads(content) == json.loads(installer.v2_get_host_ignition(*agent.key).config)
    _report_as_controller(sdk, cluster_id)
    assert str(installer.v2_get_cluster(cluster_id).install_completed_at) > "2020"
    _read_credentials(sdk, cluster_id)
    _exchange_logs(sdk, cluster_id, agent, tmp_path)
    _grow(sdk, cluster_id)


def _report_as_controller(sdk: Sdk, cluster_id: str) -> None:
    installer = sdk.installer
    finalizing = models.ClusterFinalizingProgress(finalizing_stage="Waiting for cluster operators")
    installer.v2_update_cluster_finalizing_progress(cluster_id, finalizing)
    found = installer.v2_get_cluster(cluster_id)
    assert (found.status, found.progress.finalizing_stage) == ("finalizing", "Waiting for cluster operators")
    report = models.OperatorMonitorReport(name="console", status="progressing", status_info="Soon.", version="1")
    installer.v2_report_monitored_operator_status(cluster_id, report)
    report.status = "available"
    sdk.operators.v2_report_monitored_operator_status(cluster_id, report)
    (console,) = installer.v2_list_of_cluster_operators(cluster_id)
    assert (console["status"], console["status_info"]) == ("available", "Soon.")
    installer.v2_upload_cluster_ingress_cert(cluster_id, a_certificate())
    installer.v2_complete_installation(cluster_id, models.CompletionParams(is_success=True))
    assert installer.v2_get_cluster(cluster_id).status == "installed"


def _read_credentials(sdk: Sdk, cluster_id: str) -> None:
    installer = sdk.installer
    for file_name in ("kubeconfig", "kubeconfig-noingress"):
        name, content = downloaded(installer.v2_download_cluster_credentials, cluster_id, file_name)
        assert (name, yaml.safe_load(content)["kind"]) == (file_name, "Config")
    _, password = downloaded(installer.v2_download_cluster_credentials, cluster_id, "kubeadmin-password")
    told = installer.v2_get_credentials(cluster_id)
    assert (told.username, told.password) == ("kubeadmin", password.decode())
    assert told.console_url.startswith("https://console-openshift-console.apps.")
    link = installer.v2_get_presigned_for_cluster_credentials(cluster_id, "kubeconfig")
    assert link.url.startswith("http")
    for file_name in ("bootstrap.ign", "master.ign", "worker.ign", "install-config.yaml", "metadata.json"):
        name, content = downloaded(installer.v2_download_cluster_files, cluster_id, file_name)
        assert name == file_name
        assert yaml.safe_load(content)
        assert installer.v2_get_presigned_for_cluster_files(cluster_id, file_name).url


def _exchange_logs(sdk: Sdk, cluster_id: str, agent: Agent, folder: Path) -> None:
    installer = sdk.installer
    progress = models.LogsProgressParams(logs_state="collecting")
    installer.v2_update_host_logs_progress(*agent.key, progress)
    installer.v2_update_cluster_logs_progress(cluster_id, progress)
    found = installer.v2_get_cluster(cluster_id)
    assert (found.logs_info, agent.host().logs_info) == ("collecting", "collecting")
    stored = folder / "logs.tar.gz"
    stored.write_bytes(an_archive("installer.log", b"all went well\n"))
    installer.v2_upload_logs(cluster_id, "host", upfile=str(stored), infra_env_id=agent.infra_env_id, host_id=agent.id)
    installer.v2_upload_logs(cluster_id, "controller", upfile=str(stored))
    name, content = downloaded(installer.v2_download_cluster_logs, cluster_id, logs_type="all")
    assert name.endswith((".tar", ".tar.gz"))
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert len(archive.getnames()) >= 2
    assert refusal(installer.v2_download_cluster_logs, cluster_id, logs_type="host", host_id=cluster_id)["id"] == 404


def _grow(sdk: Sdk, cluster_id: str) -> None:
    installer = sdk.installer
    grown = installer.transform_cluster_to_day2(cluster_id)
    assert (grown.kind, grown.status) == ("AddHostsCluster", "adding-hosts")
    agent = sdk.a_host(sdk.an_infra_env(grown), number=1)
    assert agent.become("known").kind == "AddToExistingClusterHost"
    assert installer.v2_install_host(*agent.key).status in ("installing", "preparing-successful")
    agent.become("installing")
    for stage in ("Starting installation", "Installing", "Writing image to disk", "Rebooting"):
        installer.v2_update_host_install_progress(*agent.key, models.HostProgress(current_stage=stage))
    agent.become("added-to-existing-cluster")


def test_an_installation_is_stopped_and_begun_again(sdk: Sdk) -> None:
    cluster_id, agent = installing(sdk)
    assert sdk.installer.v2_cancel_installation(cluster_id).status == "cancelled"
    assert sdk.installer.v2_reset_cluster(cluster_id).status in ("insufficient", "pending-for-input")
    assert agent.host().status in ("resetting", "resetting-pending-user-action", "discovering")
    agent.register()
    agent.become("known")
    assert refusal(sdk.installer.v2_reset_host, *agent.key)["id"] == 409
    assert refusal(sdk.installer.transform_cluster_to_adding_hosts, cluster_id)["id"] == 400


@pytest.mark.parametrize("group", GROUPS)
def test_every_method_of_the_client_is_called(group: str) -> None:
    published = {
        name
        for name, _ in inspect.getmembers(GROUPS[group], inspect.isfunction)
        if not name.startswith("_") and not name.endswith("_with_http_info")
    }
    assert published <= _methods_named(group)


def _methods_named(group: str) -> set[str]:
    """What this file, its neighbour and the agent read from a group: `sdk.<group>.<method>`, or from `installer`."""
    found: set[str] = set()
    for path in Path(__file__).parent.glob("*sdk*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
                if owner.strip("_") == group:
                    found.add(node.attr)
    return found
