"""IP addresses in single fields, as far as their form goes."""

import re
from ipaddress import ip_address, ip_network
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.validate.quoting import shown

_IPV6_CHARACTERS: Final = re.compile(r"[0-9a-fA-F:]+")
_LONGEST_IP: Final = 45


def check_ip_form(text: str) -> str:
    """The loose form the API schema asks for, empty allowed; whether it is an address is decided where it is used."""
    if not text or _looks_like_ipv4(text) or (text.count(":") >= 2 and _IPV6_CHARACTERS.fullmatch(text)):
        return text
    raise Invalid(f"{shown(text)} is not an IP address. Write it as 192.0.2.1 or 2001:db8::1.")


def is_ip(text: str) -> bool:
    """A real address of either family, without a zone."""
    if len(text) > _LONGEST_IP or "%" in text:
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_network(text: str) -> bool:
    """An address with a prefix length; bits behind the prefix may be set."""
    address, slash, prefix = text.partition("/")
    if not slash or not is_ip(address) or not (prefix.isascii() and prefix.isdigit() and len(prefix) <= 3):
        return False
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _looks_like_ipv4(text: str) -> bool:
    parts = text.split(".")
    return len(parts) == 4 and all(part.isascii() and part.isdigit() and len(part) <= 3 for part in parts)
