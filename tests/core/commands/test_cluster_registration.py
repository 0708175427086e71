"""What a registration makes of a wish, field by field."""

from typing import Any

import pytest

from firstlight.core.clusters.wish import Defaults, EncryptionWish, EndpointWish
from firstlight.core.commands.cluster_records import Owner, disconnected_cluster, imported_cluster
from firstlight.core.commands.cluster_settings import OperatorWish
from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import ClusterNetwork, Platform
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus, EncryptionMode, LoadBalancer, PlatformType
from firstlight.core.model.policy import Policy
from firstlight.core.operators.catalogue import BundleRequest, OperatorRequest
from tests.builders.moments import CLUSTER_ID, NOW
from tests.core.commands.wishes import ID, grounds, registered

DUAL_POD = (ClusterNetwork(cidr="10.128.0.0/14", host_prefix=23), ClusterNetwork(cidr="fd01::/48", host_prefix=64))
DUAL_SERVICE = ("172.30.0.0/16", "fd02::/112")
DUAL_MACHINE = ("192.0.2.0/24", "2001:db8::/64")


def test_defaults() -> None:
    cluster = registered()
    assert cluster.status is ClusterStatus.INSUFFICIENT
    assert cluster.status_info == "Cluster is not ready for install"
    assert cluster.openshift_version == "4.18.30"
    assert cluster.release_image.endswith(":4.18.30-x86_64")
    assert cluster.cluster_networks == (ClusterNetwork(cidr="10.128.0.0/14", host_prefix=23),)
    assert cluster.service_networks == ("172.30.0.0/16",)
    assert cluster.machine_networks == ()
    assert (cluster.platform.type, cluster.user_managed_networking) == (PlatformType.BAREMETAL, False)
    assert (cluster.network_type, cluster.cpu_architecture) == ("OVNKubernetes", "x86_64")
    assert [operator.name for operator in cluster.operators] == ["console"]
    assert cluster.pull_secret_set
    assert cluster.schedulable_masters_forced


def test_a_single_node() -> None:
    cluster = registered(count=1, user_managed_networking=True)
    assert cluster.is_single_node
    assert (cluster.platform.type, cluster.user_managed_networking) == (PlatformType.NONE, True)


@pytest.mark.parametrize(
    ("said", "result"),
    [
        ({}, ("ntp.example.com", "")),
        ({"additional_ntp_source": ""}, ("", "")),
        ({"additional_ntp_source": "1.2.3.4"}, ("1.2.3.4", "")),
        ({"ntp_sources": "1.2.3.4"}, ("", "1.2.3.4")),
    ],
)
def test_the_default_time_source_counts_only_when_nothing_is_said(
    said: dict[str, str], result: tuple[str, str]
) -> None:
    cluster = registered(on=grounds(defaults=Defaults(ntp_source="ntp.example.com")), **said)
    assert (cluster.additional_ntp_source, cluster.ntp_sources) == result


@pytest.mark.parametrize(
    ("version", "architecture", "result"),
    [
        ("4.14", "", ("4.14.71", "x86_64")),
        ("4.18.30", "arm64", ("4.18.30", "arm64")),
        ("4.18", "aarch64", ("4.18.30", "arm64")),
        ("4.18", "amd64", ("4.18.30", "x86_64")),
        ("4.18", "multi", ("4.18.30-multi", "multi")),
    ],
)
def test_releases(version: str, architecture: str, result: tuple[str, str]) -> None:
    cluster = registered(version=version, architecture=architecture)
    assert (cluster.openshift_version, cluster.cpu_architecture) == result


def test_a_release_by_its_image() -> None:
    image = registered(version="4.16").release_image
    assert registered(version="4.18", release_image=image).openshift_version == "4.16.51"


