"""Manifests the service adds: which, with what inside, and Ignition that the real validator accepts."""

import base64
import json
import subprocess

import pytest

from firstlight.core.install import ignition
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.inputs import MirrorRegistries, RegistryMirror
from firstlight.core.install.system_manifests import (
    EncryptionSettings,
    SystemSettings,
    custom_manifests,
    encrypted_roles,
    system_manifests,
)
from firstlight.core.model.cluster_status import EncryptionMode
from firstlight.core.model.host_status import HostRole
from tests.core.install.clusters import THREE_MASTERS, a_cluster, a_host, a_single_node
from tests.core.install.validator import verdict

M, A, W = HostRole.MASTER, HostRole.ARBITER, HostRole.WORKER
TANG = EncryptionSettings(roles=frozenset({M}), mode=EncryptionMode.TANG, tang_servers=(("http://t", "print"),))
EVERYTHING = SystemSettings(
    schedulable_masters=True,
    encryption=TANG,
    service_url="https://api.stage.openshift.com/api",
    operator_manifests=(("50_openshift-lso_ns.yaml", "{}"),),
)


def made(cluster: ClusterInputs, settings: SystemSettings) -> dict[str, object]:
    return {one.name: json.loads(one.content) for one in system_manifests(cluster, settings)}


def inside(document: object) -> ignition.Config:
    return ignition.parse(json.dumps(document["spec"]["config"]))


def test_the_usual_ones() -> None:
    assert sorted(made(a_cluster(), SystemSettings())) == [
        "50-masters-chrony-configuration.yaml",
        "50-masters-iscsi-nic-reapply.yaml",
        "50-workers-chrony-configuration.yaml",
        "50-workers-iscsi-nic-reapply.yaml",
    ]


def test_arbiters_get_theirs() -> None:
    names = made(a_cluster(hosts=(*THREE_MASTERS[:2], a_host(3, A))), SystemSettings())
    assert {"50-arbiters-chrony-configuration.yaml", "50-arbiters-iscsi-nic-reapply.yaml"} <= set(names)


@pytest.mark.parametrize(
    ("settings", "pool", "servers"),
    [
        (SystemSettings(), True, []),
        (SystemSettings(other_ntp_sources=("a", "b", "a")), True, ["a", "b"]),
        (SystemSettings(ntp_sources=("c",), other_ntp_sources=("a",)), False, ["c"]),
    ],
)
def test_chrony(settings: SystemSettings, pool: bool, servers: list[str]) -> None:
    document = made(a_cluster(), settings)["50-workers-chrony-configuration.yaml"]
    assert document["metadata"]["name"] == "50-workers-chrony-configuration"
    assert document["metadata"]["labels"] == {"machineconfiguration.openshift.io/role": "worker"}
    config = inside(document)
    assert config.ignition.version == "3.1.0"
    lines = (ignition.content_of(config, "/etc/chrony.conf") or b"").decode().splitlines()
    assert ("pool 0.rhel.pool.ntp.org iburst" in lines) is pool
    assert [line for line in lines if line.startswith("server ")] == [f"server {one} iburst" for one in servers]


def test_a_single_node_answers_its_own_names() -> None:
    document = made(a_single_node(), SystemSettings())["dnsmasq-bootstrap-in-place.yaml"]
    config = inside(document)
    settings = ignition.content_of(config, "/etc/default/sno_dnsmasq_configuration")
    assert settings == b"CLUSTER_NAME=sky\nBASE_DOMAIN=example.com\nHOST_IP=192.168.111.1\n"
    without_network = inside(
        made(a_single_node(machine_networks=()), SystemSettings())["dnsmasq-bootstrap-in-place.yaml"]
    )
    assert b"HOST_IP=10.9.0.1\n" in (
        ignition.content_of(without_network, "/etc/default/sno_dnsmasq_configuration") or b""
    )
    for path in ("/usr/local/bin/dnsmasq_config.sh", "/etc/NetworkManager/dispatcher.d/forcedns"):
        subprocess.run(["bash", "-n"], input=ignition.content_of(config, path), check=True)
    assert "dnsmasq-bootstrap-in-place.yaml" not in made(a_single_node(), SystemSettings(single_node_dns=False))


