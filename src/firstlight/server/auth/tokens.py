"""Making and reading tokens: what each kind says, and how long it is good for."""

import hmac
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import Conflict
from firstlight.server.auth.compact import BadToken, Claims, read_es256, sign_es256, sign_hs256
from firstlight.server.auth.keys import KeyPair

MOST_REMEMBERED: Final = 32_768
IMAGE_KEY: Final = "signing_key"
"""The name under which the key is kept that signs the image links of an infra-env."""


class Scheme(StrEnum):
    """How a credential is shown; also the claim by which a token says what it is for."""

    USER = "userAuth"
    AGENT = "agentAuth"
    URL = "urlAuth"
    IMAGE = "imageAuth"
    IMAGE_URL = "imageURLAuth"
    WATCHER = "watcherAuth"


class Role(StrEnum):
    ADMIN = "admin"
    READ_ONLY = "read-only"


class Lifetimes(Struct, frozen=True, kw_only=True):
    agent: timedelta = timedelta(hours=720)
    """Nothing means that tokens in discovery images never end."""
    image: timedelta = timedelta(hours=4)


@dataclass(slots=True)
class Tokens:
    """Mints with the private key, checks with the public one, and remembers what it has checked."""

    keys: KeyPair
    admin_token: str = field(repr=False, default="")
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    _known: OrderedDict[bytes, Claims] = field(repr=False, default_factory=OrderedDict[bytes, Claims])

    # --- making -----------------------------------------------------------------------------------------------------

    def agent(self, infra_env_id: UUID, *, issued_at: datetime) -> str:
        """For the hosts of an infra-env: the same token for the same moment, everywhere and always."""
        claims: dict[str, object] = {"infra_env_id": str(infra_env_id), "auth_scheme": Scheme.AGENT.value}
        if self.lifetimes.agent:
            claims["exp"] = int((issued_at + self.lifetimes.agent).timestamp())
        return self._signed(claims)

    def is_due(self, issued_at: datetime, now: datetime) -> bool:
        """Has a token in an image lived for half of its time? New images get a new one then."""
        return bool(self.lifetimes.agent) and now - issued_at >= self.lifetimes.agent / 2

    def image(self, infra_env_id: UUID, *, key: bytes, now: datetime) -> tuple[str, datetime]:
        """For one image link, and when it ends. The order of the claims is known to clients that look inside."""
        expires = int((now + self.lifetimes.image).timestamp())
        token = sign_hs256({"exp": expires, "sub": str(infra_env_id)}, key)
        return token, datetime.fromtimestamp(expires, UTC)

    def person(self, name: str, *, role: Role, expires_at: datetime | None) -> str:
        return self._signed(_expiring({"auth_scheme": Scheme.USER.value, "sub": name, "role": role.value}, expires_at))

    def watcher(self, name: str, *, expires_at: datetime | None) -> str:
        return self._signed(_expiring({"auth_scheme": Scheme.WATCHER.value, "sub": name}, expires_at))

    def cluster(self, cluster_id: UUID, *, expires_at: datetime | None) -> str:
        return self._signed(_expiring({"cluster_id": str(cluster_id)}, expires_at))

    def _signed(self, claims: dict[str, object]) -> str:
        if self.keys.private is None:
            raise Conflict("This service has no private key, so it makes no tokens. Set EC_PRIVATE_KEY_PEM.")
        return sign_es256(claims, self.keys.private)

    # --- reading ----------------------------------------------------------------------------------------------------

    def is_admin(self, token: str) -> bool:
        return bool(self.admin_token) and hmac.compare_digest(_digest(token), _digest(self.admin_token))

    def read(self, token: str) -> Claims:
        """Claims that the service's own key vouches for; whether their time is over is another question."""
        digest = _digest(token)
        claims = self._known.get(digest)
        if claims is None:
            claims = self._known[digest] = read_es256(token, self.keys.public)
            if len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        return claims


def has_ended(claims: Claims, now: datetime) -> bool:
    return claims.exp is not None and claims.exp <= now.timestamp()


def uuid_in(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise BadToken from None


def _expiring(claims: dict[str, object], expires_at: datetime | None) -> dict[str, object]:
    return claims if expires_at is None else {**claims, "exp": int(expires_at.timestamp())}


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
