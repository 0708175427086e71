"""Where callers put their credentials."""

from collections.abc import Collection, Iterator, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl

from firstlight.server.auth.tokens import Scheme

COOKIE: Final = "firstlight_token"
"""Where browsers keep a person's token; pages cannot read it, and other sites cannot send it."""
_HEADERS: Final = (
    (Scheme.USER, "authorization"),
    (Scheme.AGENT, "x-secret-key"),
    (Scheme.IMAGE, "image-token"),
    (Scheme.WATCHER, "watcher-authorization"),
)
_PARAMETERS: Final = ((Scheme.URL, "api_key"), (Scheme.IMAGE_URL, "image_token"))
_SIGNED: Final = ("expires", "signature")
MOST_PARAMETERS: Final = 1_000


def shown(schemes: Collection[Scheme], headers: Mapping[str, str], query: bytes) -> Iterator[tuple[Scheme, str]]:
    """The credentials in a request, of these kinds, in the order in which they are tried."""
    for scheme, header in _HEADERS:
        if scheme in schemes and (token := bare(headers.get(header, ""))):
            yield scheme, token
    if Scheme.USER in schemes and "cookie" in headers and (token := in_cookie(headers["cookie"])):
        yield Scheme.USER, token
    if not query or not any(scheme in schemes for scheme, _ in _PARAMETERS):
        return
    given = parameters(query)
    for scheme, name in _PARAMETERS:
        # The one that counts must be the one that everybody sees.
        if scheme in schemes and len(values := given.get(name, [])) == 1 and values[0]:
            yield scheme, values[0]


def bare(header: str) -> str:
    """Some clients write `Bearer` before a token and some do not."""
    text = header.strip()
    return text[7:].strip() if text[:7].lower() == "bearer " else text


def in_cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def is_signed_link(query: bytes) -> bool:
    """Does the request bring exactly one signature? Only then does whoever checks it see the same one as we do."""
    if b"signature=" not in query:
        return False
    given = parameters(query)
    return all(len(given.get(name, [])) == 1 and bool(given[name][0]) for name in _SIGNED)


def parameters(query: bytes) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=MOST_PARAMETERS)
    except ValueError:
        return found
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found
