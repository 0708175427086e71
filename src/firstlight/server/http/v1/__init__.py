"""Our own API beside the original's: tables, the stream of events, findings in full, what the service is."""

from types import ModuleType
from typing import Final

from firstlight.server.http.v1 import (
    about,
    base_images,
    changes,
    events,
    findings,
    log_archives,
    machines,
    pictures,
    problems,
    retries,
    static_networks,
    storage,
    tables,
    tokens,
)

MODULES: Final[tuple[ModuleType, ...]] = (
    about,
    base_images,
    changes,
    events,
    findings,
    log_archives,
    machines,
    pictures,
    problems,
    retries,
    static_networks,
    storage,
    tables,
    tokens,
)
"""Every module with operations, sorted."""
