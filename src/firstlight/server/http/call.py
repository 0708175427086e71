"""One request as a handler sees it: parsed, typed, and already authenticated."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar
from uuid import UUID

from msgspec import Struct

B = TypeVar("B")
Q = TypeVar("Q")


class NoQuery(Struct, frozen=True):
    """The query of operations that take none; whatever is sent is ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who is asking. The defaults are what everyone is when authentication is switched off."""

    user_name: str = "admin"
    org_id: str = ""
    email_domain: str = "Unknown"
    is_admin: bool = True
    infra_env_id: UUID | None = None
    """Set when an agent's token is good for one infra-env only."""


ANYONE: Final = Actor()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[B, Q]):
    """`body` and `query` have the types the operation declared. What may hold secrets is not printed."""

    path: Mapping[str, UUID | str]
    body: B = field(repr=False)
    query: Q = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    """Names in lower case."""
    request_id: UUID
    actor: Actor
    stream: Callable[[], AsyncIterator[bytes]] = field(repr=False)
    """The raw body in pieces, for operations that declare none; raises TooLarge beyond the operation's cap."""

    def uuid(self, name: str) -> UUID:
        """A path parameter declared as `{name:uuid}`."""
        value = self.path[name]
        if isinstance(value, UUID):
            return value
        raise TypeError(f"The path parameter {name} was not declared as a UUID.")

    def text(self, name: str) -> str:
        """Any path parameter as text."""
        return str(self.path[name])
