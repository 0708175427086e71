"""IP addresses in single fields, as far as their form goes."""

from ipaddress import ip_address, ip_network
from typing import Final

_LONGEST_IP: Final = 45


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
