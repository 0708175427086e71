"""The kernel's tables of links, addresses and routes, read over rtnetlink in the current network namespace.

The kernel answers at once, so these calls do not need the event loop.
"""

import os
import socket
from collections.abc import Callable
from typing import Final, TypeVar

from firstlight.host.links import netlink_messages as wire
from firstlight.host.links.rows import Address, Link, Route

Row = TypeVar("Row")

_SEQUENCE: Final = 1
_PATIENCE_SECONDS: Final = 5.0
_BUFFER: Final = 2**18


def links() -> tuple[Link, ...]:
    """All links in order of their index."""
    return tuple(sorted(_dump(wire.GET_LINK, wire.NEW_LINK, wire.link_of), key=lambda link: link.index))


def addresses() -> tuple[Address, ...]:
    """All addresses, by link, IPv4 first, in the kernel's order."""
    rows = _dump(wire.GET_ADDRESS, wire.NEW_ADDRESS, wire.address_of)
    return tuple(sorted(rows, key=lambda row: (row.link, row.interface.version)))


def routes() -> tuple[Route, ...]:
    """Unicast routes of all tables, IPv4 first, in a stable order."""
    rows = _dump(wire.GET_ROUTE, wire.NEW_ROUTE, wire.route_of)
    return tuple(sorted(rows, key=lambda row: (row.family, row.table, row.destination.packed, row.metric, row.link)))


def create_macvlan(name: str, *, parent: str, mac: str) -> Link:
    """A private macvlan over `parent`, up, with its own address. Raises OSError; an existing name is EEXIST."""
    data = wire.macvlan_request(
        name=name,
        parent=socket.if_nametoindex(parent),
        mac=bytes.fromhex(mac.replace(":", "").replace("-", "")),
        sequence=_SEQUENCE,
    )
    _change(data)
    return next(link for link in links() if link.name == name)


def delete_link(name: str) -> None:
    """Raises OSError if there is none."""
    _change(wire.delete_request(index=socket.if_nametoindex(name), sequence=_SEQUENCE))


def _dump(kind: int, row_kind: int, read: Callable[[bytes], Row | None]) -> list[Row]:
    rows: list[Row] = []
    with _open() as kernel:
        kernel.send(wire.dump_request(kind, sequence=_SEQUENCE))
        while True:
            for got, sequence, payload in wire.messages(kernel.recv(_BUFFER)):
                if sequence != _SEQUENCE:
                    continue
                if got == wire.DONE:
                    return rows
                if got == wire.ERROR:
                    _raise(wire.error_number(payload))
                if got == row_kind and (row := read(payload)) is not None:
                    rows.append(row)


def _change(data: bytes) -> None:
    with _open() as kernel:
        kernel.send(data)
        while True:
            for got, sequence, payload in wire.messages(kernel.recv(_BUFFER)):
                if got == wire.ERROR and sequence == _SEQUENCE:
                    _raise(wire.error_number(payload))
                    return


def _open() -> socket.socket:
    kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    kernel.settimeout(_PATIENCE_SECONDS)
    kernel.bind((0, 0))
    return kernel


def _raise(number: int) -> None:
    if number:
        raise OSError(number, os.strerror(number))
