"""aicli and everything a user does before machines are there, or without any."""

import json
import tarfile

import pytest
import yaml

from tests.clients.command_line import Aicli

CUSTOM = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: default\n"
NIC = {
    "interfaces": [
        {
            "name": "eth0",
            "type": "ethernet",
            "state": "up",
            "mac-address": "52:54:00:00:00:01",
            "ipv4": {"enabled": True, "address": [{"ip": "192.0.2.20", "prefix-length": 24}], "dhcp": False},
        }
    ]
}


def test_the_service_describes_itself(aicli: Aicli) -> None:
    told = aicli("info", "service")
    assert "4.22" in told
    assert "lvm" in told


# --- clusters ---------------------------------------------------------------------------------------------------------


def test_a_single_node(aicli: Aicli) -> None:
    aicli.create("alone", sno=True, sno_disk="vda", minimal=True, tags=["one", "two"])
    found = aicli.cluster("alone")
    assert (found["high_availability_mode"], found["control_plane_count"]) == ("None", 1)
    assert (found["user_managed_networking"], found["platform"]["type"]) == (True, "none")
    assert json.loads(found["install_config_overrides"])["BootstrapInPlace"] == {"InstallationDisk": "/dev/vda"}
    assert found["tags"] == "one,two"
    assert "minimal-iso" in aicli("info", "infraenv", "alone")


def test_a_cluster_with_every_wish(aicli: Aicli) -> None:
    aicli.create(
        "wishes",
        openshift_version="4.18",
        api_vip="192.0.2.5",
        ingress_vip="192.0.2.6",
        olm_operators=["lso", "odf"],
        cluster_networks=[{"cidr": "10.132.0.0/14", "host_prefix": 24}],
        service_networks=["172.31.0.0/16"],
        network_type="Calico",
        mtu=1400,
        manifests=[{"50-first.yaml": CUSTOM.format(name="first")}],
        openshift_manifests=[{"51-second.yml": CUSTOM.format(name="second")}],
        installconfig={"fips": True},
        additional_ntp_source="ntp.example.com",
        disk_encryption={"enable_on": "all", "mode": "tpmv2"},
        ignore_validations=True,
        kernel_arguments="rd.debug quiet",
        static_network_config=[NIC],
        noproxy="example.com",
        proxy="proxy.example.com:3128",
    )
    found = aicli.cluster("wishes")
    assert found["openshift_version"].startswith("4.18.")
    assert [vip["ip"] for vip in found["api_vips"] + found["ingress_vips"]] == ["192.0.2.5", "192.0.2.6"]
    assert [(net["cidr"], net["host_prefix"]) for net in found["cluster_networks"]] == [("10.132.0.0/14", 24)]
    assert [net["cidr"] for net in found["service_networks"]] == ["172.31.0.0/16"]
    assert {"lso", "odf"} <= {operator["name"] for operator in found["monitored_operators"]}
    overrides = json.loads(found["install_config_overrides"])
    assert (overrides["networking"], overrides["fips"]) == ({"networkType": "Calico"}, True)
    assert overrides["proxy"]["httpProxy"] == "http://proxy.example.com:3128"
    assert found["disk_encryption"] == {"enable_on": "all", "mode": "tpmv2", "tang_servers": None}
    assert json.loads(found["ignored_cluster_validations"]) == ["all"]
    listed = aicli("list", "manifests", "wishes")
    assert all(name in listed for name in ("99-ovn.yaml", "50-first.yaml", "51-second.yml"))
    infra_env = aicli("info", "infraenv", "wishes")
    assert "rd.debug" in infra_env
    assert "192.0.2.20" in infra_env


def test_a_cluster_without_addresses_gets_them_later(aicli: Aicli) -> None:
    aicli.create("later")
    assert aicli.cluster("later")["status"] == "pending-for-input"
    aicli("update", "cluster", "later", "-P", "api_vip=192.0.2.5", "-P", "ingress_vip=192.0.2.6")
    assert [vip["ip"] for vip in aicli.cluster("later")["api_vips"]] == ["192.0.2.5"]


def test_what_is_shown_of_clusters(aicli: Aicli) -> None:
    aicli.create("shown", api_vip="192.0.2.5", ingress_vip="192.0.2.6", sno=False)
    assert "shown" in aicli("list", "clusters")
    assert "shown" in aicli("-o", "name", "list", "clusters").split()
    assert "192.0.2.5" in aicli("info", "cluster", "shown")
    assert "validations_info" in aicli("info", "cluster", "--full", "shown")
    assert "cpu_cores" in aicli("info", "cluster", "--preflight", "shown")
    assert "sufficient-masters-count" in aicli("info", "validation", "shown")
    assert "dns-domain-defined" in aicli("info", "validation", "--all", "shown")
    assert "| Date" in " ".join(aicli("list", "events", "shown").split())
    assert "cluster_registration_succeeded" in aicli("list", "events", "--raw", "shown")
    exported = yaml.safe_load(aicli("export", "cluster", "shown").partition("\n")[2])
    assert (exported["name"], exported["base_dns_domain"]) == ("shown", "example.com")


