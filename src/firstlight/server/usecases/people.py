"""Tokens for people and programs, and logging in with one."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import Conflict, Invalid, NotFound, Unauthenticated
from firstlight.server.auth.authenticator import Authenticator
from firstlight.server.auth.compact import BadToken
from firstlight.server.auth.tokens import Role, Tokens
from firstlight.server.usecases.world import World

LONGEST_NAME: Final = 80


class Kind(StrEnum):
    """What a token is for."""

    USER = "user"
    READ_ONLY = "read-only"
    WATCHER = "watcher"
    INFRA_ENV = "infra-env"
    CLUSTER = "cluster"


class NewToken(Struct, frozen=True, kw_only=True):
    kind: Kind
    name: str = ""
    """Whose it is; shown with what they do."""
    subject: UUID | None = None
    """The infra-env or cluster it is good for."""
    lifetime: timedelta | None = None


class Issued(Struct, frozen=True, kw_only=True):
    token: str
    expires_at: datetime | None


async def issue(world: World, wanted: NewToken) -> Issued:
    tokens, now = _tokens(world), world.clock.now()
    if wanted.kind in (Kind.USER, Kind.READ_ONLY, Kind.WATCHER):
        if not 1 <= len(wanted.name) <= LONGEST_NAME or not wanted.name.isprintable():
            raise Invalid(f"A token needs the name of its owner: 1 to {LONGEST_NAME} printable characters.")
    elif wanted.subject is None:
        raise Invalid(f"A token for machines needs the id of its {wanted.kind}.")
    expires_at = None if wanted.lifetime is None else (now + wanted.lifetime).replace(microsecond=0)
    match wanted.kind:
        case Kind.INFRA_ENV:
            return await _for_infra_env(world, tokens, wanted)
        case Kind.CLUSTER:
            token = await _for_cluster(world, tokens, wanted, expires_at)
        case Kind.WATCHER:
            token = tokens.watcher(wanted.name, expires_at=expires_at)
        case kind:
            role = Role.READ_ONLY if kind is Kind.READ_ONLY else Role.ADMIN
            token = tokens.person(wanted.name, role=role, expires_at=expires_at)
    return Issued(token=token, expires_at=expires_at)


async def _for_infra_env(world: World, tokens: Tokens, wanted: NewToken) -> Issued:
    """The very token its images carry; how long that lives is a setting."""
    stored = None if wanted.subject is None else await world.store.infra_env(wanted.subject)
    if stored is None:
        raise NotFound(f"There is no infra-env {wanted.subject}.")
    if wanted.lifetime is not None:
        raise Invalid("How long tokens of infra-envs live is set by FIRSTLIGHT_AGENT_TOKEN_LIFETIME. Leave it out.")
    issued_at, lifetime = stored.infra_env.updated_at, tokens.lifetimes.agent
    token = tokens.agent(stored.infra_env.id, issued_at=issued_at)
    return Issued(token=token, expires_at=issued_at + lifetime if lifetime else None)


async def _for_cluster(world: World, tokens: Tokens, wanted: NewToken, expires_at: datetime | None) -> str:
    if wanted.subject is None or await world.store.cluster(wanted.subject) is None:
        raise NotFound(f"There is no cluster {wanted.subject}.")
    return tokens.cluster(wanted.subject, expires_at=expires_at)


def log_in(world: World, token: str) -> None:
    """Refuse what is no person's token."""
    check = Authenticator(_tokens(world), world.store, now=world.clock.now)
    try:
        check.person(token, reads_only=True)
    except BadToken:
        raise Unauthenticated("This token was not issued by this service. Check that all of it was copied.") from None


def _tokens(world: World) -> Tokens:
    if world.tokens is None:
        raise Conflict("This service makes no tokens. Set FIRSTLIGHT_AUTH_TYPE=local to have it ask for them.")
    return world.tokens
