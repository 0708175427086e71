"""Who this machine is: the id the original's agent would give it, and a fingerprint for when that is not unique."""

import hashlib
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from firstlight.core.model.fingerprint import Fingerprint, make_fingerprint
from firstlight.host.collect.lab import Lab
from firstlight.host.collect.view import dmi_value
from firstlight.host.links.rows import Link
from firstlight.host.root import Root

NO_SERIAL: Final = frozenset(
    {
        *("", "unknown", "none", "(none)", "-", "default string", "not specified", "pca_number.acc"),
        *("unspecified base board serial number", "unspecified system serial number"),
    }
)
"""What firmware writes where a serial number should be, in lower case."""
NO_UUID: Final = frozenset({UUID(int=0), UUID("03000200-0400-0500-0006-000700080009")})
NOBODY: Final = UUID("deaddead-dead-dead-dead-deaddeaddead")
BOARD_FACTS: Final = ("product_uuid", "product_serial", "board_serial", "chassis_serial")


def host_id(root: Root, links: Iterable[Link], *, lab: Lab | None = None) -> UUID:
    """The first that is sound: board serial number, system UUID, smallest MAC; a constant if there is nothing."""
    if lab is not None and lab.host_id is not None:
        return lab.host_id
    serial = (dmi_value(root, "board_serial", lab=lab) or "").strip()
    if serial.lower() not in NO_SERIAL:
        return _digest(serial)
    try:
        system = UUID(dmi_value(root, "product_uuid", lab=lab) or "")
    except ValueError:
        system = UUID(int=0)
    if system not in NO_UUID:
        return system
    macs = sorted(link.mac for link in links if link.mac.strip("0:"))
    return _digest(macs[0]) if macs else NOBODY


def fingerprint(root: Root, links: Iterable[Link], *, lab: Lab | None = None) -> Fingerprint:
    facts = (f"{name}={(dmi_value(root, name, lab=lab) or '').lower()}" for name in BOARD_FACTS)
    board = hashlib.sha256("\n".join(facts).encode("utf-8", "replace")).hexdigest()[:16]
    return make_fingerprint(board=board, macs=permanent_macs(root, links, lab=lab))


def permanent_macs(root: Root, links: Iterable[Link], *, lab: Lab | None = None) -> tuple[str, ...]:
    """Addresses that belong to the hardware. Interfaces on USB count only if there is nothing else: management
    controllers offer one with the same address in every machine, and dongles travel."""
    built_in: set[str] = set()
    pluggable: set[str] = set()
    for link in links:
        mac = link.permanent_mac or link.mac
        place = root.link(f"/sys/class/net/{link.name}") or ""
        hardware = bool(place) and "/virtual/" not in place
        if mac.strip("0:") and (hardware or (lab is not None and link.kind == "veth")):
            (pluggable if "/usb" in place else built_in).add(mac)
    return tuple(sorted(built_in or pluggable))


def _digest(text: str) -> UUID:
    return UUID(hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest())
