"""The files a preparation leaves behind: rendered from one state, stored, and cleared away again."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import Invalid, NotFound
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.cluster_manifests import Installation, cluster_manifests
from firstlight.core.install.from_records import cluster_inputs, lease_files, system_settings
from firstlight.core.install.hardware_details import hardware_of
from firstlight.core.install.install_config import install_config
from firstlight.core.install.kube_objects import Manifest
from firstlight.core.install.manifest_objects import FileObjects, require_distinct
from firstlight.core.install.manifest_set import added_manifests, parsed
from firstlight.core.install.openshift_manifests import openshift_manifests
from firstlight.core.install.outputs import installation_files
from firstlight.core.install.system_manifests import system_manifests
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.policy import Policy
from firstlight.core.operators.manifests import CUSTOM_MANIFESTS_FILE, custom_manifests_file
from firstlight.server.ports.rows import ManifestRow
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import DeleteManifest
from firstlight.server.usecases.image_access import agent_token
from firstlight.server.usecases.object_names import LOGS, MANIFESTS, manifest_object, object_name
from firstlight.server.usecases.preparation_keys import Keys
from firstlight.server.usecases.world import World
from firstlight.server.usecases.yaml_documents import parse_manifest

USER, SYSTEM = "user", "system"
StoredManifest = tuple[ManifestRow, bytes]


class Prepared(Struct, frozen=True):
    """Everything one preparation makes."""

    files: Mapping[str, bytes]
    """File name → content."""
    system: Sequence[Manifest]
    openshift_cluster_id: UUID
    release_parts: Mapping[str, str] = {}


async def inputs_of(world: World, state: ClusterState) -> ClusterInputs:
    secret = await world.store.secret(cluster_subject(state.cluster.id), "pull_secret")
    service = world.service
    return cluster_inputs(
        state,
        pull_secret=secret or "",
        service_ca=service.service_ca,
        service_url=service.service_url,
        agent_tokens={one.id: agent_token(world, one) for one in state.infra_envs.values()},
        mirrors=service.mirrors,
    )


async def user_manifests(world: World, cluster_id: UUID) -> list[StoredManifest]:
    found: list[StoredManifest] = []
    for row in await world.store.manifests(cluster_id):
        if row.source == USER:
            try:
                content = await world.blobs.get(manifest_object(cluster_id, row.folder, row.file_name))
            except NotFound:
                raise Invalid(
                    f"The content of manifest {row.folder}/{row.file_name} is lost. Upload it again."
                ) from None
            found.append((row, content))
    return found


async def prepared(world: World, state: ClusterState, inputs: ClusterInputs, keys: Keys) -> Prepared:
    """Render everything, on a worker thread: it is a second of work for a large cluster."""
    user = await user_manifests(world, state.cluster.id)
    installation = Installation(
        cluster=inputs,
        config=install_config(inputs),
        identity=keys.identity,
        certificates=keys.certificates,
        invoker=world.service.install_invoker,
    )
    return await asyncio.to_thread(
        render, state, installation, user=user, policy=world.policy, service_url=world.service.service_url
    )


def render(
    state: ClusterState,
    installation: Installation,
    *,
    user: Sequence[StoredManifest],
    policy: Policy,
    service_url: str,
) -> Prepared:
    given = given_manifests(state, installation.cluster, user=user, policy=policy, service_url=service_url)
    manifests = added_manifests(
        [*cluster_manifests(installation), *openshift_manifests(installation)],
        system=given.system,
        user=given.user,
        hardware=hardware_of(state),
    )
    files = installation_files(installation, manifests=manifests, lease_files=lease_files(state.cluster))
    return Prepared(
        {**files, **controller_files(state, policy=policy)},
        given.system,
        installation.identity.cluster_id,
    )


class Given(Struct, frozen=True, kw_only=True):
    """Manifests beside those of the installer."""

    system: Sequence[Manifest]
    user: Sequence[Manifest]


def given_manifests(
    state: ClusterState, inputs: ClusterInputs, *, user: Sequence[StoredManifest], policy: Policy, service_url: str
) -> Given:
    """The service's manifests and the user's, parsed. Raises Invalid when two write the same file or object."""
    settings = system_settings(state, policy=policy, service_url=service_url)
    system = [_read(one) for one in system_manifests(inputs, settings)]
    own = {one.name for one in system}
    for row, _ in user:
        if row.file_name in own:
            raise Invalid(
                f"The service writes a manifest called {row.file_name} itself. Give yours another name, or change the "
                "service's through a patch."
            )
    given = Given(system=system, user=[_parsed(row, content) for row, content in user])
    require_distinct(_objects(given.user), known=_objects(given.system))
    return given


def _objects(manifests: Sequence[Manifest]) -> list[FileObjects]:
    return [FileObjects(f"{one.folder}/{one.name}", one.documents) for one in manifests]


def controller_files(state: ClusterState, *, policy: Policy) -> Mapping[str, bytes]:
    """What the controller in the new cluster asks for."""
    custom = custom_manifests_file(state.cluster, state.hosts, policy=policy)
    return {CUSTOM_MANIFESTS_FILE: custom.encode()}


def _read(manifest: Manifest) -> Manifest:
    """A manifest that came as text only, with the objects in it."""
    if manifest.documents:
        return manifest
    documents = parse_manifest(manifest.name, manifest.content.encode())
    return parsed(manifest.folder, manifest.name, manifest.content, documents)


def _parsed(row: ManifestRow, content: bytes) -> Manifest:
    return parsed(row.folder, row.file_name, content.decode(), parse_manifest(row.file_name, content))


Turn = Callable[[], Awaitable[None]]
"""Raises when it is not our turn any more."""


async def store_files(world: World, cluster_id: UUID, made: Prepared, *, before_each: Turn) -> None:
    """Write all files under their names; files of earlier attempts that are not made any more go."""
    wanted = {object_name(cluster_id, name): content for name, content in made.files.items()}
    wanted |= {manifest_object(cluster_id, one.folder, one.name): one.content.encode() for one in made.system}
    await _clear(world, cluster_id, keep=frozenset(wanted), before_each=before_each)
    for key, content in wanted.items():
        await before_each()
        await world.blobs.put(key, content)


async def clear_generated(world: World, cluster_id: UUID) -> None:
    """Forget what preparations made; the user's manifests and all logs stay."""
    await _clear(world, cluster_id, keep=frozenset(), before_each=_anyway)
    rows = await world.store.manifests(cluster_id)
    gone = [
        DeleteManifest(cluster_id=cluster_id, folder=row.folder, file_name=row.file_name)
        for row in rows
        if row.source == SYSTEM
    ]
    if gone:
        await world.store.commit(*gone)


async def _anyway() -> None:
    """Whoever resets a cluster need not ask."""


async def _clear(world: World, cluster_id: UUID, *, keep: frozenset[str], before_each: Turn) -> None:
    rows = await world.store.manifests(cluster_id)
    users = {manifest_object(cluster_id, row.folder, row.file_name) for row in rows if row.source == USER}
    systems = {manifest_object(cluster_id, row.folder, row.file_name) for row in rows if row.source == SYSTEM}
    for found in await world.blobs.list_under(str(cluster_id)):
        room = found.key.split("/")[1]
        # A manifest nobody lists yet is being uploaded at this moment.
        generated = found.key in systems if room == MANIFESTS else room != LOGS
        if generated and found.key not in keep | users:
            await before_each()
            await world.blobs.delete(found.key)
