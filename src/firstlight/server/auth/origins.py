"""Which requests a browser sends on behalf of somebody else's page.

While authentication is off, whoever reaches the service is its administrator, and a browser reaches it on behalf of any
page it shows. Two ways lead there: a page has its own name resolve to our address (the Host header then holds that
name), or it simply posts across sites (browsers then say so in Sec-Fetch-Site and Origin). Machines do neither.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from ipaddress import IPv6Address, ip_address
from typing import Final

READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
OWN_SITE: Final = frozenset({"", "same-origin", "none"})
"""What Sec-Fetch-Site says of our own pages, of addresses typed in, and of callers that are no browsers."""
MOST_REMEMBERED: Final = 1_024
ANY: Final = "*"


class Hosts:
    """The names a service answers to. Addresses are always among them: no page can claim one as its name."""

    def __init__(self, names: Iterable[str]) -> None:
        """Names may be patterns such as `*.lab.example.com`."""
        given = [name.strip().lower().rstrip(".") for name in names if name.strip()]
        self._names = frozenset(name for name in given if ANY not in name)
        self._patterns = tuple(name for name in given if ANY in name)
        self._accepted: set[str] = set()

    def accepts(self, header: str) -> bool:
        """Is this Host header one of ours? Callers without one are no browsers."""
        if not header or header in self._accepted:
            return True
        if not self._is_ours(named_in(header)):
            return False
        if len(self._accepted) < MOST_REMEMBERED:
            self._accepted.add(header)
        return True

    def _is_ours(self, name: str) -> bool:
        if not name:
            return False
        if name == "localhost" or name.endswith(".localhost") or name in self._names or is_address(name):
            return True
        return any(fnmatchcase(name, pattern) for pattern in self._patterns)


def named_in(header: str) -> str:
    """The name or address in a Host header, without its port; empty when it cannot be one."""
    text = header.strip().lower()
    if text.startswith("["):
        address, closed, port = text[1:].partition("]")
        return address if closed and _is_port(port) and _is_v6(address) else ""
    name, separator, port = text.partition(":")
    if separator and not _is_port(f":{port}"):
        return ""
    return name.rstrip(".")


def _is_port(text: str) -> bool:
    digits = text.removeprefix(":")
    return not text or (text.startswith(":") and digits.isascii() and (not digits or digits.isdecimal()))


def _is_v6(text: str) -> bool:
    return is_address(text) and isinstance(ip_address(text), IPv6Address)


def is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_foreign_write(method: str, headers: Mapping[str, str], *, trusted: Iterable[str] = ()) -> bool:
    """Would this request change something because a page of another site said so?

    `trusted` are the origins (or their hosts) of pages that may, with `*` for any part. Header names are in lower case.
    """
    if method in READING:
        return False
    origin = headers.get("origin", "").strip().lower()
    if origin and origin != "null":
        host = origin.partition("://")[2]
        if host and host == headers.get("host", "").strip().lower():
            return False
        if any(fnmatchcase(origin, one) or fnmatchcase(host, one) for one in trusted):
            return False
    return bool(origin) or headers.get("sec-fetch-site", "").strip().lower() not in OWN_SITE
