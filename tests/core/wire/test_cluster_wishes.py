"""From request documents to wishes."""

import pytest

from firstlight.core import wire
from firstlight.core.clusters.wish import ClusterWish, EncryptionWish, EndpointWish
from firstlight.core.commands.cluster_settings import OperatorWish
from firstlight.core.model.cluster import ClusterNetwork, Platform
from firstlight.core.model.cluster_status import EncryptionMode, LoadBalancer, PlatformType
from firstlight.core.operators.catalogue import BundleRequest, OperatorRequest
from firstlight.core.wire.cluster_wishes import operators_of, wish_of

READER = wire.Reader(wire.ClusterUpdateParams)


@pytest.mark.parametrize(
    ("document", "wish"),
    [
        ("{}", ClusterWish()),
        ('{"name": null, "tags": ""}', ClusterWish(tags="")),
        (
            '{"machine_network_cidr": "192.0.2.0/24", "cluster_network_cidr": "10.0.0.0/8", '
            '"cluster_network_host_prefix": 23, "service_network_cidr": "172.30.0.0/16"}',
            ClusterWish(),
        ),
        (
            '{"platform": {"type": "external", "external": {"platform_name": "oci", '
            '"cloud_controller_manager": "External"}}}',
            ClusterWish(platform=Platform(type=PlatformType.EXTERNAL, external_name="oci", external_ccm="External")),
        ),
        ('{"platform": {"type": "none"}}', ClusterWish(platform=Platform(type=PlatformType.NONE))),
        ('{"load_balancer": {"type": "user-managed"}}', ClusterWish(load_balancer=LoadBalancer.USER_MANAGED)),
        ('{"load_balancer": {}}', ClusterWish()),
        (
            '{"disk_encryption": {"enable_on": "all", "mode": "tang"}}',
            ClusterWish(disk_encryption=EncryptionWish(enable_on="all", mode=EncryptionMode.TANG)),
        ),
        ('{"ignition_endpoint": {"url": ""}}', ClusterWish(ignition_endpoint=EndpointWish(url=""))),
        (
            '{"api_vips": [{"ip": ""}], "ingress_vips": [{"ip": "192.0.2.6"}]}',
            ClusterWish(api_vips=(), ingress_vips=("192.0.2.6",)),
        ),
        (
            '{"cluster_networks": [{"cidr": "10.0.0.0/8"}], "machine_networks": []}',
            ClusterWish(cluster_networks=(ClusterNetwork(cidr="10.0.0.0/8"),), machine_networks=()),
        ),
        (
            '{"control_plane_count": 5, "api_vip_dns_name": "x"}',
            ClusterWish(control_plane_count=5, api_vip_dns_name="x"),
        ),
    ],
)
def test_changes(document: str, wish: ClusterWish) -> None:
    assert wish_of(READER.read(document)) == wish


def test_a_new_clusters_size_is_not_part_of_its_wish() -> None:
    params = wire.ClusterCreateParams(name="a", openshift_version="4.18", pull_secret="{}", control_plane_count=5)
    assert wish_of(params) == ClusterWish(name="a", pull_secret="{}")


@pytest.mark.parametrize(
    ("document", "wish"),
    [
        ("{}", None),
        ('{"olm_operators": []}', OperatorWish()),
        (
            '{"olm_operators": [{"name": "lvm", "properties": "p"}]}',
            OperatorWish(operators=(OperatorRequest(name="lvm", properties="p"),)),
        ),
        (
            '{"operator_bundles": [{"id": "openshift-ai", "optional_operators": ["amd-gpu"]}]}',
            OperatorWish(bundles=(BundleRequest(id="openshift-ai", optional_operators=("amd-gpu",)),)),
        ),
    ],
)
def test_operators(document: str, wish: OperatorWish | None) -> None:
    assert operators_of(READER.read(document)) == wish
