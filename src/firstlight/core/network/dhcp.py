"""VIPs by DHCP: the MAC addresses leases are asked with, and what a lease must look like."""

import re
from typing import Final
from uuid import UUID

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster
from firstlight.core.network.addresses import in_network, is_v6, normal_address

MAC_PREFIX: Final = "00:1a:4a"
LEASE: Final = re.compile(r"\s*lease\s*\{\s*(?:[^\s;{}][^;{}]*;\s*)+\}\s*", re.ASCII)
EXPIRY: Final = re.compile(r"(?<![\w-])(renew|rebind|expire)\s[^;]*;")
LONGEST_LEASE: Final = 16_384

# The permutation of RFC 3074, section 6.
_SHUFFLED: Final = bytes.fromhex(
    "fbaf77d7510e4fbf6731b58fba9d00e81f20373c983a11edae46a090dc5a39df"
    "3b03128c6fa6cbc486f37c5fdeb3c541b430240f6b2ee982a51e7ba1d1176110"
    "285bdb3d640ad26dfa7f168a1d6cf443cf09b2cc4a627ef9a774224dc1c87905"
    "14714723800db65e19e2e3c74b1b29f5e6e02be1b11a9b96d48eda73f1495869"
    "27723effc0c991d6a89edd949a7a0c5452a32c8be4eccdf2d90bbb929f4056ef"
    "c32a6ac67670b8ac5702ad75b0e5f7fd89b963a466932d42e7348dd3c2cef6ee"
    "386e4ef83ff0bd5d5c3335b713ab48322168654508fc53784c875536ca7dbcd5"
    "60eb88d0a281be849c262f0107fe1804d88359151c8525999550aa4406a9ea97"
)


def dhcp_macs(cluster_id: UUID) -> tuple[str, str]:
    """MAC addresses of the API and the ingress VIP of a cluster; the same on every host, at any time."""
    return _mac(f"{cluster_id}-api"), _mac(f"{cluster_id}-ingress")


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


def _mac(name: str) -> str:
    return ":".join((MAC_PREFIX, *(f"{_pearson(name.encode(), offset):02x}" for offset in range(3))))


def _pearson(text: bytes, offset: int) -> int:
    """One byte of the hash; `offset` is added to the first input byte to get another one."""
    value = _SHUFFLED[(text[0] + offset) % 256]
    for byte in text[1:]:
        value = _SHUFFLED[value ^ byte]
    return value