def test_a_release_nothing_boots_for() -> None:
    on = grounds()
    bare = grounds(catalogue=type(on.catalogue)(releases=on.catalogue.releases, os_images=()))
    with pytest.raises(Invalid, match="OS image"):
        registered(on=bare)
    assert registered(on=grounds(catalogue=bare.catalogue, needs_os_image=False))
    assert registered(on=bare, architecture="multi")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"version": "3.11"}, "no release image"),
    ({"version": "east"}, "not an OpenShift version"),
    ({"release_image": "quay.io/nobody/knows:1"}, "not one of the configured"),
    ({"count": 2}, "control-plane nodes"),
    ({"name": "East"}, "cluster name"),
    ({"name": "a.b"}, "cluster name"),
    ({"base_dns_domain": "1.2.3.4"}, "looks like an IP"),
    ({"base_dns_domain": "x" * 64 + ".com"}, "DNS domain"),
    ({"base_dns_domain": ".".join(["abcdefghij"] * 18)}, "at most 191"),
    ({"pull_secret": "{}"}, "pull secret for new cluster is invalid: .*auths"),
    ({"pull_secret": '{"auths":{"example.com":{"auth":"dXNlcjpwYXNz"}}}'}, 'auth for "quay.io"'),
    ({"ssh_public_key": "ssh-rsa nonsense"}, "SSH key"),
    ({"http_proxy": "https://proxy:3128"}, "HTTP proxy"),
    ({"https_proxy": "proxy"}, "HTTPS proxy"),
    ({"no_proxy": "a b"}, "no_proxy"),
    ({"additional_ntp_source": "UPPER"}, "NTP source"),
    ({"additional_ntp_source": "1.2.3.4", "ntp_sources": "1.2.3.4"}, "exclude each other"),
    ({"tags": "a,,b"}, "tag"),
    ({"api_vips": ("192.0.2.5",)}, "as many"),
    ({"api_vips": ("192.0.2.5",), "ingress_vips": ("192.0.2.5",)}, "both API and ingress"),
    ({"api_vips": ("192.0.2.5",), "ingress_vips": ("192.0.2.6",), "user_managed_networking": True}, "user-managed"),
    (
        {
            "api_vips": ("192.0.2.5", "2001:db8::5"),
            "ingress_vips": ("192.0.2.6", "2001:db8::6"),
            "machine_networks": ("192.0.2.0/24",),
        },
        "no machine network",
    ),
    (
        {"api_vips": ("192.0.2.5",), "ingress_vips": ("192.0.3.6",), "machine_networks": ("192.0.2.0/24",)},
        "not in the machine network",
    ),
    ({"machine_networks": ("192.0.2.0/24", "192.0.3.0/24")}, "several are given"),
    ({"cluster_networks": DUAL_POD, "service_networks": ("172.30.0.0/16",)}, "one IPv4 and one IPv6"),
    ({"machine_networks": DUAL_MACHINE, "service_networks": DUAL_SERVICE[::-1]}, "one IP version"),
    ({"disk_encryption": EncryptionWish(enable_on="all", mode=EncryptionMode.TANG)}, "Tang server"),
    ({"ignition_endpoint": EndpointWish(url="ftp://x")}, "ignition endpoint"),
    ({"vip_dhcp_allocation": True}, "VIP allocation by DHCP"),
    ({"vip_dhcp_allocation": True, "user_managed_networking": True}, "VIPs by DHCP"),
    ({"network_type": "OpenShiftSDN"}, "SDN"),
    ({"count": 1, "network_type": "OpenShiftSDN", "version": "4.14"}, "single node"),
    ({"count": 4, "platform": Platform(type=PlatformType.VSPHERE)}, "Non-Standard"),
    ({"load_balancer": LoadBalancer.USER_MANAGED, "version": "4.15"}, "Load Balancer"),
    ({"platform": Platform(type=PlatformType.NUTANIX), "architecture": "arm64"}, "Nutanix"),
    ({"operators": OperatorWish(operators=(OperatorRequest(name="unheard"),))}, "unheard"),
    ({"operators": OperatorWish(bundles=(BundleRequest(id="unheard"),))}, "unheard"),
    ({"count": 1, "operators": OperatorWish(operators=(OperatorRequest(name="odf"),))}, "Data Foundation"),
    ({"architecture": "arm64", "operators": OperatorWish(operators=(OperatorRequest(name="lso"),))}, "Local Storage"),
    ({"on": grounds(policy=Policy(ipv6_support=False)), "service_networks": DUAL_SERVICE}, "IPv6 is switched off"),
    ({"api_vip_dns_name": "api.east.example.com"}, "hosts are added"),
]


