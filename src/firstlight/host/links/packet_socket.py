"""A raw socket on one link, read by the event loop: frames of one protocol in, frames out."""

import asyncio
import ctypes
import socket
import struct
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final

_ATTACH_FILTER: Final = 26
_INSTRUCTION: Final = struct.Struct("=HBBI")
_MEANT_FOR_US: Final = frozenset({0, 1, 2})
"""Unicast to us, broadcast, multicast; not what a VLAN or a promiscuous link lets us overhear."""
_AT_ONCE: Final = 256
_LONGEST: Final = 65_536

Send = Callable[[bytes], None]
Instruction = tuple[int, int, int, int]

LOAD_BYTE, LOAD_HALF, EQUAL, ANSWER = 0x30, 0x28, 0x15, 0x06
"""The few instructions of the kernel's packet filter that our filters are made of."""


@contextmanager
def listening(
    link: str, *, protocol: int, on_frame: Callable[[bytes], None], accept: Sequence[Instruction] = ()
) -> Generator[Send]:
    """Yields the sender; `on_frame` gets every frame that `accept` lets through. Raises OSError.

    A frame that cannot be sent just now is lost, as any packet may be.
    """
    loop = asyncio.get_running_loop()
    # Bound to the link before the protocol is named: until then the socket hears nothing.
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as raw:
        raw.setblocking(False)
        if accept:
            _attach(raw, accept)
        raw.bind((link, protocol))

        def read() -> None:
            for _ in range(_AT_ONCE):
                try:
                    frame, origin = raw.recvfrom(_LONGEST)
                except OSError:
                    return
                if origin[2] in _MEANT_FOR_US:
                    on_frame(frame)

        def send(frame: bytes) -> None:
            try:
                raw.send(frame)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as reason:
                if reason.errno not in _PASSING:
                    raise

        loop.add_reader(raw, read)
        try:
            yield send
        finally:
            loop.remove_reader(raw)


_PASSING: Final = frozenset({105, 11})
"""No buffer space, try again."""


def _attach(raw: socket.socket, program: Sequence[Instruction]) -> None:
    code = ctypes.create_string_buffer(b"".join(_INSTRUCTION.pack(*line) for line in program))
    # struct sock_fprog: a count, padding, and a pointer that must live during the call.
    raw.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, struct.pack("@HP", len(program), ctypes.addressof(code)))
