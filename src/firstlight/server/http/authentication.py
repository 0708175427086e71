"""Who calls an operation: the credentials it takes, looked for in the request."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from firstlight.server.auth.authenticator import Authenticator, Identity, Wanted
from firstlight.server.auth.credentials import is_signed_link
from firstlight.server.auth.tokens import Scheme
from firstlight.server.http.operations import Access, Operation
from firstlight.server.usecases.caller import Caller

SCHEMES: Final = {
    Access.USER: Scheme.USER,
    Access.READ_ONLY: Scheme.USER,
    Access.OWNER: Scheme.USER,
    Access.AGENT: Scheme.AGENT,
    Access.URL: Scheme.URL,
    Access.IMAGE: Scheme.IMAGE,
    Access.IMAGE_URL: Scheme.IMAGE_URL,
    Access.WATCHER: Scheme.WATCHER,
}
OF_KNOWN_MACHINES: Final = frozenset({"v2RegisterHost", "v2TriggerEvent"})
"""Operations that machines with an ended token may still ask for although the path does not name them."""


class Credentials:
    """Asks the authenticator what a request's credentials are worth to an operation."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator
        self._schemes: dict[str, frozenset[Scheme]] = {}

    async def __call__(
        self, operation: Operation, path: Mapping[str, UUID | str], headers: Mapping[str, str], query: bytes
    ) -> Caller:
        """Raises domain errors."""
        access = operation.access
        if access is Access.PUBLIC:
            return Caller(name="anybody", is_admin=False)
        if Access.LINK in access and is_signed_link(query):
            # Links are good for one file each: the operation itself knows for which, and looks at the signature.
            return Caller(name="link", is_admin=False)
        wanted = Wanted(
            schemes=self._schemes_of(operation),
            path=path,
            query=query,
            reads_only=Access.READ_ONLY in access,
            goes_on="host_id" in path or "cluster_id" in path or operation.id in OF_KNOWN_MACHINES,
        )
        return _caller(await self._authenticator(wanted, headers))

    def _schemes_of(self, operation: Operation) -> frozenset[Scheme]:
        known = self._schemes.get(operation.id)
        if known is None:
            found = frozenset(scheme for flag, scheme in SCHEMES.items() if flag in operation.access)
            known = self._schemes[operation.id] = found
        return known


def _caller(who: Identity) -> Caller:
    return Caller(
        name=who.name,
        is_admin=who.is_admin,
        infra_env_id=who.infra_env_id,
        cluster_id=who.cluster_id,
        came_late=who.has_ended,
    )
