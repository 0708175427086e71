"""An inventory under a load test, where many agents share one machine: each has its own name, MAC and address."""

from collections.abc import Iterable

from msgspec.structs import replace

from firstlight.core import wire
from firstlight.host.settings import DryRun


def pretended(inventory: wire.Inventory, *, dry_run: DryRun) -> wire.Inventory:
    """Only the first interface that has an IPv4 address is left, and carries what the test wants."""
    return replace(
        inventory,
        hostname=dry_run.hostname or inventory.hostname,
        interfaces=_only_one(inventory.interfaces or (), dry_run=dry_run),
    )


def _only_one(interfaces: Iterable[wire.Interface], *, dry_run: DryRun) -> tuple[wire.Interface, ...]:
    for interface in interfaces:
        if interface.ipv4_addresses:
            first, *others = interface.ipv4_addresses
            mac = dry_run.mac.lower() or interface.mac_address
            addresses = (_forced(first, dry_run.ipv4), *others)
            return (replace(interface, mac_address=mac, ipv4_addresses=addresses),)
    return ()


def _forced(address: str, wanted: str) -> str:
    """With the length of the real prefix, unless the wanted one has its own."""
    return (wanted if "/" in wanted else f"{wanted}/{address.partition('/')[2]}") if wanted else address
