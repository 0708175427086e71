"""The token that commands send: named in the environment, or the administrator's of a service on this machine."""

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "FIRSTLIGHT_TOKEN"
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


def is_loopback(url: str) -> bool:
    host = url.partition("://")[2].partition("/")[0].rpartition(":")[0].strip("[]")
    return host in ("localhost", "::1") or host.startswith("127.")
