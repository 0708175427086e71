"""MAC addresses as text."""

import re
from typing import Final

_FORM: Final = re.compile(r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}")


def is_mac_address(text: str) -> bool:
    """Six pairs of hexadecimal digits with colons between them."""
    return _FORM.fullmatch(text) is not None
