"""The one place that knows HTTP status numbers and the three error documents.

Domain errors become document A (`code` is text), refusals by the framework around the handlers become document B
(`code` is a number), and so do refused credentials. An unexpected error is answered with the request id alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Final
from uuid import UUID

import msgspec

from firstlight.core import wire
from firstlight.core.errors import (
    Conflict,
    Error,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
    Unauthenticated,
    Unavailable,
    Unprocessable,
)
from firstlight.server.http.call import NoQuery
from firstlight.server.http.operations import Access, Operation
from firstlight.server.http.reply import NO_HEADERS, Empty
from firstlight.server.ports.database import LostRace
from firstlight.server.usecases.deciding import BUSY

STATUS_OF: Final[Mapping[type[Error], int]] = {
    Invalid: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    TooLarge: 413,
    Unprocessable: 422,
    Unavailable: 503,
}
UNEXPECTED: Final = 500
NOT_MODIFIED: Final = 304
NO_CONTENT: Final = 204
OK: Final = 200
NOT_READY: Final = 503

NOT_VISIBLE: Final = "not-visible"
"""The code of a NotFound that hides something the caller may not see; it is worded as a refused credential."""
PASSING: Final = frozenset({BUSY, LostRace.default_code})
"""Codes of conflicts that are nobody's fault: asking again will do."""
NOT_FOUND_WITHOUT_WORDS: Final = Empty(status=404)
"""What an unknown operator name is answered with: a status and nothing else."""


class Refused(Exception):
    """The framework turns a request away before any handler sees it."""

    status = 400

    def __init__(self, message: str, *, headers: Mapping[str, str] = NO_HEADERS) -> None:
        super().__init__(message)
        self.headers = headers


class BadRequest(Refused):
    """The request does not fit the schema."""


class NoSuchPath(Refused):
    """Nothing is served under this path."""

    status = 404

    def __init__(self, path: str) -> None:
        super().__init__(f"path {path} was not found")


class WrongMethod(Refused):
    """The path exists, the method does not."""

    status = 405

    def __init__(self, method: str, *, allowed: list[str]) -> None:
        super().__init__(
            f"method {method} is not allowed, but [{','.join(allowed)}] are", headers={"allow": ", ".join(allowed)}
        )


class Misdirected(Refused):
    """The request was meant for another name than ours."""

    status = 421

    def __init__(self, host: str) -> None:
        super().__init__(
            f"This service is not known as '{host[:100]}'. While authentication is off it answers only to addresses and"
            " to names it knows, so that no web page can pass itself off as one of its own. Call it by its address,"
            " or name the host in FIRSTLIGHT_ALLOWED_HOSTS."
        )


class CrossSite(Refused):
    """A browser sent this because a page of another site said so."""

    status = 403

    def __init__(self) -> None:
        super().__init__(
            "Web pages of other sites may not change anything here. Name the page's origin in"
            " FIRSTLIGHT_ALLOWED_DOMAINS if it may."
        )


class TooSlow(Refused):
    """The request took too long to arrive."""

    status = 408
    phrase = "Request Timeout"

    def __init__(self) -> None:
        super().__init__("The request did not come to its end in time. FIRSTLIGHT_SLOW_CLIENT_TIMEOUT says how long.")


class TooFull(Refused):
    """There are more callers than can be served."""

    status = 503
    phrase = "Service Unavailable"

    def __init__(self) -> None:
        super().__init__(
            "There are too many connections. Come again in a while; FIRSTLIGHT_MAX_CONNECTIONS says how many may be.",
            headers={"retry-after": "15"},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """An error ready to be sent."""

    status: int
    document: wire.Error | wire.InfraError
    headers: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)

    def encoded(self) -> bytes:
        return msgspec.json.encode(self.document)


def answer_to(error: Error | Refused, *, to_machine: bool = False) -> ErrorAnswer:
    """The document and status an error is answered with.

    Agents, installers and controllers take a conflict for a last word, but ask again when the service is unavailable.
    """
    if isinstance(error, Refused):
        return _framework(error.status, str(error), headers=error.headers)
    status = STATUS_OF[Unavailable] if to_machine and error.code in PASSING else _status(type(error))
    if isinstance(error, Unauthenticated | Forbidden) or error.code == NOT_VISIBLE:
        proof = {"www-authenticate": "Bearer"} if isinstance(error, Unauthenticated) else NO_HEADERS
        return _framework(status, str(error), headers=proof)
    return _decided(status, str(error))


def answer_to_unexpected(request_id: UUID) -> ErrorAnswer:
    """What a caller learns of an error nobody foresaw: where to look it up."""
    return _decided(
        UNEXPECTED,
        f"The service failed while handling this request. Its log has the reason under request id {request_id}.",
    )


def _status(kind: type[Error]) -> int:
    return next((STATUS_OF[ancestor] for ancestor in kind.__mro__ if ancestor in STATUS_OF), UNEXPECTED)


def _decided(status: int, reason: str) -> ErrorAnswer:
    document = wire.Error(code=str(status), href="", id=status, kind="Error", reason=reason)
    return ErrorAnswer(status=status, document=document)


def _framework(status: int, message: str, *, headers: Mapping[str, str] = NO_HEADERS) -> ErrorAnswer:
    return ErrorAnswer(status=status, document=wire.InfraError(code=status, message=message), headers=headers)


def documents_of(status: int) -> tuple[type[wire.Error] | type[wire.InfraError], ...]:
    """Which error documents a status may come with; none for those that are no errors."""
    if status < Refused.status:
        return ()
    if status in (STATUS_OF[Unauthenticated], STATUS_OF[Forbidden], WrongMethod.status):
        return (wire.InfraError,)
    if status in (Refused.status, NoSuchPath.status):
        return (wire.Error, wire.InfraError)
    return (wire.Error,)


def expected_refusals(operation: Operation) -> set[int]:
    """The statuses an operation can answer with whatever its handler does."""
    refusals = {UNEXPECTED}
    if "{" in operation.path or operation.body is not NoneType or operation.query is not NoQuery:
        refusals.add(Refused.status)
    if operation.body is not NoneType or operation.upload:
        refusals.add(STATUS_OF[TooLarge])
    if operation.access is not Access.PUBLIC:
        refusals |= {STATUS_OF[Unauthenticated], STATUS_OF[Forbidden]}
    return refusals
