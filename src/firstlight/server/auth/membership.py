"""Which infra-envs are part of which cluster: theirs as a whole, or by single hosts that were bound."""

from uuid import UUID

from firstlight.server.ports.store import Store


async def are_together(store: Store, *, infra_env_id: UUID, cluster_id: UUID) -> bool:
    found = await store.infra_env(infra_env_id)
    if found is None:
        return False
    if found.infra_env.cluster_id is not None:
        return found.infra_env.cluster_id == cluster_id
    hosts = await store.hosts_of_infra_env(infra_env_id)
    return any(state.host.cluster_id == cluster_id for state in hosts)
