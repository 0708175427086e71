"""Proxy settings: two URLs and the list of places reached without them."""

from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.validate.addresses import is_ip, is_network
from firstlight.core.validate.names import is_domain
from firstlight.core.validate.quoting import shown
from firstlight.core.validate.urls import check_url, named_url, scheme_of
from firstlight.core.versions.numbers import at_least

WILDCARD_SINCE: Final = "4.8.0-fc.4"


def check_http_proxy(url: str) -> str:
    """Empty means none."""
    if scheme_of(url) == "https":
        raise Invalid(f"The HTTP proxy {named_url(url)} uses https, which is not supported here. Use an http:// URL.")
    return check_url(url, what="The HTTP proxy", schemes=("http",)) if url else ""


def check_https_proxy(url: str) -> str:
    """Empty means none."""
    return check_url(url, what="The HTTPS proxy") if url else ""


def check_no_proxy(text: str, *, version: str = "") -> str:
    """Empty means none. With `*` everything else in the list is taken as it is; an unknown version allows it."""
    if "*" in text:
        if version and not at_least(version, WILDCARD_SINCE):
            raise Invalid(f"'*' in no_proxy needs OpenShift {WILDCARD_SINCE} or newer, this is {version}.")
        return text
    seen: set[str] = set()
    for entry in text.split(",") if text else ():
        if entry in seen:
            raise Invalid(f"The no_proxy entry {shown(entry)} is there twice. Remove one of them.")
        seen.add(entry)
        if not (is_ip(entry) or is_network(entry) or is_domain(entry.removeprefix("."))):
            raise Invalid(
                f"The no_proxy entry {shown(entry)} is not valid. Use IP addresses, networks such as 192.0.2.0/24 or"
                " DNS names (with a leading dot for all names below), separated by commas without spaces."
            )
    return text
