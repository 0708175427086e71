"""Virtual media read an image in thousands of small pieces and never say which version they mean.

So whoever is reading one goes on with the version it began with, as long as it keeps reading.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from firstlight.server.imaging.answers import Image

GAP_SECONDS: Final = 30.0
"""Who has not read for this long begins anew."""
LONGEST_SECONDS: Final = 600.0
GOING_ON_SECONDS: Final = 86_400.0
"""How long a reader may pause and still go on under an address that has ended meanwhile: a machine that runs from its
medium reads little."""
MOST: Final = 4_096

_Key = tuple[str, bytes]


class Pins:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: OrderedDict[_Key, tuple[Image, float, float]] = OrderedDict()

    def choose(self, client: str, target: bytes, newest: Image) -> Image:
        """The version this client goes on with."""
        now, key = self._clock(), (client, target)
        held = self._held.get(key)
        image, since = newest, now
        if held is not None:
            kept, last, begun = held
            if kept.etag == newest.etag or (now - last <= GAP_SECONDS and now - begun <= LONGEST_SECONDS):
                image, since = kept, begun
        self._held[key] = (image, now, since if image.etag != newest.etag else now)
        self._held.move_to_end(key)
        if len(self._held) > MOST:
            self._held.popitem(last=False)
        return image

    def reading(self, client: str, target: bytes) -> Image | None:
        """What this client has been reading under this address, if it has not stopped for long."""
        now, key = self._clock(), (client, target)
        held = self._held.get(key)
        if held is None or now - held[1] > GOING_ON_SECONDS:
            return None
        self._held[key] = (held[0], now, held[2])
        return held[0]

    def forget(self, client: str, target: bytes) -> None:
        self._held.pop((client, target), None)
