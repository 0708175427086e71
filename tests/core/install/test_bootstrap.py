"""bootstrap.ign and its manifests: the plausibility an installer's output must have."""

import json
from collections import Counter

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.bootstrap import bootstrap_config
from firstlight.core.install.certificates import BUNDLES, ROOT_CA
from firstlight.core.install.cluster_inputs import ClusterInputs, FencingCredentials
from firstlight.core.install.data_url import from_data_url
from firstlight.core.install.identity import infra_id
from firstlight.core.install.inputs import MirrorRegistries, ProxySettings, RegistryMirror
from firstlight.core.install.kube_objects import Manifest, identity_of, kube_object, manifest
from firstlight.core.install.metadata import render_metadata
from firstlight.core.install.pointer import role_pointer
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole
from tests.core.install.clusters import DUAL_STACK, THREE_MASTERS, TWO_WORKERS, a_cluster, a_host, a_single_node
from tests.core.install.installations import IDENTITY, an_installation, certificates_for
from tests.core.install.validator import verdict

FENCE = FencingCredentials(address="redfish://b", username="u", password="p")
MIRRORS = MirrorRegistries(
    registries_conf="", digest_mirrors=(RegistryMirror(source='q.io/"a', mirrors=("m.example.com/a",)),)
)
CLUSTERS = {
    "three-and-two": a_cluster(),
    "single-node": a_single_node(),
    "compact": a_cluster(hosts=THREE_MASTERS),
    "dual-stack": a_cluster(**DUAL_STACK),
    "arbiter": a_cluster(
        control_plane_count=2, version="4.20.1", hosts=(*THREE_MASTERS[:2], a_host(3, HostRole.ARBITER))
    ),
    "fencing": a_cluster(
        control_plane_count=2, version="4.20.1", hosts=(a_host(1, fencing=FENCE), a_host(2, fencing=FENCE))
    ),
    "vsphere": a_cluster(platform=PlatformType.VSPHERE),
    "nutanix": a_cluster(platform=PlatformType.NUTANIX),
    "external": a_cluster(platform=PlatformType.EXTERNAL, platform_name="oci"),
    "everything": a_cluster(
        proxy=ProxySettings(http="http://u:p%40@p:1", https="http://p:1", no_proxy="a"),
        trust_bundles=("bundle",),
        mirrors=MIRRORS,
        hyperthreading="workers",
        service_ca="pem",
        install_config_override=json.dumps(
            {"fips": True, "capabilities": {"baselineCapabilitySet": "None"}, "featureGates": ["A=true"]}
        ),
    ),
}


def document_at(config: ignition.Config, path: str) -> dict[str, object]:
    content = ignition.content_of(config, path)
    assert content is not None, path
    return json.loads(content)


def objects(config: ignition.Config) -> list[dict[str, object]]:
    folders = ("/opt/openshift/manifests/", "/opt/openshift/openshift/")
    return [document_at(config, node.path) for node in config.storage.files if node.path.startswith(folders)]


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS.keys())
def test_every_object_is_there_once_and_every_file_is_inline(cluster: ClusterInputs) -> None:
    config = bootstrap_config(an_installation(cluster))
    assert max(Counter(identity_of(one) for one in objects(config)).values()) == 1
    assert max(Counter(node.path for node in config.storage.files).values()) == 1
    assert all((node.contents.source or "").startswith("data:") for node in config.storage.files)
    assert config.ignition.version == "3.2.0"
    assert {node.mode for node in config.storage.files if "/tls/" in node.path or "/auth/" in node.path} == {
        0o600,
        0o644,
    }


@pytest.mark.peer("ignition")
@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS.keys())
def test_the_peer_accepts_it(cluster: ClusterInputs) -> None:
    assert verdict(ignition.encode(bootstrap_config(an_installation(cluster)))) == ""


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS.keys())
def test_one_identity_everywhere(cluster: ClusterInputs) -> None:
    config = bootstrap_config(an_installation(cluster))
    version = document_at(config, "/opt/openshift/manifests/cvo-overrides.yaml")
    metadata = json.loads(render_metadata(cluster, IDENTITY))
    assert version["spec"]["clusterID"] == metadata["clusterID"] == str(IDENTITY.cluster_id)
    infrastructure = document_at(config, "/opt/openshift/manifests/cluster-infrastructure-02-config.yml")
    assert infrastructure["status"]["infrastructureName"] == metadata["infraID"] == "sky-bcdfg"
    listed = {(one["kind"], one["namespace"], one["name"]) for one in version["spec"]["overrides"]}
    assert listed == {identity_of(one)[1:] for one in objects(config)} - {
        ("ClusterVersion", "openshift-cluster-version", "version")
    }


