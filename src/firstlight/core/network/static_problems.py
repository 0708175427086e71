"""What is wrong with static networks, found without asking anybody: mistakes that would leave a host unreachable."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.network.addresses import address_of
from firstlight.core.network.mac_addresses import is_mac_address
from firstlight.core.network.nmstate_document import NetworkDocument, read_document
from firstlight.core.network.static_rules import RULES, Trouble


class Severity(StrEnum):
    ERROR = "error"
    """The host would not come up as described."""
    WARNING = "warning"
    """Possible, and rarely meant."""


class DescribedHost(Struct, frozen=True, kw_only=True):
    """One host as its user describes it; `document` is the parsed YAML."""

    cards: tuple[tuple[str, str], ...]
    """MAC address and the name the description has for it."""
    document: object


class NetworkProblem(Struct, frozen=True, kw_only=True):
    host: int
    """Position in the list of hosts, from 0."""
    mac_address: str = ""
    """The first of the host, by which people know it."""
    interface: str = ""
    code: str
    severity: Severity
    message: str


Found = Iterator[NetworkProblem]
WARNINGS: Final = frozenset(
    {"unused-card", "dns-missing", "no-address", "no-default-route", "default-route-twice", "no-ports"}
)


def check_hosts(hosts: Sequence[DescribedHost]) -> tuple[NetworkProblem, ...]:
    """Every problem of every host, in their order. Nothing found does not mean that nmstate agrees."""
    documents: list[NetworkDocument | None] = []
    problems: list[NetworkProblem] = []
    for position, host in enumerate(hosts):
        tell = _teller(position, host)
        problems += (tell(trouble) for trouble in _mapping_troubles(host))
        try:
            documents.append(read_document(host.document))
        except Invalid as refusal:
            documents.append(None)
            problems.append(tell(Trouble("shape", str(refusal))))
    for position, (host, document) in enumerate(zip(hosts, documents, strict=True)):
        if document is not None:
            tell = _teller(position, host)
            names = frozenset(name for _, name in host.cards)
            problems += (tell(trouble) for rule in RULES for trouble in rule(document, names))
    problems += _shared_addresses(hosts, documents)
    problems += _shared_cards(hosts)
    return tuple(sorted(problems, key=lambda problem: problem.host))


def _teller(position: int, host: DescribedHost) -> Callable[[Trouble], NetworkProblem]:
    mac = host.cards[0][0] if host.cards else ""

    def tell(trouble: Trouble) -> NetworkProblem:
        return NetworkProblem(
            host=position,
            mac_address=mac,
            interface=trouble.interface,
            code=trouble.code,
            severity=Severity.WARNING if trouble.code in WARNINGS else Severity.ERROR,
            message=trouble.message,
        )

    return tell


def _mapping_troubles(host: DescribedHost) -> Iterator[Trouble]:
    if not host.cards:
        yield Trouble("no-cards", "No MAC address is given, so no machine is this host. Map one to an interface.")
    for mac, name in host.cards:
        if not is_mac_address(mac):
            yield Trouble("mac-malformed", f"{mac!r} is not a MAC address like 02:00:00:80:12:14.", name)
        if not name:
            yield Trouble("card-unnamed", f"MAC address {mac} is mapped to an empty interface name.")
    for what, values in (("MAC address", [mac.lower() for mac, _ in host.cards]), ("name", [n for _, n in host.cards])):
        for value in _repeated(values):
            yield Trouble(f"{what.split()[0].lower()}-twice", f"The {what} {value} is mapped twice. Keep one of them.")


def _shared_cards(hosts: Sequence[DescribedHost]) -> Found:
    owners: dict[str, list[int]] = {}
    for position, host in enumerate(hosts):
        for mac in {mac.lower() for mac, _ in host.cards}:
            owners.setdefault(mac, []).append(position)
    for mac, positions in owners.items():
        for position in positions if len(positions) > 1 else ():
            message = (
                f"MAC address {mac} is also described for host {_others(positions, position)}. A card has one host."
            )
            yield _teller(position, hosts[position])(Trouble("mac-shared", message))


def _shared_addresses(hosts: Sequence[DescribedHost], documents: Sequence[NetworkDocument | None]) -> Found:
    owners: dict[object, list[tuple[int, str]]] = {}
    for position, document in enumerate(documents):
        for interface in document.all_interfaces if document else ():
            for address in interface.addresses:
                found = address_of(address.ip)
                if found is not None and not found.is_link_local:
                    owners.setdefault(found, []).append((position, interface.name))
    for address, places in owners.items():
        for position, name in places if len(places) > 1 else ():
            positions = [other for other, _ in places]
            where = _others(positions, position)
            told = f"is also given to host {where}" if where else "is given to it twice"
            trouble = Trouble("address-twice", f"The address {address} {told}. Every address is unique.", name)
            yield _teller(position, hosts[position])(trouble)


def _others(positions: Sequence[int], own: int) -> str:
    """Numbers of the others, as people count them."""
    return ", ".join(str(position + 1) for position in dict.fromkeys(positions) if position != own)


def _repeated(values: Sequence[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]
