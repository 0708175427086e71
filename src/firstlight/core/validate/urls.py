"""HTTP URLs as proxies, Tang servers and ignition endpoints need them: a scheme, a host, perhaps a port."""

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from firstlight.core.errors import Invalid
from firstlight.core.events.telling import without_logins
from firstlight.core.validate.quoting import shown

_HOST: Final = re.compile(r"[A-Za-z0-9._:-]{1,255}")
_LONGEST: Final = 2048


def check_url(url: str, *, what: str, schemes: tuple[str, ...] = ("http", "https")) -> str:
    """`what` opens the sentence when `url` is refused."""
    parts, named = _split(url), named_url(url)
    if parts is None:
        raise Invalid(f"{what} {named} is not a valid URL. Write it as {schemes[0]}://host:port.")
    if parts.scheme not in schemes:
        raise Invalid(f"{what} {named} must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}.")
    return url


def named_url(url: str) -> str:
    """The URL inside a message, without the user name and password it may hold."""
    return shown(without_logins(url) if "://" in url else url.rpartition("@")[2])


def scheme_of(url: str) -> str:
    """The scheme in lower case; empty when `url` is not one."""
    parts = _split(url)
    return parts.scheme if parts else ""


def _split(url: str) -> SplitResult | None:
    # urlsplit drops tabs and newlines silently and takes spaces as they are.
    if len(url) > _LONGEST or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for a port that is not a number up to 65535
    except ValueError:
        return None
    return parts if parts.hostname and _HOST.fullmatch(parts.hostname) else None
