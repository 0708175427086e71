"""The network simulated machines stand in: who has which address."""

from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import Final

FIRST_HOST: Final = 20
API_VIP: Final = 5
INGRESS_VIP: Final = 6
LEASED_VIPS: Final = (10, 11)
SMALL: Final = 200
"""More machines than this need more than a /24."""


class Network:
    """One layer-2 network with a gateway, a time server and room for virtual addresses."""

    def __init__(self, cidr: str) -> None:
        self.cidr = cidr
        self._network = IPv4Network(cidr)

    @staticmethod
    def for_count(count: int, *, seed: int = 0) -> "Network":
        if count <= SMALL:
            return Network(f"192.168.{100 + seed % 100}.0/24")
        return Network(f"10.{seed % 100}.0.0/16")

    @property
    def prefix(self) -> int:
        return self._network.prefixlen

    @cached_property
    def gateway(self) -> str:
        return self._at(1)

    @cached_property
    def ntp_server(self) -> str:
        return self._at(2)

    @cached_property
    def api_vip(self) -> str:
        return self._at(API_VIP)

    @cached_property
    def ingress_vip(self) -> str:
        return self._at(INGRESS_VIP)

    @cached_property
    def leased_vips(self) -> tuple[str, str]:
        """What its DHCP server hands out for virtual addresses."""
        return (self._at(LEASED_VIPS[0]), self._at(LEASED_VIPS[1]))

    def host_address(self, index: int) -> str:
        return self._at(FIRST_HOST + index)

    def contains(self, address: str) -> bool:
        try:
            return IPv4Address(address) in self._network
        except ValueError:
            return False

    def all_addresses(self) -> list[str]:
        return [str(address) for address in self._network]

    def _at(self, offset: int) -> str:
        return str(self._network.network_address + offset)
