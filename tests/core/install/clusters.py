"""Clusters to render documents for; each test changes only what it is about."""

from uuid import UUID

import msgspec

from firstlight.core.install.cluster_inputs import ClusterInputs, HostInterface, InstallHost, PodNetwork
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole

CLUSTER_ID = UUID("00000000-0000-4000-8000-00000000c001")


def a_host(number: int, role: HostRole = HostRole.MASTER, **changes: object) -> InstallHost:
    plain = InstallHost(
        id=UUID(int=number),
        name=f"{role}-{number}",
        role=role,
        interfaces=(
            HostInterface(mac=f"02:00:00:00:01:{number:02x}", addresses=(f"10.9.0.{number}/24", f"fe80::{number}/64")),
            HostInterface(
                mac=f"02:00:00:00:02:{number:02x}", addresses=(f"192.168.111.{number}/24", f"2001:db8::{number}/64")
            ),
        ),
        installation_disk="/dev/disk/by-id/wwn-0x1",
        is_bootstrap=number == 1,
    )
    return msgspec.structs.replace(plain, **changes)


THREE_MASTERS = tuple(a_host(number) for number in (1, 2, 3))
TWO_WORKERS = tuple(a_host(number, HostRole.WORKER) for number in (4, 5))


def a_cluster(**changes: object) -> ClusterInputs:
    """Three masters and two workers on bare metal."""
    plain = ClusterInputs(
        cluster_id=CLUSTER_ID,
        name="sky",
        base_domain="example.com",
        version="4.18.3",
        release_image="quay.io/openshift-release-dev/ocp-release:4.18.3-x86_64",
        cluster_networks=(PodNetwork(cidr="10.128.0.0/14", host_prefix=23),),
        service_networks=("172.30.0.0/16",),
        machine_networks=("192.168.111.0/24",),
        api_vips=("192.168.111.5",),
        ingress_vips=("192.168.111.6",),
        pull_secret='{"auths":{}}',
        ssh_key="ssh-ed25519 AAAA me",
        hosts=(*TWO_WORKERS, *THREE_MASTERS),
    )
    return msgspec.structs.replace(plain, **changes)


def a_single_node(**changes: object) -> ClusterInputs:
    plain = a_cluster(
        platform=PlatformType.NONE,
        user_managed_networking=True,
        control_plane_count=1,
        api_vips=(),
        ingress_vips=(),
        hosts=(a_host(1),),
    )
    return msgspec.structs.replace(plain, **changes)


DUAL_STACK = {
    "cluster_networks": (
        PodNetwork(cidr="10.128.0.0/14", host_prefix=23),
        PodNetwork(cidr="fd01::/48", host_prefix=64),
    ),
    "service_networks": ("172.30.0.0/16", "fd02::/112"),
    "machine_networks": ("192.168.111.0/24", "2001:db8::/64"),
    "api_vips": ("192.168.111.5", "2001:db8::5"),
    "ingress_vips": ("192.168.111.6", "2001:db8::6"),
}
