"""Links that need no credential: signed by the service, good for one file and for a while."""

import hmac
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from firstlight.core.errors import Forbidden
from firstlight.server.usecases.world import World

API: Final = "/api/assisted-install"
EXPIRES: Final = "expires"
SIGNATURE: Final = "signature"
FOR_IMAGES: Final = timedelta(hours=4)
FOR_FILES: Final = timedelta(minutes=10)


class Link(Struct, frozen=True, kw_only=True):
    url: str
    expires_at: datetime


class Signed(Struct, frozen=True, kw_only=True):
    """What a link brings along besides the query of its operation."""

    expires: int
    """Seconds since 1970."""
    signature: str


def make_link(world: World, path: str, query: Mapping[str, str], *, lifetime: timedelta) -> Link:
    """A link to `path` (as the API documents it, `/v2/…`) with exactly this query."""
    expires_at = datetime.fromtimestamp(int((world.clock.now() + lifetime).timestamp()), UTC)
    expires = int(expires_at.timestamp())
    signature = _signature(world.service.link_key, path, query, expires)
    whole = urlencode({**query, EXPIRES: expires, SIGNATURE: signature})
    return Link(url=f"{world.service.service_url.rstrip('/')}{API}{path}?{whole}", expires_at=expires_at)


def require_good_link(world: World, path: str, query: Mapping[str, str], signed: Signed) -> None:
    """Refuse a link that was altered, or whose time is over. Parameters not in `query` are not protected."""
    expected = _signature(world.service.link_key, path, query, signed.expires)
    if not hmac.compare_digest(expected.encode(), signed.signature.encode()):
        raise Forbidden("This link was not made by the service, or it was altered. Ask for a new one.")
    if signed.expires < world.clock.now().timestamp():
        raise Forbidden("This link is no longer valid. Ask for a new one.")


def _signature(key: bytes, path: str, query: Mapping[str, str], expires: int) -> str:
    text = "\n".join([path, urlencode(sorted(query.items())), str(expires)])
    return hmac.new(key, text.encode(), sha256).hexdigest()
