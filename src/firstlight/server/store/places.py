"""Where a database is, read from its URL."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from firstlight.core.errors import Invalid


class SqlitePlace(msgspec.Struct, frozen=True):
    path: Path


class PostgresPlace(msgspec.Struct, frozen=True):
    url: str

    @property
    def shown(self) -> str:
        """Host and database for messages; never the password."""
        parts = urlsplit(self.url)
        return f"{parts.hostname or 'the local socket'}{':' + str(parts.port) if parts.port else ''}{parts.path}"


def place(url: str) -> SqlitePlace | PostgresPlace:
    """`sqlite:///file` or a plain path; `postgresql://user:password@host:port/name`, a socket as `?host=/folder`."""
    scheme, separator, rest = url.partition(":")
    if separator and scheme in ("postgresql", "postgres"):
        return PostgresPlace(url)
    if separator and scheme in ("sqlite", "file"):
        path = unquote(rest.partition("?")[0])
        return SqlitePlace(Path("/" + path.lstrip("/") if path.startswith("/") else path))
    if "://" in url or not url:
        raise Invalid(
            f"The database URL begins with {scheme!r}, which is not known."
            " Use sqlite:///path/to/file or postgresql://user:password@host:port/name."
        )
    return SqlitePlace(Path(url))
