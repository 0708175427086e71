"""install-config for every platform and topology."""

import json

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.install.cluster_inputs import FencingCredentials
from firstlight.core.install.inputs import MirrorRegistries, ProxySettings, RegistryMirror
from firstlight.core.install.install_config import install_config, render_install_config
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole
from tests.core.install.clusters import DUAL_STACK, THREE_MASTERS, a_cluster, a_host, a_single_node


def test_three_masters_two_workers_on_bare_metal() -> None:
    document = json.loads(render_install_config(a_cluster()))
    hosts = document["platform"]["baremetal"].pop("hosts")
    assert document == {
        "apiVersion": "v1",
        "baseDomain": "example.com",
        "metadata": {"name": "sky"},
        "compute": [{"name": "worker", "replicas": 2, "hyperthreading": "Enabled"}],
        "controlPlane": {"name": "master", "replicas": 3, "hyperthreading": "Enabled"},
        "networking": {
            "networkType": "OVNKubernetes",
            "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
            "machineNetwork": [{"cidr": "192.168.111.0/24"}],
            "serviceNetwork": ["172.30.0.0/16"],
        },
        "platform": {
            "baremetal": {
                "provisioningNetwork": "Disabled",
                "apiVIPs": ["192.168.111.5"],
                "ingressVIPs": ["192.168.111.6"],
            }
        },
        "pullSecret": '{"auths":{}}',
        "sshKey": "ssh-ed25519 AAAA me",
        "fips": False,
    }
    assert [host["name"] for host in hosts] == ["master-1", "master-2", "master-3", "worker-4", "worker-5"]
    assert hosts[0] == {
        "name": "master-1",
        "role": "master",
        "bootMACAddress": "02:00:00:00:02:01",
        "bootMode": "UEFI",
        "bmc": {"username": "", "password": "", "address": "", "disableCertificateVerification": False},
        "hardwareProfile": "",
    }


def test_a_bare_metal_host_outside_the_machine_network_is_named() -> None:
    with pytest.raises(Invalid, match=r"Host master-1 .* 192\.168\.112\.0/24"):
        install_config(a_cluster(machine_networks=("192.168.112.0/24",)))


@pytest.mark.parametrize(
    ("version", "block"),
    [
        ("4.12.0", {"apiVIPs": ["192.168.111.5"], "ingressVIPs": ["192.168.111.6"]}),
        (
            "4.11.9",
            {
                "apiVIP": "192.168.111.5",
                "ingressVIP": "192.168.111.6",
                "apiVIPs": ["192.168.111.5"],
                "ingressVIPs": ["192.168.111.6"],
            },
        ),
    ],
)
def test_vips_by_version(version: str, block: dict[str, object]) -> None:
    made = install_config(a_cluster(version=version))["platform"]["baremetal"]
    assert {key: made[key] for key in made if key.lower().startswith(("api", "ingress"))} == block


@pytest.mark.parametrize(("version", "mode"), [("4.7.0", "Disabled"), ("4.6.9", "Unmanaged")])
def test_provisioning_network_by_version(version: str, mode: str) -> None:
    assert install_config(a_cluster(version=version))["platform"]["baremetal"]["provisioningNetwork"] == mode


def test_bare_metal_extras() -> None:
    hosts = (*THREE_MASTERS[:2], a_host(3, uefi=False))
    made = install_config(a_cluster(hosts=hosts, additional_ntp_servers=("ntp",), user_managed_load_balancer=True))
    block = made["platform"]["baremetal"]
    assert block["additionalNTPServers"] == ["ntp"]
    assert block["loadBalancer"] == {"type": "UserManaged"}
    assert [host["bootMode"] for host in block["hosts"]] == ["UEFI", "UEFI", "legacy"]


@pytest.mark.parametrize(
    ("setting", "masters", "workers"),
    [
        ("all", "Enabled", "Enabled"),
        ("masters", "Enabled", "Disabled"),
        ("workers,arbiters", "Disabled", "Enabled"),
        ("none", "Disabled", "Disabled"),
    ],
)
def test_hyperthreading(setting: str, masters: str, workers: str) -> None:
    made = install_config(a_cluster(hyperthreading=setting))
    assert made["controlPlane"]["hyperthreading"] == masters
    assert made["compute"][0]["hyperthreading"] == workers


def test_a_single_node_installs_in_place() -> None:
    made = install_config(a_single_node(machine_networks=()))
    assert made["platform"] == {"none": {}}
    assert made["bootstrapInPlace"] == {"installationDisk": "/dev/disk/by-id/wwn-0x1"}
    assert made["networking"]["machineNetwork"] == [{"cidr": "10.9.0.0/24"}]
    assert made["controlPlane"]["replicas"] == 1
    assert made["compute"][0]["replicas"] == 0


def test_a_single_node_needs_a_disk_and_a_fitting_platform() -> None:
    with pytest.raises(Invalid, match="no installation disk"):
        install_config(a_single_node(hosts=(a_host(1, installation_disk=""),)))
    with pytest.raises(Invalid, match="none or external"):
        install_config(a_single_node(platform=PlatformType.BAREMETAL))


def test_user_managed_network_takes_the_bootstrap_hosts() -> None:
    user_managed = a_cluster(platform=PlatformType.NONE, user_managed_networking=True, machine_networks=())
    assert install_config(user_managed)["networking"]["machineNetwork"] == [{"cidr": "10.9.0.0/24"}]
    six = a_cluster(platform=PlatformType.NONE, machine_networks=(), service_networks=("fd02::/112", "172.30.0.0/16"))
    assert install_config(six)["networking"]["machineNetwork"] == [{"cidr": "2001:db8::/64"}, {"cidr": "10.9.0.0/24"}]
    allocated = a_cluster(platform=PlatformType.NONE, node_networks=("192.168.111.0/25",))
    assert install_config(allocated)["networking"]["machineNetwork"] == [{"cidr": "192.168.111.0/25"}]


