"""Which host a machine is, when two machines may bring one id.

A host id is made of a serial number or a UUID of the firmware, and some vendors give every board the same. Splitting
one machine in two costs its user a click; taking two machines for one would install over each other. So machines are
one only if they share a network interface, or have none and agree in everything else.
"""

from collections.abc import Iterable
from uuid import UUID, uuid5

from msgspec import Struct

from firstlight.core.model.fingerprint import Fingerprint, write_fingerprint
from firstlight.core.model.host import Host


class Placement(Struct, frozen=True, kw_only=True):
    """Under which id a machine is kept."""

    host_id: UUID
    claimed_id: UUID | None = None
    """The id it brought, if another machine has that one."""


def same_machine(known: Fingerprint, told: Fingerprint) -> bool:
    """Cards and boards are replaced one at a time; one common interface is enough."""
    if known.macs and told.macs:
        return not set(known.macs).isdisjoint(told.macs)
    return known.board == told.board


def derived_id(claimed: UUID, fingerprint: Fingerprint) -> UUID:
    """The id of a machine whose own is taken: the same again after every restart."""
    return uuid5(claimed, write_fingerprint(fingerprint))


def place(claimed: UUID, told: Fingerprint | None, *, known: Iterable[Host]) -> Placement:
    """`known` are hosts of the infra-env; those with other ids are passed over."""
    if told is None:
        return Placement(host_id=claimed)
    first: Host | None = None
    for host in known:
        if claimed in (host.id, host.claimed_id) and host.fingerprint and same_machine(host.fingerprint, told):
            return Placement(host_id=host.id, claimed_id=host.claimed_id)
        first = host if host.id == claimed else first
    if first is None or first.fingerprint is None:
        return Placement(host_id=claimed)
    return Placement(host_id=derived_id(claimed, told), claimed_id=claimed)