def test_masters_may_carry_workloads() -> None:
    patch = made(a_cluster(), EVERYTHING)["cluster-scheduler-02-config.yml.patch_ai_set_masters_schedulable"]
    assert patch == [{"op": "replace", "path": "/spec/mastersSchedulable", "value": True}]


def test_disks_encrypted_with_tang() -> None:
    document = made(a_cluster(), EVERYTHING)["99-openshift-master-tang-encryption.yaml"]
    assert document["metadata"]["name"] == "master-tang"
    assert document["spec"]["kernelArguments"] == ["rd.neednet=1"]
    config = inside(document)
    assert config.ignition.version == "3.2.0"
    (luks,) = config.storage.luks
    assert luks.device == "/dev/disk/by-partlabel/root"
    assert luks.options == ("--cipher", "aes-cbc-essiv:sha256")
    assert luks.clevis is not None
    assert [(one.url, one.thumbprint) for one in luks.clevis.tang] == [("http://t", "print")]


def test_disks_encrypted_with_tpm() -> None:
    settings = SystemSettings(encryption=EncryptionSettings(roles=frozenset({M, W}), cipher="aes-xts-plain64"))
    documents = made(a_cluster(), settings)
    assert {"99-openshift-master-tpm-encryption.yaml", "99-openshift-worker-tpm-encryption.yaml"} <= set(documents)
    document = documents["99-openshift-worker-tpm-encryption.yaml"]
    assert "kernelArguments" not in document["spec"]
    (luks,) = inside(document).storage.luks
    assert luks.clevis is not None
    assert luks.clevis.tpm2 is True
    assert luks.options[-1] == "aes-xts-plain64"


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("none", set()),
        ("", set()),
        ("all", {M, A, W}),
        ("masters", {M}),
        ("masters,workers", {M, W}),
        ("arbiters", {A}),
    ],
)
def test_encrypted_roles(text: str, roles: set[HostRole]) -> None:
    assert encrypted_roles(text) == roles


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("https://api.stage.openshift.com/x", "https://infogw.api.stage.openshift.com"),
        ("https://api.integration.openshift.com", "https://infogw.api.integration.openshift.com"),
        ("https://api.openshift.com", None),
    ],
)
def test_staging_reports_to_staging(url: str, server: str | None) -> None:
    document = made(a_cluster(), SystemSettings(service_url=url)).get("redirect-telemeter.yaml")
    assert (document is None) is (server is None)
    if server:
        assert server in document["data"]["config.yaml"]


def test_operators_bring_theirs() -> None:
    assert made(a_cluster(), EVERYTHING)["50_openshift-lso_ns.yaml"] == {}
    (entry,) = json.loads(custom_manifests([("a", "kind: A")]))
    assert entry["Name"] == "a"
    assert base64.b64decode(entry["Content"]) == b"kind: A"


@pytest.mark.peer("ignition")
def test_the_peer_accepts_their_ignition() -> None:
    for cluster in (a_cluster(), a_single_node()):
        for document in made(cluster, EVERYTHING).values():
            if isinstance(document, dict) and document.get("kind") == "MachineConfig":
                assert verdict(json.dumps(document["spec"]["config"]).encode()) == ""


DIGESTS = MirrorRegistries(registries_conf="", digest_mirrors=(RegistryMirror(source="a", mirrors=("b",)),))
TAGS = MirrorRegistries(
    registries_conf="", tag_mirrors=(RegistryMirror(source="quay.io/a", mirrors=("m.example.com/a",)),)
)


@pytest.mark.parametrize(
    ("version", "mirrors", "expected"),
    [("4.14.0", TAGS, True), ("4.13.9", TAGS, False), ("4.19.0", None, False), ("4.19.0", DIGESTS, False)],
)
def test_mirrors_of_tags_reach_the_cluster(version: str, mirrors: MirrorRegistries | None, expected: bool) -> None:
    found = made(a_cluster(version=version, mirrors=mirrors), SystemSettings()).get("50-service-tag-mirrors.yaml")
    assert (found is not None) is expected
    if expected:
        assert found["kind"] == "ImageTagMirrorSet"
        assert found["spec"] == {"imageTagMirrors": [{"source": "quay.io/a", "mirrors": ["m.example.com/a"]}]}
