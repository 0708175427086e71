"""Links, addresses and routes as values, whatever reads them."""

from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from typing import Final

from msgspec import Struct

IpAddress = IPv4Address | IPv6Address
IpInterface = IPv4Interface | IPv6Interface

UP: Final = 0x1
BROADCAST: Final = 0x2
LOOPBACK: Final = 0x8
POINT_TO_POINT: Final = 0x10
RUNNING: Final = 0x40
MULTICAST: Final = 0x1000

MAIN_TABLE: Final = 254
FROM_ROUTER_ADVERTISEMENT: Final = 9
"""The protocol number of routes the kernel learned from router advertisements."""


class Link(Struct, frozen=True, kw_only=True):
    """A network interface."""

    index: int
    name: str
    mac: str = ""
    """Lower case with colons; empty if the link has none."""
    permanent_mac: str = ""
    """What the hardware says, where the kernel tells it."""
    mtu: int = 0
    flags: int = 0
    kind: str = ""
    """`vlan`, `bond`, `bridge`, `veth` …; empty for hardware and `lo`."""
    member_kind: str = ""
    """`bond`, `bridge` …: the kind of the link that this one is a member of."""
    master: int = 0
    """Index of the link that this one is a member of."""
    parent: int = 0
    """Index of the link below, for VLANs and macvlans."""
    carrier: bool = False

    @property
    def is_up(self) -> bool:
        return bool(self.flags & UP)

    @property
    def is_loopback(self) -> bool:
        return bool(self.flags & LOOPBACK)


class Address(Struct, frozen=True, kw_only=True):
    """An address of a link."""

    link: int
    interface: IpInterface
    scope: int = 0
    flags: int = 0
    label: str = ""

    @property
    def ip(self) -> IpAddress:
        return self.interface.ip


class Route(Struct, frozen=True, kw_only=True):
    """A route of any table; only unicast ones are kept."""

    family: int
    """2 or 10, the numbers of the address families."""
    destination: IpAddress
    prefix_length: int
    gateway: IpAddress | None = None
    link: int = 0
    metric: int = 0
    table: int = MAIN_TABLE
    protocol: int = 0
