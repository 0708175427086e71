"""From the short code on a machine's console to its host."""

from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.hosts.short_code import ALPHABET, LENGTH, plain_code, short_code
from firstlight.core.model.host import hostname_of
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.world import World


class FoundHost(Struct, frozen=True, kw_only=True):
    id: UUID
    infra_env_id: UUID
    cluster_id: UUID | None
    name: str
    status: str
    code: str


class FoundHosts(Struct, frozen=True, kw_only=True):
    """Usually one; several if their codes happen to be the same."""

    hosts: tuple[FoundHost, ...]


async def hosts_by_code(world: World, code: str, *, caller: Caller) -> FoundHosts:
    wanted = plain_code(code)
    if len(wanted) != LENGTH or not set(wanted) <= set(ALPHABET):
        raise Invalid(f"'{code[:20]}' is no code of a host: they have {LENGTH} letters or digits. Look at its console.")
    owner = None if caller.is_admin else caller.name
    found = [
        FoundHost(
            id=state.host.id,
            infra_env_id=state.host.infra_env_id,
            cluster_id=state.host.cluster_id,
            name=hostname_of(state.host, state.reports),
            status=state.host.status.value,
            code=wanted,
        )
        for infra_env in await world.store.infra_envs(owner=owner)
        for state in await world.store.hosts_of_infra_env(infra_env.id)
        if short_code(state.host.id) == wanted
    ]
    return FoundHosts(hosts=tuple(found))
