"""Preparation through the real openshift-install, taken out of a release image in a real registry."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from firstlight.core.errors import NotFound
from firstlight.core.install import ignition
from firstlight.core.model.cluster import Platform
from firstlight.core.model.cluster_status import PlatformType, PreparationStatus
from firstlight.server.ports.installer import Installer, InstallerOrder
from firstlight.server.release.installers import InstallerSettings, ReleaseInstallers
from firstlight.server.usecases.installer_runs import output_name
from firstlight.server.usecases.step_inputs import step_inputs
from firstlight.server.usecases.world import World
from tests.core.install.validator import verdict
from tests.registries import Registry, layer
from tests.usecases.preparing import a_preparing_cluster, claimed_again, cluster_of, put_manifest, run
from tests.worlds import PULL_SECRET

pytestmark = pytest.mark.anyio
PARTS = {
    "machine-config-operator": "registry.example/mco@sha256:1",
    "must-gather": "registry.example/gather:1",
    "rhel-coreos": "registry.example/coreos:1",
}


@pytest.fixture(scope="session")
def release(registry: Registry, openshift_install: Path) -> str:
    """A release image in the true layout. Its installer calls the real one, which is too large to push for a test."""
    program = f'#!/bin/sh\nOPENSHIFT_INSTALL_DATA={openshift_install.parent}/data exec {openshift_install} "$@"\n'
    installer = registry.push("ocp/installer", [layer({"usr/bin/openshift-install": program.encode()})])
    references = {
        "kind": "ImageStream",
        "apiVersion": "image.openshift.io/v1",
        "metadata": {"name": "4.19.0"},
        "spec": {
            "tags": [
                {"name": name, "from": {"kind": "DockerImage", "name": image}}
                for name, image in {"installer": installer, **PARTS, "etcd": "registry.example/etcd:1"}.items()
            ]
        },
    }
    metadata = {"kind": "cincinnati-metadata-v0", "version": "4.19.0"}
    files = {
        "release-manifests/image-references": json.dumps(references).encode(),
        "release-manifests/release-metadata": json.dumps(metadata).encode(),
    }
    return registry.push("ocp/release", [layer(files)], tag="4.19.0-x86_64")


@pytest.fixture
def installer(registry: Registry, tmp_path: Path) -> Installer:
    return ReleaseInstallers(
        InstallerSettings(folder=tmp_path / "installers", plain_registries=frozenset({registry.host}))
    )


async def config_of(world: World, cluster_id: UUID, name: str) -> Any:
    return ignition.parse(await world.blobs.get(f"{cluster_id}/{name}"))


async def require_valid(world: World, cluster_id: UUID) -> list[str]:
    """All Ignition configs of a cluster, after Ignition's own checker has looked at each."""
    found = [info.key for info in await world.blobs.list_under(str(cluster_id)) if info.key.endswith(".ign")]
    for key in found:
        assert verdict(await world.blobs.get(key)) == "", key
    return [key.partition("/")[2] for key in found]


async def test_three_masters_and_two_workers(world: World, installer: Installer, release: str, tmp_path: Path) -> None:
    state, row = await a_preparing_cluster(world, workers=2, release_image=release, openshift_version="4.19.0")
    cluster_id = state.cluster.id
    assert step_inputs(state, world.catalogue).release.mco_image == ""
    await put_manifest(world, cluster_id, "mine.yaml", b"kind: ConfigMap\napiVersion: v1\nmetadata: {name: mine}")
    await put_manifest(
        world,
        cluster_id,
        "cluster-scheduler-02-config.yml.patch_mine",
        b"- {op: replace, path: /spec/mastersSchedulable, value: true}",
    )
    await run(world, row, installer=installer)
    cluster = await cluster_of(world, cluster_id)
    assert (cluster.preparation.status, cluster.preparation.reason) == (PreparationStatus.SUCCESS, "")
    assert cluster.release_parts == PARTS
    told = step_inputs(replace(state, cluster=cluster), world.catalogue).release
    assert (told.mco_image, told.must_gather_images) == (
        PARTS["machine-config-operator"],
        {"ocp": PARTS["must-gather"]},
    )
    names = await require_valid(world, cluster_id)
    hosts = {f"{'master' if index < 3 else 'worker'}-{one.host.id}.ign" for index, one in enumerate(state.hosts)}
    assert set(names) == {"bootstrap.ign", "master.ign", "worker.ign"} | hosts
    bootstrap = await config_of(world, cluster_id, "bootstrap.ign")
    paths = {file.path for file in bootstrap.storage.files}
    assert {"/usr/local/bin/bootkube.sh", "/opt/openshift/manifests/mine.yaml"} <= paths
    assert "/opt/openshift/openshift/50-masters-chrony-configuration.yaml" in paths
    assert "/etc/NetworkManager/system-connections/nmconnection" not in paths
    assert not any(file.append for file in bootstrap.storage.files)
    scheduler = ignition.content_of(bootstrap, "/opt/openshift/manifests/cluster-scheduler-02-config.yml")
    assert b'"mastersSchedulable":true' in (scheduler or b"").replace(b" ", b"")
    bare_metal = ignition.content_of(bootstrap, "/opt/openshift/openshift/99_openshift-cluster-api_hosts-0.yaml")
    assert b"baremetalhost.metal3.io/status" in (bare_metal or b"")
    version = ignition.content_of(bootstrap, "/opt/openshift/manifests/cvo-overrides.yaml")
    assert str(cluster.openshift_cluster_id).encode() in (version or b"")
    master = await config_of(world, cluster_id, f"master-{state.hosts[0].host.id}.ign")
    assert master.ignition.config.merge[0].source.endswith(":22623/config/master")
    assert ignition.content_of(master, "/etc/hostname") is not None
    assert not list((tmp_path / "installers" / "work").iterdir()), "keys must not lie about"


