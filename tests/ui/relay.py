"""A line between the browser and the service that can be cut, and that knows how many streams run over it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final
from urllib.parse import urlsplit

STREAM: Final = b"GET /api/firstlight/v1/changes"
PIECE: Final = 65_536


class Relay:
    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "", parts.port or 80)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._lines: dict[socket.socket, socket.socket] = {}
        self._lock = threading.Lock()
        self._streams: set[socket.socket] = set()
        self._cut = False

    @property
    def streams(self) -> int:
        with self._lock:
            return len(self._streams)

    def cut(self) -> None:
        """Nothing goes through any more, neither old lines nor new ones."""
        self._cut = True
        with self._lock:
            lines = [*self._lines.items()]
        for ends in lines:
            _hang_up(*ends)

    def mend(self) -> None:
        self._cut = False

    def run(self) -> None:
        while True:
            try:
                caller, _ = self._listening.accept()
            except OSError:
                return
            if self._cut:
                _hang_up(caller)
                continue
            service = socket.create_connection(self._target)
            with self._lock:
                self._lines[caller] = service
            threading.Thread(target=self._carry, args=(caller, service), kwargs={"asking": True}, daemon=True).start()
            threading.Thread(target=self._carry, args=(service, caller), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, *, asking: bool = False) -> None:
        with suppress(OSError):
            while piece := source.recv(PIECE):
                if asking and piece.startswith(STREAM):
                    with self._lock:
                        self._streams.add(source)
                sink.sendall(piece)
        if asking:
            with self._lock:
                self._lines.pop(source, None)
                self._streams.discard(source)
        _hang_up(source, sink)

    def close(self) -> None:
        # A thread that waits for callers does not notice that its socket is gone.
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()


def _hang_up(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def relayed(url: str) -> Iterator[Relay]:
    relay = Relay(url)
    thread = threading.Thread(target=relay.run, name="relay")
    thread.start()
    try:
        yield relay
    finally:
        relay.close()
        thread.join()
