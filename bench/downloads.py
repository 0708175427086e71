"""Clients that cost little: what they receive is thrown away by the kernel, so that two cores measure the server."""

import random
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

PIECE = 4 * 1024 * 1024


@dataclass(frozen=True)
class Target:
    port: int
    path: str
    size: int

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def request(self, start: int, stop: int) -> bytes:
        lines = f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bmc\r\nAccept: */*\r\n"
        return f"{lines}Range: bytes={start}-{stop - 1}\r\n\r\n".encode()


class Download:
    """One answer on one connection."""

    def __init__(self, connection: socket.socket, length: int) -> None:
        self.connection = connection
        self.left = length
        self._head = b""
        self._in_head = True

    def take(self, scratch: bytearray) -> int:
        """Receive once; how much of the body came."""
        if self._in_head:
            self._head += self.connection.recv(4_096)
            head, end, rest = self._head.partition(b"\r\n\r\n")
            if not end:
                if not self._head:
                    raise ConnectionError("closed before an answer")
                return 0
            if head.split()[1] not in (b"200", b"206"):
                raise ValueError(head.decode("latin-1"))
            self._in_head = False
            self.left -= len(rest)
            return len(rest)
        # MSG_TRUNC on TCP: the bytes are dropped where they are.
        count = self.connection.recv_into(scratch, min(len(scratch), self.left), socket.MSG_TRUNC)
        if not count:
            raise ConnectionError("closed in the middle")
        self.left -= count
        return count


def whole_files(target: Target, *, clients: int, each: int) -> tuple[int, float]:
    """Everybody downloads that much at the same time: bytes and seconds."""
    started = time.monotonic()
    scratch, received = bytearray(PIECE), 0
    with selectors.DefaultSelector() as waiting:
        for number in range(clients):
            connection = target.connect()
            start = number * 4_096 % max(1, target.size - each + 1)
            connection.sendall(target.request(start, start + each))
            waiting.register(connection, selectors.EVENT_READ, Download(connection, each))
        while waiting.get_map():
            for key, _ in waiting.select():
                download: Download = key.data
                received += download.take(scratch)
                if not download.left:
                    waiting.unregister(key.fileobj)
                    download.connection.close()
    return received, time.monotonic() - started


def ranges(*, connections: int, requests: int, length: int) -> Callable[[Target], tuple[int, float]]:
    """Small pieces from all over the file, the way virtual media read: requests and seconds."""

    def work(target: Target) -> tuple[int, float]:
        started, chance = time.monotonic(), random.Random(1)
        scratch = bytearray(PIECE)
        lines = [target.connect() for _ in range(connections)]
        for _ in range(requests // connections):
            downloads: list[Download] = []
            for line in lines:
                start = chance.randrange(0, target.size // length - 1) * length
                line.sendall(target.request(start, start + length))
                downloads.append(Download(line, length))
            for download in downloads:
                while download.left:
                    download.take(scratch)
        for line in lines:
            line.close()
        return requests // connections * connections, time.monotonic() - started

    return work


def time_to_first_byte(target: Target) -> float:
    """From the request to the first byte of the body, on a new connection."""
    with target.connect() as connection:
        started = time.monotonic()
        connection.sendall(target.request(0, target.size))
        download, scratch = Download(connection, target.size), bytearray(4_096)
        while download.left == target.size:
            download.take(scratch)
        return time.monotonic() - started


def hold_many(target: Target, count: int, measure: Callable[[], float]) -> float:
    """Begin that many downloads, take a little of each, and measure while all are under way."""
    lines = [target.connect() for _ in range(count)]
    try:
        for number, line in enumerate(lines):
            line.sendall(target.request(number * 512, target.size))
        for line in lines:
            taken = 0
            while taken < 65_536:
                taken += len(line.recv(65_536))
        return measure()
    finally:
        for line in lines:
            line.close()
