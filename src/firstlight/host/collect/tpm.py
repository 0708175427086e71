"""Which version of the Trusted Platform Module the machine has."""

from typing import Final

from firstlight.host.root import Root

FILE: Final = "/sys/class/tpm/tpm0/tpm_version_major"
_VERSIONS: Final = {"1": "1.2", "2": "2.0"}


def tpm_version(root: Root) -> str:
    """`none` without one; empty if there is one that cannot be read."""
    if not root.exists(FILE):
        return "none" if not root.exists("/sys/class/tpm/tpm0") else ""
    return _VERSIONS.get(root.line(FILE) or "", "")