async def test_a_single_node(world: World, installer: Installer, release: str) -> None:
    state, row = await a_preparing_cluster(
        world,
        masters=1,
        workers=0,
        release_image=release,
        openshift_version="4.19.0",
        control_plane_count=1,
        platform=Platform(type=PlatformType.NONE),
        user_managed_networking=True,
        api_vips=(),
        ingress_vips=(),
    )
    await run(world, row, installer=installer)
    cluster = await cluster_of(world, state.cluster.id)
    assert (cluster.preparation.status, cluster.preparation.reason) == (PreparationStatus.SUCCESS, "")
    await require_valid(world, state.cluster.id)
    bootstrap = await config_of(world, state.cluster.id, "bootstrap.ign")
    assert "/usr/local/bin/install-to-disk.sh" in {file.path for file in bootstrap.storage.files}
    master = await config_of(world, state.cluster.id, "master.ign")
    assert master.ignition.config.merge == ()


async def test_the_installers_own_words_reach_the_user(world: World, installer: Installer, release: str) -> None:
    state, row = await a_preparing_cluster(
        world,
        workers=2,
        release_image=release,
        openshift_version="4.19.0",
        install_config_overrides='{"networking": {"networkType": "OpenShiftSDN"}}',
    )
    await run(world, row, installer=installer)
    cluster = await cluster_of(world, state.cluster.id)
    assert cluster.preparation.status is PreparationStatus.FAILED
    assert "openshift-install create manifests ended with" in cluster.preparation.reason
    assert "OpenShiftSDN" in cluster.preparation.reason


async def test_the_installers_words_hold_no_secret(world: World, installer: Installer, release: str) -> None:
    override = {"proxy": {"httpProxy": "gopher://me:hunter2@proxy.example:70"}}
    state, row = await a_preparing_cluster(
        world,
        workers=2,
        release_image=release,
        openshift_version="4.19.0",
        install_config_overrides=json.dumps(override),
    )
    await run(world, row, installer=installer)
    preparation = (await cluster_of(world, state.cluster.id)).preparation
    assert preparation.status is PreparationStatus.FAILED
    assert "gopher" in preparation.reason
    assert "hunter2" not in preparation.reason


async def test_a_release_that_is_not_there_is_named(world: World, installer: Installer, registry: Registry) -> None:
    missing = f"{registry.host}/ocp/absent:4.19.0"
    state, row = await a_preparing_cluster(world, release_image=missing, openshift_version="4.19.0")
    await run(world, row, installer=installer)
    cluster = await cluster_of(world, state.cluster.id)
    assert cluster.preparation.status is PreparationStatus.FAILED
    assert missing in cluster.preparation.reason


async def test_an_operators_own_installer_hides_no_image(registry: Registry, release: str, tmp_path: Path) -> None:
    """Hosts need images of the release all the same; a release without is refused here rather than on the bootstrap."""
    settings = InstallerSettings(
        folder=tmp_path, program=Path("/bin/true"), plain_registries=frozenset({registry.host})
    )
    installers = ReleaseInstallers(settings)
    order = InstallerOrder(
        release_image=release,
        version="4.19.0",
        architecture="x86_64",
        install_config="{}",
        pull_secret=PULL_SECRET,
    )
    async with installers.run(order) as run:
        images = await run.images()
    assert {name: image for name, image in images.items() if name in PARTS} == PARTS
    async with installers.run(replace(order, release_image=f"{registry.host}/ocp/absent:4.19.0")) as run:
        with pytest.raises(NotFound, match="ocp/absent:4.19.0"):
            await run.images()
    assert not list((tmp_path / "work").iterdir())


async def test_whoever_goes_on_after_a_crash_writes_the_same_files(
    world: World, installer: Installer, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run dies between its result and the files; the second finds the result and runs no installer."""
    state, row = await a_preparing_cluster(world, workers=2, release_image=release, openshift_version="4.19.0")
    put = world.blobs.put

    async def full(key: str, data: bytes) -> None:
        raise OSError("killed here")

    monkeypatch.setattr(world.blobs, "put", full)
    with pytest.raises(OSError, match="killed here"):
        await run(world, row, installer=installer)
    monkeypatch.setattr(world.blobs, "put", put)
    kept = await world.store.secret(row.subject, output_name(row))
    assert kept is not None

    class Nobody:
        def run(self, order: object) -> Any:
            raise AssertionError("the installer ran twice")

    await run(world, await claimed_again(world), installer=Nobody())
    cluster = await cluster_of(world, state.cluster.id)
    assert cluster.preparation.status is PreparationStatus.SUCCESS
    assert await world.store.secret(row.subject, output_name(row)) is None, "keys must not stay behind"