@pytest.mark.parametrize(("wish", "told"), REFUSED)
def test_refused(wish: dict[str, Any], told: str) -> None:
    with pytest.raises(Invalid, match=told):
        registered(**wish)


@pytest.mark.parametrize(
    ("networks", "primary"),
    [
        ({"machine_networks": DUAL_MACHINE, "service_networks": DUAL_SERVICE, "cluster_networks": DUAL_POD}, 4),
        (
            {
                "machine_networks": DUAL_MACHINE[::-1],
                "service_networks": DUAL_SERVICE[::-1],
                "cluster_networks": DUAL_POD[::-1],
            },
            6,
        ),
        ({"machine_networks": ("192.0.2.0/24",)}, 0),
    ],
)
def test_the_primary_stack(networks: dict[str, Any], primary: int) -> None:
    assert registered(**networks).primary_ip_stack == primary


def test_host_prefixes_nobody_named() -> None:
    nameless = tuple(ClusterNetwork(cidr=network.cidr) for network in DUAL_POD)
    cluster = registered(cluster_networks=nameless, service_networks=DUAL_SERVICE, machine_networks=DUAL_MACHINE)
    assert cluster.cluster_networks == DUAL_POD


def test_vips_are_kept_in_normal_form() -> None:
    cluster = registered(api_vips=("2001:DB8:0::5",), ingress_vips=("2001:db8::0006",))
    assert (cluster.api_vips, cluster.ingress_vips) == (("2001:db8::5",), ("2001:db8::6",))


def test_operators_bring_what_they_need() -> None:
    cluster = registered(operators=OperatorWish(operators=(OperatorRequest(name="ocs"),)))
    assert [(each.name, each.dependency_only) for each in cluster.operators] == [
        ("console", False),
        ("lso", True),
        ("odf", False),
    ]


def test_a_name_with_dots_on_the_platform_none() -> None:
    assert registered(name="a.b", platform=Platform(type=PlatformType.NONE)).name == "a.b"


@pytest.mark.parametrize(
    ("api_name", "result"),
    [
        ("api.east.example.com", ("east", "example.com")),
        ("192.0.2.5", ("given", "")),
        ("api.east", ("given", "")),
        ("east.example.com", ("given", "")),
    ],
)
def test_an_imported_cluster_is_called_as_its_api_says(api_name: str, result: tuple[str, str]) -> None:
    cluster = imported_cluster(
        ID, name="given", api_name=api_name, openshift_cluster_id=CLUSTER_ID, version="", owner=Owner(), now=NOW
    )
    assert (cluster.name, cluster.base_dns_domain) == result
    assert (cluster.kind, cluster.status) == (ClusterKind.ADD_HOSTS, ClusterStatus.ADDING_HOSTS)
    assert cluster.imported
    assert cluster.api_vip_dns_name == api_name


def test_a_disconnected_cluster_is_only_a_record() -> None:
    cluster = disconnected_cluster(ID, name="far", version="4.18", owner=Owner(), now=NOW)
    assert (cluster.kind, cluster.status) == (ClusterKind.DISCONNECTED, ClusterStatus.UNMONITORED)
    with pytest.raises(Invalid, match="version"):
        disconnected_cluster(ID, name="far", version="", owner=Owner(), now=NOW)


@pytest.mark.parametrize("version", ["new", "4", "4.x", "\N{SNOWMAN}"])
def test_clusters_from_elsewhere_have_versions_that_can_be_compared(version: str) -> None:
    with pytest.raises(Invalid, match="OpenShift version"):
        disconnected_cluster(ID, name="far", version=version, owner=Owner(), now=NOW)
    with pytest.raises(Invalid, match="OpenShift version"):
        imported_cluster(ID, name="far", api_name="x", openshift_cluster_id=ID, version=version, owner=Owner(), now=NOW)
