"""Errors the domain can raise.

Error
├── NotFound          the thing named in the request does not exist
├── Conflict          it exists, but its state forbids the request
├── Invalid           the request contradicts itself or a rule
│   └── Unprocessable   a name that can never be accepted (manifest file names)
├── TooLarge          the request is bigger than the documented cap
├── Unauthenticated   nobody known is asking
├── Forbidden         known, but not allowed
└── Unavailable       cannot be done now; asking again later may work

Each carries a sentence for a person (`str(error)`) and a stable code for a program (`error.code`).
"""

from typing import ClassVar


class Error(Exception):
    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code or self.default_code


class NotFound(Error):
    default_code = "not-found"


class Conflict(Error):
    default_code = "conflict"


class Invalid(Error):
    default_code = "invalid"


class Unprocessable(Invalid):
    default_code = "unprocessable"


class TooLarge(Error):
    default_code = "too-large"


class Unauthenticated(Error):
    default_code = "unauthenticated"


class Forbidden(Error):
    default_code = "forbidden"


class Unavailable(Error):
    default_code = "unavailable"
