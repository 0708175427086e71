"""Who asked the bootstrap's machine-config server for Ignition: addresses read from its logs, compared as values."""

import os
import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_interface
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.host.root import Root

FOLDER: Final = "/var/log/containers"
MOST_BYTES: Final = 4 * 2**20
_ASKED: Final = re.compile(
    r"""(?<![\w.:\[%])\[?([0-9A-Fa-f:.]{2,45}?)(?:%[\w.\-]+)?\]?:\d{1,5}"?,?\s+User-Agent:"Ignition"""
)

Address = IPv4Address | IPv6Address


def address_in(line: str) -> Address | None:
    """Whose Ignition asked, in either form the server has written over the years."""
    match = _ASKED.search(line)
    if match is None:
        return None
    try:
        return ip_address(match[1])
    except ValueError:
        return None


class _Interface(Struct):
    ipv4_addresses: list[str] | None = None
    ipv6_addresses: list[str] | None = None


class _Inventory(Struct):
    interfaces: list[_Interface] | None = None


def addresses_of(inventory: str) -> frozenset[Address]:
    """All addresses of a host, link-local ones too; none if the inventory cannot be read."""
    try:
        found = msgspec.json.decode(inventory or "{}", type=_Inventory)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return frozenset()
    texts = (
        text
        for interface in found.interfaces or ()
        for text in (*(interface.ipv4_addresses or ()), *(interface.ipv6_addresses or ()))
    )
    return frozenset(address for text in texts if (address := _address(text)) is not None)


def _address(text: str) -> Address | None:
    try:
        return ip_interface(text.partition("%")[0]).ip
    except ValueError:
        return None


class LogReader:
    """Every log of the server, each read once: a file that is rotated or belongs to a new container begins anew."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._read: dict[tuple[int, int], int] = {}

    def addresses(self) -> frozenset[Address]:
        """Those that appeared since the last look."""
        lines = (line for name in self._root.names(FOLDER) if _is_log(name) for line in self._new_lines(name))
        return frozenset(address for line in lines if (address := address_in(line)) is not None)

    def _new_lines(self, name: str) -> Iterator[str]:
        try:
            with self._root.path(f"{FOLDER}/{name}").open("rb") as file:
                status = os.fstat(file.fileno())
                key = status.st_dev, status.st_ino
                begin = self._read.get(key, 0)
                begin = file.seek(begin if begin <= status.st_size else 0)
                data = file.read(MOST_BYTES)
        except OSError:
            return
        # A line that is still being written is read next time.
        whole, newline, _ = data.rpartition(b"\n")
        self._read[key] = begin + len(whole) + len(newline)
        yield from whole.decode("utf-8", "replace").splitlines()


def _is_log(name: str) -> bool:
    return "machine-config-server" in name and name.endswith(".log")
