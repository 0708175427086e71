"""VIPs by DHCP: the MAC addresses leases are asked with, and what a lease must look like."""

import re
from typing import Final
from uuid import UUID

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster
from firstlight.core.network.addresses import in_network, is_v6, normal_address
from firstlight.core.steps.vip_macs import vip_mac

LEASE: Final = re.compile(r"\s*lease\s*\{\s*(?:[^\s;{}][^;{}]*;\s*)+\}\s*", re.ASCII)
EXPIRY: Final = re.compile(r"(?<![\w-])(renew|rebind|expire)\s[^;]*;")
LONGEST_LEASE: Final = 16_384


def dhcp_macs(cluster_id: UUID) -> tuple[str, str]:
    """MAC addresses of the API and the ingress VIP of a cluster; the same on every host, at any time."""
    return vip_mac(cluster_id, name="api"), vip_mac(cluster_id, name="ingress")


def check_leases(cluster: Cluster, *, addresses: tuple[str, str], leases: tuple[str, str]) -> tuple[str, str]:
    """The leased VIPs in normal form; Invalid if they cannot be VIPs of this cluster."""
    if not cluster.vip_dhcp_allocation:
        raise Invalid("The cluster does not get its VIPs by DHCP, so leases for them are not accepted.")
    if not cluster.machine_networks:
        raise Invalid("The cluster has no machine network yet, so leases for its VIPs cannot be judged.")
    network = cluster.machine_networks[0]
    for what, address, lease in zip(("API", "ingress"), addresses, leases, strict=True):
        if is_v6(address):
            raise Invalid(f"The {what} VIP {address} came by DHCP but is an IPv6 address; only IPv4 leases are used.")
        if not in_network(address, network):
            raise Invalid(f"The {what} VIP {address} came by DHCP but is not in the machine network {network}.")
        if lease and not is_lease(lease):
            raise Invalid(f"The DHCP lease of the {what} VIP {address} is not of the form `lease {{ key value; … }}`.")
    if normal_address(addresses[0]) == normal_address(addresses[1]):
        raise Invalid(f"DHCP gave the address {addresses[0]} to both VIPs; the API and the ingress VIP must differ.")
    return str(normal_address(addresses[0])), str(normal_address(addresses[1]))


def is_lease(text: str) -> bool:
    return len(text) <= LONGEST_LEASE and LEASE.fullmatch(text) is not None


def never_expiring(lease: str) -> str:
    """The lease as the new cluster gets it: keepalived renews it there, until then it must not lapse."""
    return EXPIRY.sub(r"\1 never;", lease)
