"""Who asked the bootstrap's machine-config server for Ignition, by the logs of its containers."""

import os
from collections.abc import Iterator
from typing import Final

from firstlight.host.recognising import Address, ignited_addresses
from firstlight.host.root import Root

FOLDER: Final = "/var/log/containers"
MOST_BYTES: Final = 4 * 2**20


class LogReader:
    """Every log of the server, each read once: a file that is rotated or belongs to a new container begins anew."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._read: dict[tuple[int, int], int] = {}

    def addresses(self) -> frozenset[Address]:
        """Those that appeared since the last look."""
        lines = (line for name in self._root.names(FOLDER) if _is_log(name) for line in self._new_lines(name))
        return frozenset(address for line in lines for address in ignited_addresses(line))

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
