"""Names of replicas: they say where a replica runs, so that its successor on the same machine knows it is gone."""

import os
import secrets
import socket
from pathlib import Path


def new_name() -> str:
    """The machine, the process, and chance: a process may have the number of one that ended."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


def is_gone(name: str, *, like: str) -> bool:
    """Whether the replica of this name certainly ended, as far as the one called `like` can tell from its machine."""
    machine, _, rest = name.rpartition("-")[0].rpartition("-")
    own_machine, _, own_process = like.rpartition("-")[0].rpartition("-")
    if name == like or not rest.isdecimal() or machine != own_machine:
        return False
    # The number is ours by now, or nobody's.
    return rest == own_process or not Path("/proc", rest).exists()
