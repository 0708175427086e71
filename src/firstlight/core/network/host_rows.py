"""Static networks as rows of a table: what most hosts need, in a form people fill in or keep in a spreadsheet.

A row and the nmstate document it stands for carry the same: `document_of` and `row_of` undo each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.errors import Invalid
from firstlight.core.network.addresses import address_of, network_of
from firstlight.core.network.mac_addresses import is_mac_address
from firstlight.core.network.static_rules import LARGEST_MTU, SMALLEST_MTU, VLANS

ASK: Final = "dhcp"
"""Stands where an address could: somebody on the network is asked for it."""
USUAL_MODE: Final = "active-backup"
MODES: Final = frozenset(
    {"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}
)
MOST_CARDS: Final = 16

Document = dict[str, object]
OFF: Final[Document] = {"enabled": False}
NOTHING: Final[Document] = {}
Cards = tuple[tuple[str, str], ...]
"""MAC address and logical name."""


class HostRow(Struct, frozen=True, kw_only=True):
    """One host. Its cards are bonded when there are several; a VLAN lies on top; the addresses lie on top of all."""

    mac_addresses: tuple[str, ...]
    bond_mode: str = ""
    vlan: int | None = None
    mtu: int | None = None
    ipv4: str = ""
    """Address with prefix, `dhcp`, or nothing."""
    ipv4_gateway: str = ""
    ipv6: str = ""
    ipv6_gateway: str = ""
    dns: tuple[str, ...] = ()
    dns_search: tuple[str, ...] = ()


def normal_row(row: HostRow) -> HostRow:
    """The row in its one form: lower-case addresses, a mode wherever there is a bond."""
    mode = row.bond_mode or (USUAL_MODE if len(row.mac_addresses) > 1 else "")
    return replace(
        row,
        mac_addresses=tuple(mac.strip().lower() for mac in row.mac_addresses),
        bond_mode=mode,
        ipv4=row.ipv4.strip().lower(),
        ipv4_gateway=row.ipv4_gateway.strip(),
        ipv6=row.ipv6.strip().lower(),
        ipv6_gateway=row.ipv6_gateway.strip().lower(),
    )


def require_row(row: HostRow, *, what: str) -> HostRow:
    """The row in its normal form; Invalid, beginning with `what`, names the column that cannot be."""
    normal = normal_row(row)
    for column, problem in _complaints(normal):
        raise Invalid(f"{what}: {column} {problem}")
    return normal


def _complaints(row: HostRow) -> Iterator[tuple[str, str]]:
    if not 1 <= len(row.mac_addresses) <= MOST_CARDS:
        yield "mac_addresses", f"needs 1 to {MOST_CARDS} MAC addresses, separated by spaces."
    for mac in row.mac_addresses:
        if not is_mac_address(mac):
            yield "mac_addresses", f"has {mac[:40]!r}, which is not a MAC address like 02:00:00:80:12:14."
    if len({*row.mac_addresses}) < len(row.mac_addresses):
        yield "mac_addresses", "names a card twice."
    if row.bond_mode and row.bond_mode not in MODES:
        yield "bond_mode", f"is {row.bond_mode[:40]!r}, which is none of {', '.join(sorted(MODES))}."
    if row.vlan is not None and row.vlan not in VLANS:
        yield "vlan", f"is {row.vlan}. Numbers are 1 to {VLANS.stop - 1}."
    if row.mtu is not None and not SMALLEST_MTU <= row.mtu <= LARGEST_MTU:
        yield "mtu", f"is {row.mtu}. It must be {SMALLEST_MTU} to {LARGEST_MTU}."
    for version, address, gateway in ((4, row.ipv4, row.ipv4_gateway), (6, row.ipv6, row.ipv6_gateway)):
        yield from _address_complaints(version, address, gateway)
    for server in row.dns:
        if address_of(server) is None or "/" in server:
            yield "dns", f"has {server[:60]!r}, which is no address."
    for domain in row.dns_search:
        if not domain or not domain.isascii() or any(letter.isspace() or letter in ",;" for letter in domain):
            yield "dns_search", f"has {domain[:60]!r}, which is no domain."


def _address_complaints(version: int, address: str, gateway: str) -> Iterator[tuple[str, str]]:
    column, network = f"ipv{version}", network_of(address)
    if address not in ("", ASK) and (network is None or network.version != version):
        example = "192.0.2.5/24" if version == 4 else "2001:db8::5/64"
        yield column, f"is {address[:60]!r}. Write an address with its prefix like {example}, '{ASK}', or nothing."
    found = address_of(gateway)
    if gateway and (found is None or found.version != version or "/" in gateway):
        yield f"{column}_gateway", f"is {gateway[:60]!r}, which is no IPv{version} address."
    if gateway and not address:
        yield f"{column}_gateway", f"is given, but {column} is empty."


# --- rows to documents


def document_of(row: HostRow) -> tuple[Document, Cards]:
    """The description nmstate takes, and the cards its names stand for. The row must be a normal one."""
    cards = tuple((mac, f"eth{index}") for index, mac in enumerate(row.mac_addresses))
    names = [name for _, name in cards]
    layers: list[Document] = [{"name": name, "type": "ethernet", "state": "up"} for name in names]
    top = names[0] if names else ""
    if row.bond_mode:
        top = "bond0"
        bond = {"mode": row.bond_mode, "port": names}
        layers.append({"name": top, "type": "bond", "state": "up", "link-aggregation": bond})
    if row.vlan is not None:
        base, top = top, f"{top}.{row.vlan}"
        layers.append({"name": top, "type": "vlan", "state": "up", "vlan": {"base-iface": base, "id": row.vlan}})
    for layer in layers:
        if row.mtu is not None:
            layer["mtu"] = row.mtu
        on_top = layer["name"] == top
        layer["ipv4"] = _family(row.ipv4, ("dhcp",)) if on_top else {**OFF}
        layer["ipv6"] = _family(row.ipv6, ("dhcp", "autoconf")) if on_top else {**OFF}
    document: Document = {"interfaces": layers}
    if row.dns or row.dns_search:
        document["dns-resolver"] = {"config": {"server": [*row.dns], "search": [*row.dns_search]}}
    gateways = (("0.0.0.0/0", row.ipv4_gateway), ("::/0", row.ipv6_gateway))
    routes = [
        {"destination": destination, "next-hop-address": gateway, "next-hop-interface": top}
        for destination, gateway in gateways
        if gateway
    ]
    if routes:
        document["routes"] = {"config": routes}
    return document, cards


def _family(address: str, ways: Sequence[str]) -> Document:
    if not address:
        return {**OFF}
    if address == ASK:
        return {"enabled": True, **dict.fromkeys(ways, True)}
    head, _, prefix = address.partition("/")
    given = [{"ip": head, "prefix-length": int(prefix)}]
    return {"enabled": True, **dict.fromkeys(ways, False), "address": given}


# --- documents to rows


def row_of(document: object, cards: Cards) -> HostRow | None:
    """The row that stands for the description; None when it says more, or something else, than a row can."""
    try:
        row = _guess(_object(document), cards)
    except (LookupError, TypeError, ValueError):
        return None
    if any(True for _ in _complaints(row)):
        return None
    again, named = document_of(row)
    same = _plain(again) == _plain(document) and named == tuple((mac.lower(), name) for mac, name in cards)
    return row if same else None


def _guess(document: Document, cards: Cards) -> HostRow:
    """What the row must be if there is one; whether it is, is told by making the document anew."""
    interfaces = [_object(one) for one in _list(document.get("interfaces"))]
    bond = next((one for one in interfaces if one.get("type") == "bond"), NOTHING)
    vlan = next((one for one in interfaces if one.get("type") == "vlan"), NOTHING)
    top = vlan or bond or interfaces[0]
    resolver = _object(_object(document.get("dns-resolver")).get("config"))
    routes = [_object(one) for one in _list(_object(document.get("routes")).get("config"))]
    gateways = {str(route.get("destination")): str(route.get("next-hop-address", "")) for route in routes}
    mode = _object(bond.get("link-aggregation")).get("mode", "")
    number = _object(vlan.get("vlan")).get("id")
    return normal_row(
        HostRow(
            mac_addresses=tuple(mac for mac, _ in cards),
            bond_mode=str(mode),
            vlan=None if number is None else int(str(number)),
            mtu=None if top.get("mtu") is None else int(str(top["mtu"])),
            ipv4=_address(_object(top.get("ipv4"))),
            ipv4_gateway=gateways.get("0.0.0.0/0", ""),
            ipv6=_address(_object(top.get("ipv6"))),
            ipv6_gateway=gateways.get("::/0", ""),
            dns=tuple(str(one) for one in _list(resolver.get("server"))),
            dns_search=tuple(str(one) for one in _list(resolver.get("search"))),
        )
    )


def _address(family: Document) -> str:
    if not family.get("enabled"):
        return ""
    if family.get("dhcp"):
        return ASK
    first = _object(_list(family.get("address"))[0])
    return f"{first['ip']}/{first['prefix-length']}"


def _plain(value: object) -> object:
    """Without what nmstate takes for granted, so that two ways to say the same are equal."""
    if isinstance(value, Mapping):
        members = {str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()}
        return {
            key: item for key, item in members.items() if item not in ({}, [], None, False) and item != ASSUMED.get(key)
        }
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    return value


ASSUMED: Final[Mapping[str, object]] = {"state": "up", "table-id": 254}


def _object(value: object) -> Document:
    return dict(cast("Document", value)) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return list(cast("list[object]", value)) if isinstance(value, list) else []