def test_a_name_is_taken_once_unless_forced(aicli: Aicli) -> None:
    aicli.create("taken")
    first = aicli.cluster("taken")["id"]
    assert "already there" in aicli.refused("create", "cluster", "taken")
    aicli("create", "cluster", "-f", "-P", "base_dns_domain=example.com", "taken")
    assert aicli.cluster("taken")["id"] != first


def test_a_cluster_is_deleted_with_its_infra_env(aicli: Aicli) -> None:
    aicli.create("doomed")
    aicli("delete", "cluster", "-y", "doomed")
    assert "doomed" not in aicli("list", "clusters")
    assert "doomed" not in aicli("list", "infraenvs")
    assert "not found" in aicli.refused("info", "cluster", "doomed")


# --- manifests and install-config -------------------------------------------------------------------------------------


def test_manifests_come_and_go(aicli: Aicli) -> None:
    aicli.create("documents")
    folder = aicli.home / "custom"
    folder.mkdir()
    for name in ("60-one.yaml", "61-two.yml"):
        (folder / name).write_text(CUSTOM.format(name=name[3:6]))
    aicli("create", "manifests", "--dir", "custom", "documents")
    assert "60-one.yaml" in aicli("list", "manifests", "documents")
    aicli("download", "manifests", "--path", ".", "documents")
    assert aicli.read("60-one.yaml") == CUSTOM.format(name="one")
    aicli("delete", "manifests", "-y", "documents", "60-one.yaml")
    listed = aicli("list", "manifests", "documents")
    assert ("60-one.yaml" in listed, "61-two.yml" in listed) == (False, True)


def test_the_install_config_is_overridden_and_read(aicli: Aicli) -> None:
    aicli.create("config")
    wanted = {"ImageDigestSources": [{"source": "quay.io/x", "mirrors": ["mirror.example.com/x"]}]}
    aicli("update", "installconfig", "--paramfile", aicli.parameters(installconfig=wanted), "config")
    aicli("download", "installconfig", "config")
    rendered = yaml.safe_load(aicli.read("install-config.yaml.config"))
    assert rendered["metadata"]["name"] == "config"
    assert rendered["imageDigestSources"] == wanted["ImageDigestSources"]


# --- infra-envs -------------------------------------------------------------------------------------------------------


def test_an_infra_env_of_its_own(aicli: Aicli) -> None:
    file = aicli.parameters(static_network_config=[NIC], minimal=True)
    aicli("create", "infraenv", "--paramfile", file, "rack")
    assert "rack" in aicli("list", "infraenvs")
    assert "/minimal.iso" in aicli("info", "iso", "rack")
    aicli("update", "infraenv", "-P", "image_type=full-iso", "-P", "kernel_arguments=quiet", "rack")
    assert "/full.iso" in aicli("info", "iso", "-s", "rack")
    aicli("update", "iso", "-P", "password=true", "rack")
    assert "eth0" in aicli("info", "static-network-config", "rack")
    aicli("delete", "infraenv", "-y", "rack")
    assert "rack" not in aicli("list", "infraenvs")


def test_what_machines_boot_with(aicli: Aicli) -> None:
    aicli("create", "infraenv", "--paramfile", aicli.parameters(static_network_config=[NIC]), "files")
    aicli("download", "discovery-ignition", "files")
    discovery = json.loads(aicli.read("discovery.ign.files"))
    assert "agent.service" in [unit["name"] for unit in discovery["systemd"]["units"]]
    aicli("download", "ipxe-script", "files")
    lines = aicli.read("ipxe-script.files").splitlines()
    assert lines[0] == "#!ipxe"
    assert {line.split()[0] for line in lines} >= {"initrd", "kernel", "boot"}
    aicli("download", "static-network-config", "files")
    with tarfile.open(aicli.home / "static-network-config.files.tar") as archive:
        assert archive.getnames()


# --- hosts that only exist on paper -----------------------------------------------------------------------------------


def test_fake_hosts_are_registered_listed_and_deleted(aicli: Aicli) -> None:
    aicli.create("paper")
    aicli("create", "fakehosts", "-c", "2", "paper")
    hosts = [host for host in aicli.json("list", "hosts") if host["infra_env_id"] == aicli.infra_env_id("paper")]
    assert [host["status"] for host in hosts] == ["discovering", "discovering"]
    assert "paper" in aicli("list", "hosts")
    assert "inventory" not in hosts[0]
    assert hosts[0]["requested_hostname"]
    aicli("update", "host", "-P", "name=paper-first", hosts[0]["id"])
    assert "paper-first" in aicli("info", "host", "paper-first")
    aicli("delete", "host", "-y", "paper-first")
    aicli("delete", "infraenv", "-f", "-y", "paper_infra-env")
    assert "paper" not in aicli("list", "hosts")


@pytest.mark.parametrize("what", ["all-keyword", "cluster-keyword", "host-keyword", "infraenv-keyword"])
def test_keywords_need_no_service(aicli: Aicli, what: str) -> None:
    assert "+--" in aicli("list", what)
