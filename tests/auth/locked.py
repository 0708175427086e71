"""A world whose callers have to prove who they are, and the proofs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from starlette.types import ASGIApp

from firstlight.server.auth.authenticator import Authenticator
from firstlight.server.auth.keys import key_pair, new_private_key
from firstlight.server.auth.tokens import Lifetimes, Role, Tokens
from firstlight.server.http import v1, v2
from firstlight.server.http.app import build_app
from firstlight.server.http.authentication import Credentials
from firstlight.server.http.operations import operations_of
from firstlight.server.usecases.world import World
from tests.builders.moments import INFRA_ENV_ID, NOW
from tests.http.client import Answer, ask
from tests.worlds import SetClock, a_world

ADMIN = "the-administrator-s-token"
KEYS = key_pair(private=new_private_key())
FOREIGN_KEYS = key_pair(private=new_private_key())
LIFETIMES = Lifetimes(agent=timedelta(hours=100), image=timedelta(hours=4))
OTHER = UUID("77777777-0000-4000-8000-000000000000")
API = "/api/assisted-install"


def tokens_of(keys: Any = KEYS) -> Tokens:
    return Tokens(keys, admin_token=ADMIN, lifetimes=LIFETIMES)


@dataclass
class Locked:
    world: World
    app: ASGIApp
    clock: SetClock
    tokens: Tokens

    async def ask(self, method: str, path: str, *, query: str = "", body: bytes = b"", **headers: str) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await ask(self.app, method, API + path, query=query, body=body, headers=sent)

    def agent(self, infra_env_id: UUID = INFRA_ENV_ID) -> str:
        return self.tokens.agent(infra_env_id, issued_at=NOW)

    def person(self, role: Role = Role.ADMIN, *, hours: float = 8) -> str:
        return self.tokens.person("ana", role=role, expires_at=NOW + timedelta(hours=hours))


@asynccontextmanager
async def locked(folder: Path, *, schemed: bool = False, scoped: bool = True) -> AsyncIterator[Locked]:
    clock, tokens = SetClock(), tokens_of()
    async with a_world(folder, clock=clock, auth_type="local") as plain:
        world = replace(plain, tokens=None if schemed else tokens)
        authenticator = Authenticator(tokens, world.store, now=clock.now, scoped=scoped, schemed=schemed)
        operations = operations_of(*v2.MODULES, *v1.MODULES)
        app = build_app(world, operations=operations, authenticate=Credentials(authenticator))
        yield Locked(world, app, clock, tokens)
