"""A host's description in nmstate's language, as far as our checks look into it. nmstate itself knows far more."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from firstlight.core.errors import Invalid

DEFAULT_ROUTES: Final = frozenset({"0.0.0.0/0", "::/0", "default"})


class _Part(Struct, frozen=True, kw_only=True, rename="kebab"):
    """Members we do not look at are passed over."""


class IpAddress(_Part, frozen=True, kw_only=True):
    ip: str
    prefix_length: int | None = None


class IpSettings(_Part, frozen=True, kw_only=True):
    enabled: bool | None = None
    dhcp: bool | None = None
    autoconf: bool | None = None
    auto_dns: bool | None = None
    auto_gateway: bool | None = None
    address: tuple[IpAddress, ...] | None = None

    @property
    def is_on(self) -> bool:
        return self.enabled is not False

    @property
    def asks(self) -> bool:
        """Is somebody on the network asked for the address?"""
        return self.is_on and bool(self.dhcp or self.autoconf)


class Vlan(_Part, frozen=True, kw_only=True):
    base_iface: str | None = None
    id: int | None = None


class LinkAggregation(_Part, frozen=True, kw_only=True):
    mode: str | None = None
    port: tuple[str, ...] | None = None
    slaves: tuple[str, ...] | None = None


class BridgePort(_Part, frozen=True, kw_only=True):
    name: str = ""


class Bridge(_Part, frozen=True, kw_only=True):
    port: tuple[BridgePort, ...] | None = None


class Interface(_Part, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1)]
    type: str | None = None
    state: str | None = None
    identifier: str | None = None
    mtu: int | None = None
    ipv4: IpSettings | None = None
    ipv6: IpSettings | None = None
    vlan: Vlan | None = None
    link_aggregation: LinkAggregation | None = None
    bridge: Bridge | None = None

    @property
    def is_up(self) -> bool:
        return self.state in (None, "up")

    @property
    def ports(self) -> tuple[str, ...]:
        """What a bond or bridge is made of."""
        bond, bridge = self.link_aggregation, self.bridge
        bonded = (*(bond.port or ()), *(bond.slaves or ())) if bond else ()
        bridged = tuple(port.name for port in bridge.port or ()) if bridge else ()
        return (*bonded, *bridged)

    @property
    def below(self) -> tuple[str, ...]:
        """Every interface this one stands on."""
        base = self.vlan.base_iface if self.vlan else None
        return (*self.ports, *((base,) if base else ()))

    @property
    def addresses(self) -> tuple[IpAddress, ...]:
        families = (family for family in (self.ipv4, self.ipv6) if family is not None and family.is_on)
        return tuple(address for family in families for address in family.address or ())

    @property
    def asks(self) -> bool:
        return any(family.asks for family in (self.ipv4, self.ipv6) if family is not None)


class Route(_Part, frozen=True, kw_only=True):
    destination: str | None = None
    next_hop_address: str | None = None
    next_hop_interface: str | None = None
    metric: int | None = None
    table_id: int | None = None
    state: str | None = None

    @property
    def is_default(self) -> bool:
        return self.destination in DEFAULT_ROUTES


class Routes(_Part, frozen=True, kw_only=True):
    config: tuple[Route, ...] | None = None


class DnsConfig(_Part, frozen=True, kw_only=True):
    server: tuple[str, ...] | None = None
    search: tuple[str, ...] | None = None


class DnsResolver(_Part, frozen=True, kw_only=True):
    config: DnsConfig | None = None


class NetworkDocument(_Part, frozen=True, kw_only=True):
    interfaces: tuple[Interface, ...] | None = None
    routes: Routes | None = None
    dns_resolver: DnsResolver | None = None

    @property
    def all_interfaces(self) -> tuple[Interface, ...]:
        return self.interfaces or ()

    @property
    def all_routes(self) -> tuple[Route, ...]:
        """Without those that are to be removed."""
        routes = (self.routes.config or ()) if self.routes else ()
        return tuple(route for route in routes if route.state != "absent")

    @property
    def dns_servers(self) -> tuple[str, ...]:
        return (self.dns_resolver.config.server or ()) if self.dns_resolver and self.dns_resolver.config else ()


def read_document(document: object) -> NetworkDocument:
    """A parsed description; Invalid says which part has a form nmstate does not know."""
    try:
        return msgspec.convert(document, type=NetworkDocument, strict=False)
    except msgspec.ValidationError as problem:
        raise Invalid(f"The description has another form than nmstate's: {problem}.") from None
