"""What one operation of the API is, and what its handler gets and gives.

A handler is `async def name(world, call) -> answer`. The decorator turns it into an `Operation`: the route, the access
rule, the types of body, query and answer. A module of handlers is collected with `operations_of(module)`; nothing is
registered behind the reader's back.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import Flag, auto
from types import ModuleType, NoneType
from typing import Any, Final, Literal, TypeVar

from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.reply import Empty, Encoded, Reply

W = TypeVar("W")
B = TypeVar("B")
Q = TypeVar("Q")
R = TypeVar("R")

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Handler = Callable[[W, Call[B, Q]], Awaitable[R | Reply[R] | Encoded | Empty]]

JSON_BODY_CAP: Final = 4 * 1024 * 1024
"""Bytes of a JSON body unless the operation says otherwise."""
STEP_REPLY_CAP: Final = 8 * 1024 * 1024
"""Bytes of a step reply: an inventory of 15,000 disks fits."""
LOG_UPLOAD_CAP: Final = 262_144_000
"""Bytes of an uploaded log archive."""


class Access(Flag):
    """Whose credentials an operation accepts; combine with `|`."""

    PUBLIC = 0
    """Anyone, also without credentials."""
    USER = auto()
    """Users and administrators."""
    READ_ONLY = auto()
    """Administrators who may only look."""
    OWNER = auto()
    """The user in person; administrators have no part in it."""
    AGENT = auto()
    """Agents, installers and controllers, by pull secret or token."""
    URL = auto()
    """A token in the URL."""
    LINK = auto()
    """A link signed for this very request; the handler has to look at its signature."""
    IMAGE = auto()
    """The image service, by header."""
    IMAGE_URL = auto()
    """The image service, by link."""
    WATCHER = auto()
    """Services that only watch."""
    READ = USER | READ_ONLY
    """Whoever may look."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operation:
    """A route and everything known about it."""

    method: Method
    path: str
    id: str
    access: Access
    body: type[object]
    body_name: str
    body_cap: int
    upload: str
    query: type[object]
    success: int
    answer: type[object]
    errors: tuple[int, ...]
    headers: tuple[str, ...]
    summary: str
    etag: bool
    # The decorator has matched the handler's types to the fields above; here they have served.
    handler: Callable[[Any, Any], Awaitable[object]]


def operation(
    method: Method,
    path: str,
    *,
    id: str,
    access: Access = Access.USER,
    body: type[B] = NoneType,
    body_name: str = "",
    body_cap: int = JSON_BODY_CAP,
    upload: str = "",
    query: type[Q] = NoQuery,
    success: int = 200,
    answer: type[R] = NoneType,
    errors: Iterable[int] = (),
    headers: Iterable[str] = (),
    etag: bool = False,
) -> Callable[[Handler[W, B, Q, R]], Operation]:
    """Declare an operation.

    `path` begins with `/v2` (the original's API) or `/v1` (ours) and marks parameters as `{name}` or `{name:uuid}`.
    `body_name` is how parse errors call the body; `upload` is the multipart field of an operation that takes a file and
    no body, read with `uploaded_file`. `headers` are request headers worth documenting. `etag` makes a GET
    answer carry an ETag and honour If-None-Match.
    """

    def declare(handler: Handler[W, B, Q, R]) -> Operation:
        return Operation(
            method=method,
            path=path,
            id=id,
            access=access,
            body=body,
            body_name=body_name or "body",
            body_cap=body_cap,
            upload=upload,
            query=query,
            success=success,
            answer=answer,
            errors=tuple(errors),
            headers=tuple(headers),
            summary=(handler.__doc__ or "").strip().partition("\n")[0],
            etag=etag,
            handler=handler,
        )

    return declare


def operations_of(*modules: ModuleType) -> tuple[Operation, ...]:
    """Every operation defined in the given modules, in the order written."""
    found = (value for module in modules for value in vars(module).values())
    return tuple(value for value in found if isinstance(value, Operation))
