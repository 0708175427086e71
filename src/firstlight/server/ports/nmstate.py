"""Whoever turns a description of a host's network into connections for NetworkManager."""

from collections.abc import Sequence
from typing import Protocol

from firstlight.core.install.keyfiles import Keyfile


class Nmstate(Protocol):
    def here(self) -> bool:
        """Can it be asked at all? Without it, hosts whose system applies descriptions by itself still work."""
        ...

    async def keyfiles(self, description: str) -> Sequence[Keyfile]:
        """Invalid, in nmstate's own words, when the description is refused; Conflict when nobody can be asked."""
        ...
