"""What the documents are made from, out of what the service remembers."""

from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.install.from_records import (
    cluster_inputs,
    day_two_endpoint,
    install_host,
    lease_files,
    node_networks,
    system_settings,
)
from firstlight.core.install.install_config import install_config
from firstlight.core.model.cluster import ClusterState, DiskEncryption, IgnitionEndpoint, Platform
from firstlight.core.model.cluster_status import ClusterKind, EncryptionMode, LoadBalancer, PlatformType
from firstlight.core.model.host import FencingCredentials
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.infra_env import Proxy
from firstlight.core.model.inventory import Boot
from firstlight.core.model.reports import NtpSource
from firstlight.core.steps.vip_macs import vip_mac
from tests.builders.clusters import a_cluster, a_policy, an_infra_env, cluster_state
from tests.builders.hosts import a_host, host_state, some_reports
from tests.builders.inventories import an_interface, an_inventory
from tests.builders.moments import INFRA_ENV_ID, host_id

SERVICE = "https://assisted.example.com"


def inputs(state: ClusterState) -> Any:
    return cluster_inputs(state, pull_secret="{}", service_ca="CA")


def test_a_cluster_becomes_an_install_config() -> None:
    state = cluster_state(proxy=Proxy(http="http://p:1", no_proxy="a.com"), ssh_public_key="ssh-ed25519 AAAA")
    config: Any = install_config(inputs(state))
    assert config["sshKey"] == "ssh-ed25519 AAAA"
    assert config["networking"]["machineNetwork"] == [{"cidr": "192.0.2.0/24"}]
    assert [host["name"] for host in config["platform"]["baremetal"]["hosts"]] == ["host-1", "host-2", "host-3"]
    assert config["proxy"]["noProxy"].startswith("a.com,")


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"role": HostRole.AUTO_ASSIGN, "suggested_role": HostRole.WORKER}, {"role": HostRole.WORKER}),
        ({"requested_hostname": "named"}, {"name": "named"}),
        ({"installation_disk_id": ""}, {"installation_disk": "/dev/sda"}),
        ({"bootstrap": True}, {"is_bootstrap": True}),
        ({"machine_config_pool_name": "infra"}, {"machine_config_pool": "infra"}),
        ({"ignition_override": "{}"}, {"ignition_override": "{}"}),
    ],
)
def test_hosts(changes: dict[str, Any], wanted: dict[str, object]) -> None:
    made = install_host(host_state(1, **changes), cluster=a_cluster())
    assert {name: getattr(made, name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("boot", "uefi", "from_disk"),
    [
        (Boot(mode="uefi", device_type="ephemeral"), True, False),
        (Boot(mode="bios", device_type="persistent"), False, True),
        (Boot(), True, False),
    ],
)
def test_how_a_host_booted(boot: Boot, uefi: bool, from_disk: bool) -> None:
    reports = some_reports(1, inventory=an_inventory(1, boot=boot))
    made = install_host(host_state(1, reports=reports), cluster=a_cluster())
    assert (made.uefi, made.booted_from_disk) == (uefi, from_disk)


def test_fencing_reaches_the_control_plane() -> None:
    fenced = FencingCredentials(address="redfish://x", username="u", password="p", certificate_verification="Disabled")
    hosts = [host_state(number, role=HostRole.MASTER, fencing=fenced) for number in (1, 2)]
    config: Any = install_config(inputs(cluster_state(hosts=hosts, control_plane_count=2)))
    assert config["controlPlane"]["fencing"]["credentials"][0] == {
        "hostname": "host-1",
        "address": "redfish://x",
        "username": "u",
        "password": "p",
        "certificateVerification": "Disabled",
    }


def test_the_only_node_bootstraps_itself_before_anyone_chose_it() -> None:
    state = cluster_state(
        hosts=[host_state(1)], control_plane_count=1, platform=Platform(type=PlatformType.NONE), api_vips=()
    )
    config: Any = install_config(inputs(state))
    assert config["bootstrapInPlace"]["installationDisk"] == a_host(1).installation_disk_id


class TestNodeNetworks:
    none = Platform(type=PlatformType.NONE)
    second = an_interface(2, name="enp2s0", ipv4=("198.51.100.7/24",), ipv6=("2001:db8::7/64",))

    def two_cards(self) -> Any:
        inventory = an_inventory(1, interfaces=(an_interface(1), self.second))
        return host_state(1, bootstrap=True, reports=some_reports(1, inventory=inventory))

    @pytest.mark.parametrize(
        ("changes", "needed"),
        [
            ({}, False),
            ({"platform": none}, True),
            ({"platform": Platform(type=PlatformType.EXTERNAL)}, True),
            ({"user_managed_networking": True}, True),
            ({"load_balancer": LoadBalancer.USER_MANAGED}, True),
            ({"platform": none, "control_plane_count": 1}, False),
            ({"platform": none, "kind": ClusterKind.ADD_HOSTS}, False),
        ],
    )
    def test_only_where_no_vip_tells(self, changes: dict[str, Any], needed: bool) -> None:
        cluster = a_cluster(connected_addresses={host_id(1): ("192.0.2.11",)}, **changes)
        assert node_networks(cluster, host_state(1)) == (("192.0.2.0/24",) if needed else ())

    @pytest.mark.parametrize(
        ("reached", "network"),
        [
            (("192.0.2.11", "198.51.100.7"), "192.0.2.0/24"),
            (("198.51.100.7",), "198.51.100.0/24"),
            ((), "192.0.2.0/24"),
        ],
    )
    def test_what_all_reach_and_the_gateway_first(self, reached: tuple[str, ...], network: str) -> None:
        cluster = a_cluster(platform=self.none, connected_addresses={host_id(1): reached})
        assert node_networks(cluster, self.two_cards()) == (network,)
        assert install_host(self.two_cards(), cluster=cluster).node_ip_hint == network.partition("/")[0]

    def test_one_per_family_in_the_services_order(self) -> None:
        cluster = a_cluster(
            platform=self.none,
            service_networks=("fd02::/112", "172.30.0.0/16"),
            connected_addresses={host_id(1): ("192.0.2.11", "2001:db8::7")},
        )
        assert node_networks(cluster, self.two_cards()) == ("2001:db8::/64", "192.0.2.0/24")

    def test_the_bootstrap_hosts_become_machine_networks(self) -> None:
        cluster = a_cluster(
            platform=self.none, machine_networks=(), connected_addresses={host_id(1): ("198.51.100.7",)}
        )
        state = cluster_state(cluster=cluster, hosts=[self.two_cards(), host_state(2), host_state(3)])
        config: Any = install_config(inputs(state))
        assert config["networking"]["machineNetwork"] == [{"cidr": "198.51.100.0/24"}]


class TestSystemSettings:
    def test_time_sources_of_everybody(self) -> None:
        hosts = [host_state(1, reports=some_reports(1, ntp=(NtpSource("a", "synced"), NtpSource("b", "error"))))]
        state = replace(
            cluster_state(hosts=hosts, additional_ntp_source=""),
            infra_envs={INFRA_ENV_ID: an_infra_env(additional_ntp_sources="c, a")},
        )
        settings = system_settings(state, policy=a_policy(), service_url=SERVICE)
        assert settings.other_ntp_sources == ("a", "b", "c")
        own = system_settings(
            replace(state, cluster=replace(state.cluster, additional_ntp_source="d", ntp_sources="e,f")),
            policy=a_policy(),
            service_url=SERVICE,
        )
        assert (own.ntp_sources, own.other_ntp_sources) == (("e", "f"), ("a", "b", "d"))

    def test_encryption(self) -> None:
        wanted = DiskEncryption(
            enable_on="masters,workers",
            mode=EncryptionMode.TANG,
            tang_servers='[{"url": "http://tang:7500", "thumbprint": "abc"}]',
        )
        made = system_settings(cluster_state(disk_encryption=wanted), policy=a_policy(), service_url=SERVICE).encryption
        assert made.roles == {HostRole.MASTER, HostRole.WORKER}
        assert made.tang_servers == (("http://tang:7500", "abc"),)

    @pytest.mark.parametrize(
        ("chosen", "forced", "schedulable"), [(False, False, False), (True, False, True), (False, True, True)]
    )
    def test_masters_that_take_work(self, chosen: bool, forced: bool, schedulable: bool) -> None:
        state = cluster_state(schedulable_masters=chosen, schedulable_masters_forced=forced)
        assert system_settings(state, policy=a_policy(), service_url=SERVICE).schedulable_masters is schedulable


def test_leases_of_the_vips_travel_with_their_macs() -> None:
    cluster = a_cluster(vip_dhcp_allocation=True, vip_leases=("lease { a; expire 0 2025/06/01; }", "lease { b; }"))
    files = {file.path: file.content.decode() for file in lease_files(cluster)}
    assert files["/etc/keepalived/lease-api"] == "lease { a; expire never; }"
    assert files["/etc/keepalived/lease-ingress"] == "lease { b; }"
    monitor = files["/etc/keepalived/unsupported-monitor.conf"]
    assert f"mac-address: {vip_mac(cluster.id, name='ingress')}\n    ip-address: 192.0.2.6\n" in monitor
    assert lease_files(replace(cluster, vip_dhcp_allocation=False)) == ()


@pytest.mark.parametrize(
    ("endpoint", "url", "authorities"),
    [
        (None, "", ()),
        (IgnitionEndpoint(url="https://x:1/config/"), "https://x:1/config", ()),
        (IgnitionEndpoint(ca_certificate="UEVN"), "", ("PEM",)),
        (IgnitionEndpoint(ca_certificate="not base64!"), "", ()),
    ],
)
def test_the_endpoint_of_hosts_that_join(
    endpoint: IgnitionEndpoint | None, url: str, authorities: tuple[str, ...]
) -> None:
    made = day_two_endpoint(a_cluster(ignition_endpoint=endpoint), a_host(1), token="t")
    assert (made.url, made.authorities, made.token) == (url, authorities, "t")
    assert made.api_host == "api.east.example.com"
