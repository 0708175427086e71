"""From paths to what is wanted. Nothing here knows how it is made."""

import math
import re
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, unquote
from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import Invalid, NotFound, Unauthenticated
from firstlight.core.versions.releases import DISCONNECTED_ISO, FULL_ISO
from firstlight.server.auth.compact import BadToken, Claims, unchecked

MINIMAL_ISO: Final = "minimal-iso"
TYPE_OF_FILE: Final = {"full.iso": FULL_ISO, "minimal.iso": MINIMAL_ISO, "disconnected.iso": DISCONNECTED_ISO}
ARTIFACTS: Final = ("rootfs", "kernel", "ins-file")
LONGEST_TARGET: Final = 8_192
_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Proof(Struct, frozen=True, kw_only=True):
    """What the address says about who may use it. The API decides what it is worth."""

    api_key: str = ""
    image_token: str = ""
    ends_at: float = math.inf
    """Seconds since 1970."""


NO_PROOF: Final = Proof()


class DiscoveryIso(Struct, frozen=True, kw_only=True):
    infra_env_id: UUID
    version: str
    architecture: str
    image_type: str
    proof: Proof = NO_PROOF
    handler: str


class PxeInitrd(Struct, frozen=True, kw_only=True):
    infra_env_id: UUID
    version: str
    architecture: str
    only_size: bool = False
    """s390x wants address and length of the initrd rather than the initrd."""
    proof: Proof = NO_PROOF
    handler: str


class BootArtifact(Struct, frozen=True, kw_only=True):
    name: str
    version: str
    architecture: str
    handler: str


class Page(Struct, frozen=True, kw_only=True):
    """health, live, metrics, base-images"""

    name: str
    handler: str


Route = DiscoveryIso | PxeInitrd | BootArtifact | Page
PAGES: Final = ("health", "live", "metrics", "base-images")


@lru_cache(maxsize=4096)
def route(target: bytes) -> Route:
    """Raises NotFound, Invalid or Unauthenticated, with the reason."""
    if len(target) > LONGEST_TARGET:
        raise NotFound("There is nothing with such a long name.")
    path, _, query = target.decode("latin-1").partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=32)
        parts = [unquote(part, errors="strict") for part in path.split("/")[1:]]
    except (ValueError, UnicodeError):
        raise NotFound("There is nothing with such a name.") from None
    asked = dict(reversed(pairs))  # the first of several counts
    match parts:
        case [name] if name in PAGES:
            return Page(name=name, handler=f"/{name}")
        case ["byid", identity, version, architecture, name]:
            return DiscoveryIso(
                infra_env_id=_identity(identity),
                version=version,
                architecture=architecture,
                image_type=_type_of(name),
                handler="/byid/:token",
            )
        case ["bytoken" | "byapikey" as form, token, version, architecture, name]:
            claims = _claims(token)
            key = "image_token" if form == "bytoken" else "api_key"
            return DiscoveryIso(
                infra_env_id=_identity(claims.sub or claims.infra_env_id),
                version=version,
                architecture=architecture,
                image_type=_type_of(name),
                proof=_proof({key: token}),
                handler=f"/{form}/:token",
            )
        case ["images", identity]:
            return _long_form(_identity(identity), asked)
        case ["images", identity, "pxe-initrd" | "s390x-initrd-addrsize" as name]:
            return _initrd(_identity(identity), name, asked)
        case ["boot-artifacts", name]:
            if name not in ARTIFACTS:
                raise NotFound(f"There is no boot artifact '{name[:40]}'. There are {', '.join(ARTIFACTS)}.")
            return BootArtifact(
                name=name,
                version=_required(asked, "version"),
                architecture=asked.get("arch", ""),
                handler=f"/boot-artifacts/{name}",
            )
        case _:
            raise NotFound("There is nothing with this name.")


def _long_form(identity: UUID, asked: dict[str, str]) -> DiscoveryIso:
    version, image_type = _required(asked, "version"), _required(asked, "type")
    if image_type not in TYPE_OF_FILE.values():
        raise Invalid(f"The type '{image_type[:40]}' is not one of {', '.join(TYPE_OF_FILE.values())}.")
    return DiscoveryIso(
        infra_env_id=identity,
        version=version,
        architecture=asked.get("arch", ""),
        image_type=image_type,
        proof=_proof(asked),
        handler="/images/:imageID",
    )


def _initrd(identity: UUID, name: str, asked: dict[str, str]) -> PxeInitrd:
    only_size = name == "s390x-initrd-addrsize"
    return PxeInitrd(
        infra_env_id=identity,
        version=_required(asked, "version"),
        architecture="s390x" if only_size else asked.get("arch", ""),
        only_size=only_size,
        proof=_proof(asked),
        handler=f"/images/:imageID/{name}",
    )


def _proof(asked: dict[str, str]) -> Proof:
    """A key of another form than ours is passed on; nobody but the API knows when it ends."""
    api_key, image_token = asked.get("api_key", ""), asked.get("image_token", "")
    if not api_key and not image_token:
        return NO_PROOF
    try:
        ends_at = unchecked(api_key or image_token).exp
    except BadToken:
        ends_at = None
    return Proof(api_key=api_key, image_token=image_token, ends_at=math.inf if ends_at is None else ends_at)


def _claims(token: str) -> Claims:
    try:
        return unchecked(token)
    except BadToken:
        raise Unauthenticated("The token in this address cannot be read. Ask for a new image URL.") from None


def _identity(text: str) -> UUID:
    if not _ID.fullmatch(text):
        raise NotFound(f"'{text[:60]}' is not the id of an infra-env.")
    return UUID(text)


def _type_of(name: str) -> str:
    if name not in TYPE_OF_FILE:
        raise NotFound(f"There is no image '{name[:60]}'. There are {', '.join(TYPE_OF_FILE)}.")
    return TYPE_OF_FILE[name]


def _required(asked: dict[str, str], name: str) -> str:
    if not asked.get(name):
        raise Invalid(f"The parameter {name} is missing.")
    return asked[name]