def test_one_root_authority_everywhere() -> None:
    cluster = a_cluster()
    config = bootstrap_config(an_installation(cluster))
    root = ignition.content_of(config, "/opt/openshift/tls/root-ca.crt")
    assert root == certificates_for(cluster).pairs[ROOT_CA].certificate.encode()
    pointer = role_pointer(cluster, HostRole.WORKER, root_ca=root.decode())
    (authority,) = pointer.ignition.security.tls.certificate_authorities
    assert from_data_url(authority.source or "") == root
    bundle = document_at(config, "/opt/openshift/manifests/machine-config-server-ca-configmap.yaml")
    assert bundle["data"] == {"ca-bundle.crt": root.decode()}
    assert ignition.content_of(config, "/opt/openshift/tls/root-ca.key") is None


def test_bundles_hold_exactly_their_signers() -> None:
    cluster = a_cluster()
    config, pairs = bootstrap_config(an_installation(cluster)), certificates_for(cluster).pairs
    for name, signers in BUNDLES.items():
        content = ignition.content_of(config, f"/opt/openshift/tls/{name}.crt")
        assert content == "".join(pairs[signer].certificate for signer in signers).encode()


def test_secrets_stay_out_of_the_public_config() -> None:
    config = bootstrap_config(an_installation(CLUSTERS["fencing"]))
    public = document_at(config, "/opt/openshift/manifests/cluster-config.yaml")["data"]["install-config"]
    assert json.loads(public)["pullSecret"] == ""
    assert json.loads(public)["controlPlane"]["fencing"]["credentials"][0]["password"] == ""


@pytest.mark.parametrize(
    ("masters", "arbiters", "workers", "control_plane", "infrastructure"),
    [
        (1, 0, 0, "SingleReplica", "SingleReplica"),
        (1, 0, 1, "SingleReplica", "HighlyAvailable"),
        (2, 0, 0, "DualReplica", "HighlyAvailable"),
        (2, 1, 0, "HighlyAvailableArbiter", "HighlyAvailable"),
        (3, 0, 0, "HighlyAvailable", "HighlyAvailable"),
        (3, 0, 1, "HighlyAvailable", "HighlyAvailable"),
        (3, 0, 2, "HighlyAvailable", "HighlyAvailable"),
    ],
)
def test_topologies(masters: int, arbiters: int, workers: int, control_plane: str, infrastructure: str) -> None:
    hosts = (
        *THREE_MASTERS[:masters],
        *(a_host(9, HostRole.ARBITER) for _ in range(arbiters)),
        *TWO_WORKERS[:workers],
    )
    platform = PlatformType.NONE if masters == 1 else PlatformType.BAREMETAL
    cluster = a_cluster(control_plane_count=masters, hosts=hosts, version="4.22.0", platform=platform)
    config = bootstrap_config(an_installation(cluster))
    status = document_at(config, "/opt/openshift/manifests/cluster-infrastructure-02-config.yml")["status"]
    assert (status["controlPlaneTopology"], status["infrastructureTopology"]) == (control_plane, infrastructure)
    scheduler = document_at(config, "/opt/openshift/manifests/cluster-scheduler-02-config.yml")["spec"]
    assert scheduler["mastersSchedulable"] is (workers == 0)


def test_virtual_addresses_reach_the_infrastructure() -> None:
    config = bootstrap_config(an_installation(CLUSTERS["dual-stack"]))
    made = document_at(config, "/opt/openshift/manifests/cluster-infrastructure-02-config.yml")
    status = made["status"]["platformStatus"]["baremetal"]
    assert status["apiServerInternalIP"] == "192.168.111.5"
    assert status["apiServerInternalIPs"] == ["192.168.111.5", "2001:db8::5"]
    assert made["spec"]["platformSpec"]["baremetal"]["machineNetworks"] == ["192.168.111.0/24", "2001:db8::/64"]
    names = [node.path.rpartition("/")[2] for node in config.storage.files]
    assert "99_openshift-machineconfig_99-dual-stack-worker.yaml" in names


