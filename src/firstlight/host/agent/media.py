"""Whether the medium the machine was booted from can still be read: virtual media are pulled, cables fall out."""

import asyncio
import os
from typing import Final

from firstlight.host.root import Root

MOUNT_POINT: Final = "/run/media/iso"
MEDIA_GONE: Final = 256
"""The exit code by which services know it."""
GONE: Final = (
    "The discovery image cannot be read any more: its media was likely disconnected. Connect it again, or boot the"
    " machine from it once more."
)
READ_SECONDS: Final = 120.0
"""Virtual media come over long lines, and the machine may be busy reading from them."""


def medium_in(mounts: str) -> str | None:
    """The device mounted as the discovery medium, by the text of /proc/mounts; None if there is none to look at."""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) > 1 and fields[1] == MOUNT_POINT and fields[0].startswith("/dev"):
            return fields[0]
    return None


class MediaCheck:
    def __init__(self, root: Root) -> None:
        self._root = root
        self._reading: asyncio.Future[bool] | None = None

    async def is_gone(self) -> bool:
        """Any doubt counts as no: only a device that fails to be read, or that never answers, is gone."""
        if not self._root.exists(MOUNT_POINT):
            return False
        device = medium_in(self._root.text("/proc/1/mounts") or self._root.text("/proc/mounts") or "")
        if device is None:
            return False
        if self._reading is None or self._reading.done():
            # A read that hangs keeps its thread; whoever asks meanwhile waits for the same one.
            self._reading = asyncio.ensure_future(asyncio.to_thread(_can_read, str(self._root.path(device))))
        try:
            async with asyncio.timeout(READ_SECONDS):
                return not await asyncio.shield(self._reading)
        except TimeoutError:
            return True


def _can_read(path: str) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as reason:
        return isinstance(reason, PermissionError)
    try:
        return len(os.read(handle, 2)) == 2
    except OSError:
        return False
    finally:
        os.close(handle)
