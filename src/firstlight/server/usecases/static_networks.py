"""Static network of an infra-env: from what users describe to the files its hosts carry."""

import asyncio
from collections.abc import Sequence

from firstlight.core.errors import Invalid, Unavailable
from firstlight.core.infra_envs.wishes import host_networks
from firstlight.core.install.documents import mapping
from firstlight.core.install.keyfiles import Keyfile
from firstlight.core.install.static_network import StaticNetwork, applied_by, connected_network, described_network
from firstlight.core.install.static_network_files import AppliedBy
from firstlight.core.model.infra_env import HostNetworkConfig, InfraEnv
from firstlight.server.usecases.world import World
from firstlight.server.usecases.yaml_documents import parse_yaml


def parsed_networks(configs: Sequence[HostNetworkConfig]) -> list[object]:
    """The description of each host as a document. Raises Invalid naming the one that is no YAML."""
    return [parsed_network(config, number) for number, config in enumerate(configs, start=1)]


def parsed_network(config: HostNetworkConfig, number: int) -> object:
    what = f"Static network configuration {number}"
    documents = parse_yaml(config.network_yaml, what=what)
    if len(documents) != 1:
        raise Invalid(f"{what} holds {len(documents)} YAML documents. Describe one host in one document.")
    return documents[0]


async def static_network(world: World, infra_env: InfraEnv) -> StaticNetwork | None:
    """What images of the infra-env carry; None when nobody is described."""
    if not infra_env.static_network:
        return None
    networks = host_networks(infra_env.static_network)
    if applied_by(infra_env.openshift_version) is AppliedBy.KEYFILES:
        return connected_network(networks, await _connections(world, infra_env.static_network))

    def described() -> StaticNetwork:
        return described_network(networks, [mapping(one) for one in parsed_networks(infra_env.static_network)])

    return await asyncio.to_thread(described)


async def require_accepted(world: World, configs: Sequence[HostNetworkConfig], *, openshift_version: str) -> None:
    """Have nmstate look at every description before a host does; Invalid names the host as the user numbered it.

    Hosts that apply descriptions by themselves do without when nmstate cannot be asked here.
    """
    if applied_by(openshift_version) is AppliedBy.KEYFILES:
        await _connections(world, configs)
    elif world.nmstate.here():
        try:
            await _connections(world, configs)
        except Unavailable:
            return


async def _connections(world: World, configs: Sequence[HostNetworkConfig]) -> list[Sequence[Keyfile]]:
    async def of(number: int, config: HostNetworkConfig) -> Sequence[Keyfile]:
        try:
            return await world.nmstate.keyfiles(config.network_yaml)
        except Invalid as refusal:
            macs = ", ".join(entry.mac_address for entry in config.mac_interface_map)
            raise Invalid(
                f"Static network configuration {number} ({macs or 'no MAC address'}) is refused by nmstate: {refusal}"
            ) from None

    # All of them are heard, so that the first in order is named and none goes on alone.
    answers = await asyncio.gather(
        *(of(number, config) for number, config in enumerate(configs, start=1)), return_exceptions=True
    )
    found: list[Sequence[Keyfile]] = []
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        found.append(answer)
    return found