def test_everything_set_reaches_the_manifests() -> None:
    config = bootstrap_config(an_installation(CLUSTERS["everything"]))
    proxy = document_at(config, "/opt/openshift/manifests/cluster-proxy-01-config.yaml")
    assert proxy["spec"]["trustedCA"] == {"name": "user-ca-bundle"}
    exceptions = proxy["status"]["noProxy"].split(",")
    assert exceptions == sorted(exceptions)
    assert {"127.0.0.1", "localhost", ".svc", ".cluster.local", "api-int.sky.example.com", "a", "172.30.0.0/16"} <= set(
        exceptions
    )
    names = {node.path.rpartition("/")[2] for node in config.storage.files}
    assert {
        "user-ca-bundle-config.yaml",
        "image-digest-mirror-set.yaml",
        "99_openshift-machineconfig_99-master-fips.yaml",
        "99_openshift-machineconfig_99-master-disable-hyperthreading.yaml",
    } <= names
    assert "99_openshift-machineconfig_99-worker-disable-hyperthreading.yaml" not in names
    gate = document_at(config, "/opt/openshift/openshift/99_feature-gate.yaml")
    assert gate["spec"]["customNoUpgrade"] == {"enabled": ["A"], "disabled": []}
    registries = ignition.content_of(config, "/etc/containers/registries.conf") or b""
    assert b'location = "q.io/\\"a"' in registries
    environment = ignition.content_of(config, "/etc/systemd/system.conf.d/10-default-env.conf") or b""
    assert b'"HTTP_PROXY=http://u:p%%40@p:1"' in environment


def test_bare_metal_hosts_and_machines() -> None:
    config = bootstrap_config(an_installation(a_cluster()))
    first = document_at(config, "/opt/openshift/openshift/99_openshift-cluster-api_hosts-0.yaml")
    assert first["spec"]["consumerRef"]["name"] == "sky-bcdfg-master-0"
    assert first["spec"]["bootMACAddress"] == "02:00:00:00:02:01"
    last = document_at(config, "/opt/openshift/openshift/99_openshift-cluster-api_hosts-4.yaml")
    assert last["metadata"]["annotations"] == {"baremetalhost.metal3.io/paused": ""}
    workers = document_at(config, "/opt/openshift/openshift/99_openshift-cluster-api_worker-machineset-0.yaml")
    assert workers["spec"]["replicas"] == 2
    assert len([one for one in objects(config) if one["kind"] == "Machine"]) == 3


def test_more_than_ten_hosts_are_numbered_in_order() -> None:
    hosts = (*THREE_MASTERS, *(a_host(number, HostRole.WORKER) for number in range(10, 18)))
    config = bootstrap_config(an_installation(a_cluster(hosts=hosts)))
    assert ignition.content_of(config, "/opt/openshift/openshift/99_openshift-cluster-api_hosts-00.yaml") is not None
    assert ignition.content_of(config, "/opt/openshift/openshift/99_openshift-cluster-api_hosts-10.yaml") is not None


def test_extra_manifests_replace_generated_ones() -> None:
    mine = Manifest(folder="manifests", name="cluster-dns-02-config.yml", content="# mine")
    config = bootstrap_config(an_installation(a_cluster()), extra=[mine])
    assert ignition.content_of(config, "/opt/openshift/manifests/cluster-dns-02-config.yml") == b"# mine"


def test_the_same_object_in_two_files_is_refused() -> None:
    twice = manifest("openshift", "mine.yaml", kube_object("config.openshift.io/v1", "DNS", "cluster"))
    with pytest.raises(Invalid, match="DNS cluster"):
        bootstrap_config(an_installation(a_cluster()), extra=[twice])


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("sky", "sky"),
        ("a.b--c", "a-b-c"),
        ("x" * 21, "x" * 21),
        ("x" * 22, "x" * 21),
        ("x" * 20 + ".yy", "x" * 20),
    ],
)
def test_infra_id(name: str, stem: str) -> None:
    made = infra_id(name, [0, 1, 2, 26, 27])
    assert made == f"{stem}-bcd9b"
    assert len(made) <= 27