def test_external_platform_in_the_installers_spelling() -> None:
    made = install_config(
        a_cluster(platform=PlatformType.EXTERNAL, platform_name="oci", external_cloud_controller=True)
    )
    assert made["platform"] == {"external": {"platformName": "oci", "cloudControllerManager": "External"}}


def test_a_foreign_network_leaves_the_type_empty() -> None:
    for platform in (PlatformType.BAREMETAL, PlatformType.NONE):
        made = install_config(a_cluster(network_type="None", platform=platform))
        assert made["networking"]["networkType"] == ""


@pytest.mark.parametrize(
    ("version", "keys"), [("4.13.0", {"vcenters", "failureDomains"}), ("4.12.9", {"vCenter", "cluster"})]
)
def test_vsphere(version: str, keys: set[str]) -> None:
    block = install_config(a_cluster(platform=PlatformType.VSPHERE, version=version))["platform"]["vsphere"]
    assert keys <= set(block)
    assert block["apiVIPs"] == ["192.168.111.5"]
    unmanaged = install_config(a_cluster(platform=PlatformType.VSPHERE, version=version, user_managed_networking=True))
    assert "apiVIPs" not in unmanaged["platform"]["vsphere"]


def test_nutanix() -> None:
    block = install_config(a_cluster(platform=PlatformType.NUTANIX))["platform"]["nutanix"]
    assert block["prismCentral"]["endpoint"]["port"] == 9440
    assert block["ingressVIPs"] == ["192.168.111.6"]
    assert len(block["subnetUUIDs"]) == len(block["prismElements"]) == 1


def test_dual_stack() -> None:
    made = install_config(a_cluster(**DUAL_STACK))
    assert made["networking"]["machineNetwork"] == [{"cidr": "192.168.111.0/24"}, {"cidr": "2001:db8::/64"}]
    assert made["platform"]["baremetal"]["apiVIPs"] == ["192.168.111.5", "2001:db8::5"]


@pytest.mark.parametrize(("version", "feature_set"), [("4.19.0", "TechPreviewNoUpgrade"), ("4.20.0", None)])
def test_arbiter(version: str, feature_set: str | None) -> None:
    hosts = (*THREE_MASTERS[:2], a_host(3, HostRole.ARBITER))
    made = install_config(a_cluster(version=version, control_plane_count=2, hosts=hosts))
    assert made["arbiter"] == {"name": "arbiter", "replicas": 1, "hyperthreading": "Enabled"}
    assert made.get("featureSet") == feature_set
    assert [host["role"] for host in made["platform"]["baremetal"]["hosts"]] == ["master", "master", "arbiter"]


@pytest.mark.parametrize(("version", "feature_set"), [("4.21.0", "TechPreviewNoUpgrade"), ("4.22.0", None)])
def test_fencing(version: str, feature_set: str | None) -> None:
    fence = FencingCredentials(address="redfish://b", username="u", password="p", certificate_verification="Disabled")
    by_mac = FencingCredentials(address="redfish://c", username="u", password="p", mac_address="02:00:00:00:00:01")
    hosts = (a_host(1, fencing=fence), a_host(2, fencing=by_mac))
    made = install_config(a_cluster(version=version, control_plane_count=2, hosts=hosts))
    first, second = made["controlPlane"]["fencing"]["credentials"]
    assert first == {
        "hostname": "master-1",
        "address": "redfish://b",
        "username": "u",
        "password": "p",
        "certificateVerification": "Disabled",
    }
    assert second["macAddress"] == "02:00:00:00:00:01"
    assert "hostname" not in second
    assert made.get("featureSet") == feature_set


@pytest.mark.parametrize(
    ("no_proxy", "expected"),
    [
        ("", ".sky.example.com,10.128.0.0/14,172.30.0.0/16,192.168.111.0/24"),
        ("a.b, c", "a.b,c,.sky.example.com,10.128.0.0/14,172.30.0.0/16,192.168.111.0/24"),
        ("*", "*"),
    ],
)
def test_proxy(no_proxy: str, expected: str) -> None:
    made = install_config(a_cluster(proxy=ProxySettings(http="http://p:1", no_proxy=no_proxy)))
    assert made["proxy"] == {"httpProxy": "http://p:1", "noProxy": expected}
    assert "proxy" not in install_config(a_cluster(proxy=ProxySettings(no_proxy="x")))


@pytest.mark.parametrize(("version", "key"), [("4.14.0-ec.1", "imageDigestSources"), ("4.13.9", "imageContentSources")])
def test_mirrors(version: str, key: str) -> None:
    mirrors = MirrorRegistries(
        registries_conf="", digest_mirrors=(RegistryMirror(source="quay.io/a", mirrors=("m.example.com/a",)),)
    )
    made = install_config(a_cluster(version=version, mirrors=mirrors))
    assert made[key] == [{"source": "quay.io/a", "mirrors": ["m.example.com/a"]}]


def test_certificates_follow_those_of_the_override() -> None:
    override = json.dumps({"additionalTrustBundle": "mine\n", "fips": True, "networking": {"networkType": "Calico"}})
    made = install_config(a_cluster(install_config_override=override, trust_bundles=("", "one\n", "two\n\n")))
    assert made["additionalTrustBundle"] == "mine\none\ntwo"
    assert made["fips"] is True
    assert made["networking"]["networkType"] == "Calico"
    assert made["networking"]["serviceNetwork"] == ["172.30.0.0/16"]
