"""Whether a disk carries a boot sector. Reading a disk may take forever, and nothing else shall wait for it.

A thread that hangs inside the kernel cannot be stopped, so the threads are nobody's to wait for, and a disk whose
reader still hangs is not read again.
"""

import asyncio
import threading
from collections.abc import Collection
from typing import Final

from firstlight.host.root import Root

READERS: Final = 4
SECONDS: Final = 60.0
"""A disk that sleeps needs a while to turn, and several may share a controller. One that hangs costs it once."""
SECTOR: Final = 512
SIGNATURE: Final = b"\x55\xaa"

_hanging: set[str] = set()


def is_bootable(sector: bytes) -> bool:
    """The signature every PC boot sector, and every partition table but the oldest, ends with."""
    return len(sector) >= SECTOR and sector[510:512] == SIGNATURE


async def bootable_disks(root: Root, paths: Collection[str], *, seconds: float = SECONDS) -> frozenset[str]:
    """Those of `paths` whose first sector can be read in time and is a boot sector."""
    waiting = [path for path in sorted(paths, reverse=True) if path not in _hanging]
    if not waiting:
        return frozenset()
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    found: set[str] = set()
    left = [len(waiting)]
    lock = threading.Lock()

    def read() -> None:
        while True:
            with lock:
                if not waiting:
                    return
                path = waiting.pop()
                _hanging.add(path)
            sector = root.bytes(path, most=SECTOR) or b""
            with lock:
                _hanging.discard(path)
                if is_bootable(sector):
                    found.add(path)
                left[0] -= 1
                last = left[0] == 0
            if last and not loop.is_closed():
                loop.call_soon_threadsafe(done.set)

    for number in range(min(READERS, len(waiting))):
        threading.Thread(target=read, name=f"boot-sector-{number}", daemon=True).start()
    try:
        async with asyncio.timeout(seconds):
            await done.wait()
    except TimeoutError:
        with lock:
            waiting.clear()
    with lock:
        return frozenset(found)
