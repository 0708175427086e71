"""The machine's addresses, one line for each interface that a person might plug a cable into."""

from typing import Final

from firstlight.host.collect.view import Network

HARDWARE: Final = frozenset({"", "bond", "vlan", "veth", "team"})
"""Kinds of interfaces that are shown; the others are inventions of software."""


def address_lines(network: Network) -> tuple[str, ...]:
    """With an address first, then those that only have a cable, then the rest, each by name."""
    lines: list[tuple[int, str, str]] = []
    for link in network.links:
        if link.is_loopback or link.kind not in HARDWARE:
            continue
        found = [
            str(row.interface)
            for row in network.addresses
            if row.link == link.index and not row.interface.ip.is_link_local
        ]
        rank = 0 if found else 1 if link.carrier else 2
        shown = ", ".join(found) or ("no address" if link.carrier else "no cable")
        lines.append((rank, link.name, f"{link.name} {link.mac} {shown}"))
    return tuple(line for _, _, line in sorted(lines))
