"""Network interfaces and routes, from the kernel's tables and sysfs."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network
from typing import Final

from firstlight.core import wire
from firstlight.host.collect.view import Network, View
from firstlight.host.links import rows
from firstlight.host.links.rows import Address, Link, Route

DEVICES: Final = "/sys/class/net"
LINK_LOCAL: Final = (IPv4Network("169.254.0.0/16"), IPv6Network("fe80::/10"))
FLAGS: Final = (
    ("up", rows.UP),
    ("broadcast", rows.BROADCAST),
    ("loopback", rows.LOOPBACK),
    ("pointtopoint", rows.POINT_TO_POINT),
    ("multicast", rows.MULTICAST),
    ("running", rows.RUNNING),
)
PHYSICAL: Final = "physical"
REAL: Final = frozenset({PHYSICAL, "bond", "vlan"})
MOST_INTERFACES: Final = 512
MOST_ROUTES: Final = 2_048
DEFAULTS: Final = ("0.0.0.0", "::")  # noqa: S104 - destinations of default routes


def collect_interfaces(view: View, network: Network) -> tuple[wire.Interface, ...]:
    """In order of their names; virtual ones are left out first where there are too many."""
    learned = _learned_prefixes(network.routes)
    addresses: dict[int, list[Address]] = {}
    for address in network.addresses:
        addresses.setdefault(address.link, []).append(address)
    types = {link.index: interface_type(view, link) for link in network.links}
    kept = sorted(network.links, key=lambda link: (types[link.index] not in REAL, link.name))[:MOST_INTERFACES]
    found: list[wire.Interface] = []
    for link in sorted(kept, key=lambda link: link.name):
        own = addresses.get(link.index, [])
        shown = [_shown(address, learned.get(link.index, ())) for address in own if not _is_link_local(address)]
        found.append(
            wire.Interface(
                name=link.name,
                type=types[link.index],
                mac_address=_mac(link),
                mtu=link.mtu,
                flags=tuple(name for name, bit in FLAGS if link.flags & bit),
                has_carrier=view.root.line(f"{DEVICES}/{link.name}/carrier") == "1",
                speed_mbps=view.root.number(f"{DEVICES}/{link.name}/speed") or 0,
                vendor=view.root.line(f"{DEVICES}/{link.name}/device/vendor") or "",
                product=view.root.line(f"{DEVICES}/{link.name}/device/device") or "",
                ipv4_addresses=tuple(sorted(text for text in shown if ":" not in text)),
                ipv6_addresses=tuple(sorted(text for text in shown if ":" in text)),
            )
        )
    return tuple(found)


def interface_type(view: View, link: Link) -> str:
    """`physical`, or the kernel's word for a virtual one; `device` if it has none."""
    if view.lab is not None and link.kind == "veth":
        return PHYSICAL
    place = view.root.link(f"{DEVICES}/{link.name}")
    if place is None:
        return link.kind or ("device" if link.is_loopback else PHYSICAL)
    return PHYSICAL if "/virtual/" not in place else link.kind or "device"


def _mac(link: Link) -> str:
    """Bond members carry the bond's address; their own is what tells them apart."""
    mac = (link.permanent_mac or link.mac) if link.member_kind == "bond" else link.mac
    return mac if mac.strip("0:") else ""


def collect_routes(network: Network) -> tuple[wire.Route, ...]:
    """The main table in a stable order, IPv4 first; default routes are kept where there are too many."""
    names = {link.index: link.name for link in network.links}
    found = {
        wire.Route(
            interface=names.get(route.link, ""),
            destination=str(route.destination),
            gateway="" if route.gateway is None else str(route.gateway),
            family=route.family,
            metric=route.metric,
        )
        for route in network.routes
        if route.table == rows.MAIN_TABLE and route.link in names
    }
    kept = sorted(found, key=lambda row: (row.destination not in DEFAULTS, *_route_order(row)))[:MOST_ROUTES]
    return tuple(sorted(kept, key=_route_order))


def _route_order(row: wire.Route) -> tuple[int, str, int, str, str]:
    return (row.family, row.destination, row.metric, row.interface, row.gateway)


def _learned_prefixes(routes: Iterable[Route]) -> dict[int, tuple[IPv6Network, ...]]:
    """Networks that routers announced as being on a link: DHCPv6 gives single addresses without their network."""
    found: dict[int, tuple[IPv6Network, ...]] = {}
    for route in routes:
        announced = route.protocol == rows.FROM_ROUTER_ADVERTISEMENT
        if route.family == 10 and announced and 0 < route.prefix_length < 128:
            network = IPv6Network((int(route.destination), route.prefix_length), strict=False)
            found[route.link] = (*found.get(route.link, ()), network)
    return found


def _shown(address: Address, learned: tuple[IPv6Network, ...]) -> str:
    around = [network.prefixlen for network in learned if address.ip in network]
    length = max(around) if around else address.interface.network.prefixlen
    return f"{address.ip}/{length}"


def _is_link_local(address: Address) -> bool:
    return any(address.ip in network for network in LINK_LOCAL)
