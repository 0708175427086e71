"""Which features count as used."""

from typing import Any

import pytest

from firstlight.core.clusters.features import active_features
from firstlight.core.clusters.usages import with_usages
from firstlight.core.model.cluster import DiskEncryption, Operator, Platform
from firstlight.core.model.cluster_status import LoadBalancer, OperatorKind, PlatformType
from firstlight.core.model.host import FencingCredentials
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.infra_env import Proxy
from firstlight.core.versions.feature_ids import FeatureId
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_host, host_state


@pytest.mark.parametrize(
    ("changes", "name", "usage_id", "data"),
    [
        ({"additional_ntp_source": "a.b,c.d"}, "Additional NTP Source", "ADDITIONAL_NTP_SOURCE", {"source_count": 2}),
        (
            {"proxy": Proxy(http="http://p")},
            "Proxy",
            "PROXY",
            {"http_proxy": True, "https_proxy": False, "no_proxy": False},
        ),
        ({"control_plane_count": 1}, "SNO", "SNO", {}),
        ({"vip_dhcp_allocation": True}, "VIP auto alloc.", "VIP_AUTO_ALLOC.", {}),
        ({"network_type": "OpenShiftSDN"}, "SDN network type", "SDN_NETWORK_TYPE", {}),
        ({"network_type": "Cilium"}, "Cilium network type", "CILIUM_NETWORK_TYPE", {}),
        ({"cpu_architecture": "arm64"}, "arm64 architecture", "ARM64_ARCHITECTURE", {}),
        (
            {"disk_encryption": DiskEncryption(enable_on="all")},
            "Disk encryption",
            "DISK_ENCRYPTION",
            {"enable_on": "all", "mode": "tpmv2"},
        ),
        (
            {"platform": Platform(type=PlatformType.VSPHERE)},
            "Platform selection",
            "PLATFORM_SELECTION",
            {"platform_type": "vsphere"},
        ),
        ({"hyperthreading": "none"}, "Hyperthreading", "HYPERTHREADING", {"hyperthreading_enabled": "none"}),
        ({"install_config_overrides": '{"fips": true}'}, "FIPS", "FIPS", {}),
        ({"install_config_overrides": '{"fips": tru'}, "Install Config Overrides", "INSTALL_CONFIG_OVERRIDES", {}),
        ({"operators": (Operator(name="lvm", kind=OperatorKind.OLM),)}, "LVM", "LVM", {}),
        ({"tags": "a"}, "Cluster Tags", "CLUSTER_TAGS", {"tags": "a"}),
    ],
)
def test_used(changes: dict[str, Any], name: str, usage_id: str, data: dict[str, object]) -> None:
    assert name not in {usage.name for usage in with_usages(a_cluster()).usages}
    found = {usage.name: usage for usage in with_usages(a_cluster(**changes)).usages}
    assert (found[name].id, found[name].data) == (usage_id, data)


def test_what_is_no_longer_used_goes() -> None:
    used = with_usages(a_cluster(tags="a"))
    assert "Cluster Tags" not in {usage.name for usage in with_usages(a_cluster(usages=used.usages)).usages}


def test_hosts_count() -> None:
    hosts = [host_state(1, requested_hostname="a"), host_state(2, role=HostRole.MASTER)]
    found = {usage.name: usage.data for usage in with_usages(a_cluster(), hosts).usages}
    assert found["Requested hostname"] == {"host_count": 1}
    assert found["auto assign role"] == {"assigned_hosts": 1}


FENCED = FencingCredentials(address="redfish://a", username="u", password="p")


@pytest.mark.parametrize(
    ("changes", "hosts", "features"),
    [
        ({"control_plane_count": 1}, [], {FeatureId.SNO}),
        ({"control_plane_count": 4}, [], {FeatureId.NON_STANDARD_HA_CONTROL_PLANE}),
        ({"control_plane_count": 2}, [a_host(role=HostRole.ARBITER)], {FeatureId.TNA}),
        (
            {"control_plane_count": 2},
            [a_host(1, role=HostRole.MASTER, fencing=FENCED), a_host(2, role=HostRole.MASTER, fencing=FENCED)],
            {FeatureId.TNF},
        ),
        ({"load_balancer": LoadBalancer.USER_MANAGED}, [], {FeatureId.USER_MANAGED_LOAD_BALANCER}),
        (
            {"platform": Platform(type=PlatformType.EXTERNAL, external_name="oci")},
            [],
            {FeatureId.EXTERNAL_PLATFORM, FeatureId.EXTERNAL_PLATFORM_OCI},
        ),
        ({"api_vips": ("192.0.2.5", "2001:db8::5")}, [], {FeatureId.DUAL_STACK_VIPS}),
        ({"primary_ip_stack": 6}, [], {FeatureId.DUAL_STACK_PRIMARY_IPV6}),
        ({"service_networks": ("172.30.0.0/16", "fd02::/112")}, [], {FeatureId.DUAL_STACK}),
        ({"network_type": "Calico"}, [], {FeatureId.CALICO_NETWORK_TYPE}),
    ],
)
def test_active_features(changes: dict[str, Any], hosts: list[Any], features: set[FeatureId]) -> None:
    usual = active_features(a_cluster())
    assert features.isdisjoint(usual)
    assert active_features(a_cluster(**changes), hosts=hosts) >= features
    assert usual == {
        FeatureId.BAREMETAL_PLATFORM,
        FeatureId.CLUSTER_MANAGED_NETWORKING,
        FeatureId.OVN_NETWORK_TYPE,
    }
