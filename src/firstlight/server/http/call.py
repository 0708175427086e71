"""One request as a handler sees it: parsed, typed, and already authenticated."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

from msgspec import Struct

from firstlight.server.usecases.caller import Caller

B = TypeVar("B")
Q = TypeVar("Q")


class NoQuery(Struct, frozen=True):
    """The query of operations that take none; whatever is sent is ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[B, Q]):
    """`body` and `query` have the types the operation declared. What may hold secrets is not printed."""

    path: Mapping[str, UUID | str]
    body: B = field(repr=False)
    query: Q = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    """Names in lower case."""
    actor: Caller
    stream: Callable[[], AsyncIterator[bytes]] = field(repr=False)
    """The raw body in pieces, for operations that declare none; raises TooLarge beyond the operation's cap."""
    when_gone: Callable[[Callable[[], None]], Callable[[], object]] = field(repr=False)
    """Has something called when the caller hangs up, and answers how to give that up again; for operations that declare
    no body and take their time."""

    @property
    def request_id(self) -> UUID:
        """The id under which this request is logged and its events are kept."""
        if self.actor.request_id is None:
            raise ValueError("A call was made without a request id.")
        return self.actor.request_id

    def uuid(self, name: str) -> UUID:
        """A path parameter declared as `{name:uuid}`."""
        value = self.path[name]
        if isinstance(value, UUID):
            return value
        raise TypeError(f"The path parameter {name} was not declared as a UUID.")

    def text(self, name: str) -> str:
        """Any path parameter as text."""
        return str(self.path[name])
