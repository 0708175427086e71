"""The keys and tokens a service starts with: given, or made once and kept where all replicas find them."""

import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

import structlog

from firstlight.core.errors import Unavailable
from firstlight.server.auth.keys import KeyPair, key_pair, new_private_key
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import SERVICE_SUBJECT
from firstlight.server.ports.writes import PutSecret

log = structlog.get_logger(__name__)

PRIVATE_KEY: Final = "ec_private_key"
ADMIN_TOKEN: Final = "admin_token"  # noqa: S105 - the name of a secret, not one
ADMIN_FILE: Final = "admin-token"
"""Where the administrator's token stands in the data directory, for whoever may read it."""
ADMIN_BYTES: Final = 32


async def kept(store: Store, name: str, make: Callable[[], str]) -> str:
    """A secret of the service: made when it is first asked for; whoever is faster makes it for all."""
    known = await store.secret(SERVICE_SUBJECT, name)
    if known is None:
        await store.commit(PutSecret(subject=SERVICE_SUBJECT, name=name, value=make(), only_if_missing=True))
        known = await store.secret(SERVICE_SUBJECT, name) or ""
    return known


async def service_keys(store: Store, *, public: str, private: str) -> KeyPair:
    """The pair that was given; without a private key, one is made and kept."""
    return key_pair(public=public, private=private or await kept(store, PRIVATE_KEY, new_private_key))


async def administrator(store: Store, *, given: str, folder: Path) -> str:
    """The administrator's token, which is also left in the data directory."""
    token = given or await kept(store, ADMIN_TOKEN, lambda: token_urlsafe(ADMIN_BYTES))
    try:
        write_private(folder / ADMIN_FILE, token + "\n")
    except OSError as error:
        if not given:
            raise Unavailable(
                f"The administrator's token cannot be written to {folder / ADMIN_FILE}: {error.strerror}. Make the data"
                " directory writable, or choose a token with FIRSTLIGHT_ADMIN_TOKEN."
            ) from None
        # Whoever chose it knows it.
        log.info("the administrator's token is not left in the data directory", reason=error.strerror)
    return token


def write_private(path: Path, text: str) -> None:
    """At no moment can anybody else read it."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    part.replace(path)
