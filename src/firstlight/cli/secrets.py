"""Secrets come from files or standard input, never from the command line that a process list shows."""

import sys
from pathlib import Path

from firstlight.cli.ending import Code, stop


def read_pull_secret(path: Path | None) -> str:
    if path is None:
        stop(
            "a pull secret is needed. Name its file with --pull-secret (or FIRSTLIGHT_PULL_SECRET_FILE); '-' reads it"
            " from standard input.",
            Code.USAGE,
        )
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text()
    except OSError as error:
        stop(f"the pull secret {path} cannot be read: {error.strerror}.", Code.USAGE)
    return text.strip()
