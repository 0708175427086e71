"""The Ignition a host boots with once it is installed: overrides, downloads, and that of hosts added later."""

from datetime import datetime

from firstlight.core.commands import installation_files
from firstlight.core.decision import Decision, HostKey
from firstlight.core.errors import NotFound
from firstlight.core.install import ignition
from firstlight.core.install.from_records import day_two_endpoint, install_host
from firstlight.core.install.pointer import day_two_config
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import HostState
from firstlight.core.roles import key_of
from firstlight.server.ports.subjects import host_subject
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import no_such_host
from firstlight.server.usecases.downloads import StoredFile, require_files, stored
from firstlight.server.usecases.image_access import agent_token
from firstlight.server.usecases.manifests import known_cluster
from firstlight.server.usecases.object_names import host_ignition_object
from firstlight.server.usecases.one_host import change_host
from firstlight.server.usecases.world import World


async def ignition_file(world: World, key: HostKey) -> StoredFile:
    host = await world.store.host(key)
    if host is None:
        raise no_such_host(key)
    if host.host.cluster_id is None:
        raise NotFound(f"Host {key[1]} belongs to no cluster, so there is no Ignition for it. Bind it first.")
    cluster = await known_cluster(world, host.host.cluster_id)
    name = host_ignition_object(host, cluster)
    file_name = name.rpartition("/")[2]
    require_files(cluster, file_name)
    return await stored(world, name, file_name=file_name)


async def ignition_text(world: World, key: HostKey) -> str:
    file = await ignition_file(world, key)
    return (await world.blobs.get(file.key)).decode()


async def override_ignition(world: World, key: HostKey, text: str, *, caller: Caller) -> None:
    def decide(state: HostState, _: Cluster | None, now: datetime) -> Decision:
        return installation_files.override_ignition(state, text, now=now)

    await change_host(world, key, decide, caller=caller)


async def write_day_two_ignition(world: World, host: HostState, cluster: Cluster) -> None:
    """Make the config of a host that joins a running cluster. To be done before the host is told to install."""
    token = await world.store.secret(host_subject(key_of(host)), "ignition_endpoint_token")
    endpoint = day_two_endpoint(cluster, host.host, token=token or "")
    known = await world.store.infra_env(host.host.infra_env_id)
    proof = "" if known is None else agent_token(world, known.infra_env)
    inputs = install_host(host, cluster=cluster, agent_token=proof)
    config = day_two_config(inputs, endpoint, service_url=world.service.service_url)
    await world.blobs.put(host_ignition_object(host, cluster), ignition.encode(config))
