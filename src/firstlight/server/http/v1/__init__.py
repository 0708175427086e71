"""Our own API beside the original's: the stream of events, findings in full, what the service is."""

from types import ModuleType
from typing import Final

from firstlight.server.http.v1 import about, events, findings

MODULES: Final[tuple[ModuleType, ...]] = (about, events, findings)
"""Every module with operations, sorted."""
