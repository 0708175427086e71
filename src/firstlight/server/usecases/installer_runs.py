"""Preparation through the installer of the release: its manifests, ours and the user's, then its Ignition configs.

Every run makes new keys. What the first run of an attempt made is therefore kept until the preparation is over, so that
whoever goes on after a crash, or believes to be at it still, writes the same bytes.
"""

import asyncio
import base64
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.errors import Invalid
from firstlight.core.install.bootstrap import replaced
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.documents import to_text
from firstlight.core.install.from_records import lease_files
from firstlight.core.install.hardware_details import hardware_of
from firstlight.core.install.install_config import install_config
from firstlight.core.install.installer_files import (
    for_our_machines,
    host_files,
    openshift_cluster_id,
    required_files,
)
from firstlight.core.install.kube_objects import Manifest
from firstlight.core.install.manifest_set import added_manifests, parsed
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.policy import Policy
from firstlight.core.steps.inputs import PARTS
from firstlight.server.ports.installer import Installer, InstallerOrder, ManifestFile
from firstlight.server.ports.rows import OperationRow
from firstlight.server.ports.writes import PutOperation, PutSecret
from firstlight.server.usecases.generated_files import (
    Given,
    Prepared,
    controller_files,
    given_manifests,
    user_manifests,
)
from firstlight.server.usecases.world import World
from firstlight.server.usecases.yaml_documents import parse_manifest

SIMULATED: Final = "firstlight.simulated"
"""What machines of `firstlight simulate` have on their kernel's command line."""

Report = Callable[[str], Awaitable[None]]


class _Output(Struct, frozen=True, kw_only=True):
    files: Mapping[str, bytes]
    manifests: tuple[ManifestFile, ...]
    parts: Mapping[str, str] = {}
    """Images of the release that hosts are told about."""


def is_simulated(state: ClusterState) -> bool:
    """Are all hosts make-believe? They need no real release, and nobody would wait for one."""
    inventories = [host.reports.inventory for host in state.hosts]
    return bool(inventories) and all(
        inventory is not None and SIMULATED in inventory.boot.command_line.split() for inventory in inventories
    )


def output_name(row: OperationRow) -> str:
    return f"installer_output.{row.attempt}"


async def made_by_installer(
    world: World, row: OperationRow, state: ClusterState, inputs: ClusterInputs, report: Report, *, installer: Installer
) -> Prepared:
    user = await user_manifests(world, state.cluster.id)
    given = await asyncio.to_thread(
        given_manifests, state, inputs, user=user, policy=world.policy, service_url=world.service.service_url
    )
    config = await asyncio.to_thread(lambda: to_text(install_config(inputs)))
    output = await _kept(world, row)
    if output is None:
        output = await _run(state, inputs, given, report, installer=installer, config=config)
        await _keep(world, row, output)
    await report("making a configuration for every host")
    return await asyncio.to_thread(_prepared, output, state, inputs, given, config=config, policy=world.policy)


def _prepared(
    output: _Output, state: ClusterState, inputs: ClusterInputs, given: Given, *, config: str, policy: Policy
) -> Prepared:
    manifests = [_read(one) for one in output.manifests]
    files = host_files(
        output.files, inputs, manifests=manifests, install_config=config, lease_files=lease_files(state.cluster)
    )
    return Prepared(
        {**files, **controller_files(state, policy=policy)}, given.system, openshift_cluster_id(files), output.parts
    )


async def _run(
    state: ClusterState, inputs: ClusterInputs, given: Given, report: Report, *, installer: Installer, config: str
) -> _Output:
    if not inputs.release_image:
        raise Invalid(
            f"No release image is known for OpenShift {inputs.version} on {inputs.architecture}. "
            "Add one to RELEASE_IMAGES, or choose another version."
        )
    bootstrap = inputs.bootstrap
    order = InstallerOrder(
        release_image=inputs.release_image,
        version=inputs.version,
        architecture=inputs.architecture,
        install_config=config,
        pull_secret=inputs.pull_secret,
        single_node=inputs.is_single_node,
        bootstrap_address=(bootstrap.address_in(inputs.machine_networks) or "") if bootstrap else "",
        mirrors=inputs.mirrors,
    )
    await report(f"getting the installer of OpenShift {inputs.version}, and waiting for its turn")
    async with installer.run(order) as run:
        parts = {name: image for name, image in (await run.images()).items() if name in PARTS}
        await report("openshift-install is writing manifests")
        complete, added = await asyncio.to_thread(_completed, await run.manifests(), state, inputs, given)
        await report("openshift-install is writing Ignition configs")
        files = await run.configs(complete, wanted=required_files(inputs))
    return _Output(files=files, manifests=added, parts=parts)


def _completed(
    written: Sequence[ManifestFile], state: ClusterState, inputs: ClusterInputs, given: Given
) -> tuple[tuple[ManifestFile, ...], tuple[ManifestFile, ...]]:
    """All manifests with ours and the user's among them, and those that were added or changed."""
    generated = for_our_machines([_read(one) for one in written], inputs)
    added = added_manifests(generated, system=given.system, user=given.user, hardware=hardware_of(state))
    return tuple(map(_file, replaced(generated, added))), tuple(map(_file, added))


def _read(file: ManifestFile) -> Manifest:
    documents = parse_manifest(file.name, file.content)
    return parsed(file.folder, file.name, file.content.decode(), documents)


def _file(manifest: Manifest) -> ManifestFile:
    return ManifestFile(folder=manifest.folder, name=manifest.name, content=manifest.content.encode())


# --- what the first run made ------------------------------------------------------------------------------------------


async def _kept(world: World, row: OperationRow) -> _Output | None:
    stored = await world.store.secret(row.subject, output_name(row))
    return None if stored is None else await asyncio.to_thread(_unpacked, stored)


async def _keep(world: World, row: OperationRow, output: _Output) -> None:
    """Raises LostRace when the work was given to somebody else, also if that was before we looked for what is kept.

    Nobody else can therefore have kept anything since.
    """
    now = world.clock.now()
    packed = await asyncio.to_thread(_packed, output)
    await world.store.commit(
        PutSecret(subject=row.subject, name=output_name(row), value=packed),
        PutOperation(operation=replace(row, updated_at=now, heartbeat_at=now), expect_epoch=row.epoch),
    )


def _packed(output: _Output) -> str:
    return base64.b64encode(zlib.compress(msgspec.msgpack.encode(output))).decode()


def _unpacked(text: str) -> _Output:
    return msgspec.msgpack.decode(zlib.decompress(base64.b64decode(text)), type=_Output)
