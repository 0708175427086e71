"""The files a machine needs to boot for discovery: Ignition config, boot script, static network, ramdisk."""

import asyncio
from typing import Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.infra_envs.discovery import ServiceAddress, discovery_inputs, proxy_settings
from firstlight.core.infra_envs.urls import boot_artifacts
from firstlight.core.install.discovery import DiscoveryInputs, render_discovery
from firstlight.core.install.ipxe import BOOT_ORDER_CONTROL, boot_script, boots_from_disk, chain_script
from firstlight.core.install.ramdisk import minimal_ramdisk
from firstlight.core.install.static_network import StaticNetwork, network_tar
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.server.ports.subjects import infra_env_subject
from firstlight.server.usecases.image_access import agent_token, image_key, renewed
from firstlight.server.usecases.links import FOR_IMAGES, Link, make_link
from firstlight.server.usecases.static_networks import static_network
from firstlight.server.usecases.world import World

KEPT_AS: Final = "pull_secret"
"""The name under which the pull secret of an infra-env is kept."""
DISCOVERY: Final = "discovery.ign"
IPXE: Final = "ipxe-script"
STATIC_NETWORK: Final = "static-network-config"
INSTALLED: Final = frozenset({HostStatus.INSTALLED, HostStatus.ADDED_TO_EXISTING_CLUSTER})
INSTALLING: Final = frozenset({HostStatus.INSTALLING_IN_PROGRESS, HostStatus.INSTALLING_PENDING_USER_ACTION})


class BootFile(Struct, frozen=True, kw_only=True):
    name: str
    content: bytes
    infra_env: InfraEnv


class WantedFile(Struct, frozen=True, kw_only=True):
    name: str
    mac: str = ""
    script_type: str = ""
    image_type: str = ""

    @property
    def signed_query(self) -> dict[str, str]:
        """The part of the request that a link is good for."""
        query = {"file_name": self.name}
        return query | {"ipxe_script_type": self.script_type} if self.script_type else query


def files_path(infra_env_id: UUID) -> str:
    return f"/v2/infra-envs/{infra_env_id}/downloads/files"


def inputs_of(
    world: World, infra_env: InfraEnv, *, network: StaticNetwork | None, pull_secret: str, image_type: str = ""
) -> DiscoveryInputs:
    service = ServiceAddress(
        url=world.service.service_url,
        ca=world.service.service_ca,
        skip_certificate_verification=world.service.skip_certificate_verification,
        agent_image=world.policy.agent_image,
        agent_start_seconds=world.service.agent_start_seconds,
        hosts_ca=world.service.hosts_ca,
        mirrors=world.service.mirrors,
        accept_any_image=world.service.accept_any_image,
    )
    inputs = discovery_inputs(
        infra_env, network=network, pull_secret=pull_secret, service=service, image_type=image_type
    )
    return replace(inputs, agent_token=agent_token(world, infra_env))


async def load(world: World, infra_env_id: UUID) -> InfraEnv:
    stored = await world.store.infra_env(infra_env_id)
    if stored is None:
        raise NotFound(f"There is no infra-env {infra_env_id}.")
    return await renewed(world, stored)


async def boot_file(world: World, infra_env_id: UUID, wanted: WantedFile) -> BootFile:
    infra_env = await load(world, infra_env_id)
    if wanted.script_type and wanted.name != IPXE:
        raise Invalid(f"ipxe_script_type belongs to the file {IPXE}, not to {wanted.name}. Leave it out.")
    if wanted.name == IPXE:
        script = await _script(world, infra_env, wanted)
        return BootFile(name=f"{infra_env_id}-{IPXE}", content=script.encode(), infra_env=infra_env)
    if wanted.name == STATIC_NETWORK:
        network = await static_network(world, infra_env)
        content = network_tar(() if network is None else network.files)
        return BootFile(name=f"{infra_env_id}-{STATIC_NETWORK}.tar", content=content, infra_env=infra_env)
    secret = await world.store.secret(infra_env_subject(infra_env_id), KEPT_AS)

    network = await static_network(world, infra_env)

    def render() -> bytes:
        inputs = inputs_of(world, infra_env, network=network, pull_secret=secret or "", image_type=wanted.image_type)
        return render_discovery(inputs)

    return BootFile(name=DISCOVERY, content=await asyncio.to_thread(render), infra_env=infra_env)


async def _script(world: World, infra_env: InfraEnv, wanted: WantedFile) -> str:
    if wanted.script_type == BOOT_ORDER_CONTROL:
        if not wanted.mac:
            return chain_script(link_to(world, infra_env.id, wanted).url)
        await _require_discovery(world, infra_env, wanted.mac)
    arguments = [argument.value for argument in infra_env.kernel_arguments]
    token = await _image_token(world, infra_env)
    artifacts = boot_artifacts(infra_env, base=world.service.image_service_url, token=token)
    return boot_script(artifacts, kernel_arguments=arguments)


async def _image_token(world: World, infra_env: InfraEnv) -> str:
    """What a boot script shows to the image service."""
    if world.tokens is None:
        return ""
    key = await image_key(world, infra_env.id)
    return world.tokens.image(infra_env.id, key=key, now=world.clock.now())[0]


async def _require_discovery(world: World, infra_env: InfraEnv, mac: str) -> None:
    """A machine whose disk is written finds nothing here, so that its firmware goes on to the disk."""
    wanted = mac.strip().lower()
    hosts = [host for host in await world.store.hosts_of_infra_env(infra_env.id) if wanted in _macs(host)]
    if len(hosts) > 1:
        raise Conflict(f"{len(hosts)} hosts of infra-env {infra_env.name} have the MAC address {wanted[:32]}.")
    for host in (state.host for state in hosts):
        if boots_from_disk(
            installed=host.status in INSTALLED,
            installing=host.status in INSTALLING,
            stage=host.progress.stage or "",
        ):
            raise NotFound(f"Host {host.id} is to boot from its disk, so there is no boot script for it.")


def _macs(host: HostState) -> frozenset[str]:
    inventory = host.reports.inventory
    return frozenset() if inventory is None else frozenset(one.mac.lower() for one in inventory.interfaces)


def link_to(world: World, infra_env_id: UUID, wanted: WantedFile) -> Link:
    """A link by which a machine fetches the file without proving who it is."""
    lifetime = FOR_IMAGES if world.tokens is None else world.tokens.lifetimes.image
    return make_link(world, files_path(infra_env_id), wanted.signed_query, lifetime=lifetime)


async def make_file_link(world: World, infra_env_id: UUID, wanted: WantedFile) -> Link:
    await load(world, infra_env_id)
    if wanted.script_type and wanted.name != IPXE:
        raise Invalid(f"ipxe_script_type belongs to the file {IPXE}, not to {wanted.name}. Leave it out.")
    return link_to(world, infra_env_id, wanted)


async def minimal_initrd(world: World, infra_env_id: UUID) -> BootFile:
    """Empty when hosts need nothing before the network is up."""
    infra_env = await load(world, infra_env_id)
    network = await static_network(world, infra_env)

    def render() -> bytes:
        return minimal_ramdisk(
            network, proxy=proxy_settings(infra_env), delay_seconds=infra_env.network_discovery_delay_seconds
        )

    return BootFile(name="minimal-initrd", content=await asyncio.to_thread(render), infra_env=infra_env)
