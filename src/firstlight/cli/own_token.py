"""What commands prove themselves with and trust the service by: from the environment, or of one on this machine."""

import os
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from firstlight.cli.ending import stop

if TYPE_CHECKING:
    import ssl

VARIABLE: Final = "FIRSTLIGHT_TOKEN"
AUTHORITY: Final = "FIRSTLIGHT_CA_FILE"
FILE: Final = "admin-token"


def token_for(url: str) -> str:
    """Empty when there is none. What lies in the data directory goes to this very machine only."""
    if given := os.environ.get(VARIABLE, "").strip():
        return given
    if not is_loopback(url):
        return ""
    folder = os.environ.get("FIRSTLIGHT_DATA_DIR") or os.environ.get("WORK_DIR") or "~/.local/share/firstlight"
    try:
        return (Path(folder).expanduser() / FILE).read_text().strip()
    except (OSError, UnicodeError):
        return ""


def trust() -> "ssl.SSLContext | None":
    """The authority that is to be trusted, where the system does not know the service's certificate."""
    file = os.environ.get(AUTHORITY, "").strip()
    if not file:
        return None
    import ssl

    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:
        stop(f"{AUTHORITY} names {file}, which cannot be read: {error.strerror}.")


def is_loopback(url: str) -> bool:
    """Whether an address is certainly this machine: names that only look like one (127.0.0.1.example) are not."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
