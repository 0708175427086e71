"""Tokens, and the cookie in which a browser keeps one."""

from datetime import datetime, timedelta
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta, Struct

from firstlight.server.auth.credentials import COOKIE
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Reply
from firstlight.server.usecases import people
from firstlight.server.usecases.people import Kind, NewToken
from firstlight.server.usecases.world import World

SESSION: Final = "/v1/session"
TEN_YEARS: Final = 87_600
_COOKIE: Final = "Path=/api; HttpOnly; SameSite=Strict"


class TokenParams(Struct, frozen=True, kw_only=True):
    kind: Kind
    name: Annotated[str, Meta(max_length=people.LONGEST_NAME)] = ""
    """Whose it is."""
    subject: UUID | None = None
    """The infra-env or cluster it is for."""
    lifetime_hours: Annotated[float, Meta(gt=0, le=TEN_YEARS)] | None = None


class Token(Struct, frozen=True, kw_only=True):
    token: str
    expires_at: datetime | None


class SessionParams(Struct, frozen=True, kw_only=True):
    token: Annotated[str, Meta(min_length=1, max_length=4096)]


@operation(
    "POST",
    "/v1/tokens",
    id="createToken",
    body=TokenParams,
    success=201,
    answer=Token,
    errors=(400, 404, 409),
)
async def create_token(world: World, call: Call[TokenParams, NoQuery]) -> Token:
    """Make a token for a person, a program or the machines of an infra-env or cluster."""
    asked = call.body
    lifetime = None if asked.lifetime_hours is None else timedelta(hours=asked.lifetime_hours)
    issued = await people.issue(
        world, NewToken(kind=asked.kind, name=asked.name, subject=asked.subject, lifetime=lifetime)
    )
    return Token(token=issued.token, expires_at=issued.expires_at)


@operation(
    "POST",
    SESSION,
    id="logIn",
    access=Access.PUBLIC,
    body=SessionParams,
    success=204,
    errors=(400, 401, 403, 409),
)
async def log_in(world: World, call: Call[SessionParams, NoQuery]) -> Reply[None]:
    """Have the browser keep a token, where no page can read it."""
    people.log_in(world, call.body.token)
    secure = "; Secure" if call.headers.get("origin", "").startswith("https://") else ""
    return Reply(None, headers={"set-cookie": f"{COOKIE}={call.body.token}; {_COOKIE}{secure}"})


@operation("DELETE", SESSION, id="logOut", access=Access.PUBLIC, success=204)
async def log_out(world: World, call: Call[None, NoQuery]) -> Reply[None]:  # noqa: ARG001 - the signature is given
    """Have the browser forget its token."""
    return Reply(None, headers={"set-cookie": f"{COOKIE}=; {_COOKIE}; Max-Age=0"})
