"""Every kind of install-config we write, judged by the installer that has to accept it."""

import asyncio
from pathlib import Path

import pytest

from firstlight.core.install.cluster_inputs import ClusterInputs, FencingCredentials, PodNetwork
from firstlight.core.install.inputs import MirrorRegistries, ProxySettings, RegistryMirror
from firstlight.core.install.install_config import render_install_config
from firstlight.core.install.installer_files import for_our_machines, host_files, required_files
from firstlight.core.install.manifest_set import parsed
from firstlight.core.install.manifests import require_documents
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole
from firstlight.server.ports.installer import InstallerOrder, ManifestFile
from firstlight.server.release.installers import InstallerSettings, ReleaseInstallers
from firstlight.server.release.openshift_install import Failed
from firstlight.server.usecases.yaml_documents import parse_manifest
from tests.core.install.clusters import DUAL_STACK, THREE_MASTERS, TWO_WORKERS, a_cluster, a_host, a_single_node
from tests.core.install.validator import verdict

pytestmark = pytest.mark.anyio

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILqFbmPFUlvG7C1bfDy1hUv5wdkB6tMuR6lB0JIqXwPv"
SECRET = '{"auths":{"registry.example":{"auth":"dXNlcjpwYXNz"}}}'
COMMON = {"version": "4.19.0", "ssh_key": KEY, "pull_secret": SECRET}
USER_MANAGED = {"user_managed_networking": True, "api_vips": (), "ingress_vips": ()}
IPV6_ONLY = {
    "cluster_networks": (PodNetwork(cidr="fd01::/48", host_prefix=64),),
    "service_networks": ("fd02::/112",),
    "machine_networks": ("2001:db8::/64",),
    "api_vips": ("2001:db8::5",),
    "ingress_vips": ("2001:db8::6",),
}
MIRRORS = MirrorRegistries(
    registries_conf="",
    digest_mirrors=(RegistryMirror(source="quay.io/openshift-release-dev", mirrors=("mirror.example:5000/ocp",)),),
)
ARBITER = a_host(6, HostRole.ARBITER)
FENCED = tuple(
    a_host(
        number,
        fencing=FencingCredentials(address=f"redfish+https://192.0.2.{number}/1", username="u", password="p"),
    )
    for number in (1, 2)
)

CASES: dict[str, ClusterInputs] = {
    "bare metal": a_cluster(**COMMON),
    "compact": a_cluster(**COMMON, hosts=THREE_MASTERS),
    "one worker": a_cluster(**COMMON, hosts=(*THREE_MASTERS, TWO_WORKERS[0])),
    "five masters": a_cluster(**COMMON, control_plane_count=5, hosts=tuple(a_host(n) for n in range(1, 6))),
    "dual stack": a_cluster(**COMMON, **DUAL_STACK),
    "IPv6 only": a_cluster(**COMMON, **IPV6_ONLY),
    "load balancer of the user": a_cluster(**COMMON, user_managed_load_balancer=True),
    "none": a_cluster(**COMMON, **USER_MANAGED, platform=PlatformType.NONE),
    "external": a_cluster(
        **COMMON, **USER_MANAGED, platform=PlatformType.EXTERNAL, platform_name="oci", external_cloud_controller=True
    ),
    "vSphere": a_cluster(**COMMON, platform=PlatformType.VSPHERE),
    "Nutanix": a_cluster(**COMMON, platform=PlatformType.NUTANIX),
    "single node": a_single_node(**COMMON),
    "single node, external": a_single_node(**COMMON, platform=PlatformType.EXTERNAL, platform_name="oci"),
    "proxy": a_cluster(
        **COMMON,
        proxy=ProxySettings(http="http://proxy.example:3128", https="http://proxy.example:3128", no_proxy=".x"),
    ),
    "mirrors": a_cluster(**COMMON, mirrors=MIRRORS),
    "no hyperthreading": a_cluster(**COMMON, hyperthreading="none"),
    "time servers": a_cluster(**COMMON, additional_ntp_servers=("192.0.2.1", "time.example")),
    "partitioned CPUs": a_cluster(**COMMON, install_config_override='{"cpuPartitioningMode": "AllNodes"}'),
    "capabilities": a_cluster(
        **COMMON,
        install_config_override='{"capabilities": {"baselineCapabilitySet": "None", "additionalEnabledCapabilities":'
        ' ["baremetal", "MachineAPI", "Ingress", "OperatorLifecycleManager", "marketplace"]}}',
    ),
    "arbiter": a_cluster(**COMMON, control_plane_count=2, hosts=(*THREE_MASTERS[:2], ARBITER)),
    # This build of the installer wants hosts for bare metal and refuses them beside fencing; later ones do without.
    "two nodes with fencing": a_cluster(
        **COMMON, **USER_MANAGED, platform=PlatformType.NONE, control_plane_count=2, hosts=FENCED
    ),
}


@pytest.fixture
def installers(openshift_install: Path, tmp_path: Path) -> ReleaseInstallers:
    return ReleaseInstallers(InstallerSettings(folder=tmp_path, program=openshift_install))


def order(cluster: ClusterInputs) -> InstallerOrder:
    return InstallerOrder(
        release_image=f"registry.example/ocp/release@sha256:{'0' * 64}",
        version=cluster.version,
        architecture=cluster.architecture,
        install_config=render_install_config(cluster),
        pull_secret=cluster.pull_secret,
        single_node=cluster.is_single_node,
    )


@pytest.mark.parametrize("case", CASES)
async def test_the_installer_accepts_it(installers: ReleaseInstallers, case: str) -> None:
    async with installers.run(order(CASES[case])) as run:
        files = {one.name: one for one in await run.manifests()}
    assert {"cluster-config.yaml", "cluster-infrastructure-02-config.yml"} <= files.keys()
    for name, file in files.items():
        # What it writes itself, users may hand in changed.
        require_documents(name, parse_manifest(name, file.content))


@pytest.mark.parametrize("case", ["one worker", "dual stack", "vSphere", "single node, external", "arbiter"])
async def test_every_host_gets_a_valid_config(installers: ReleaseInstallers, case: str) -> None:
    """Those whose manifests we change, or whose files have other names."""
    cluster = CASES[case]
    async with installers.run(order(cluster)) as run:
        files = {(one.folder, one.name): one for one in await run.manifests()}
        generated = [
            parsed(one.folder, one.name, one.content.decode(), parse_manifest(one.name, one.content))
            for one in files.values()
        ]
        kept = [
            ManifestFile(folder=one.folder, name=one.name, content=one.content.encode())
            for one in for_our_machines(generated, cluster)
        ]
        made = await run.configs(kept, wanted=required_files(cluster))
    found = await asyncio.to_thread(
        host_files, made, cluster, manifests=(), install_config=render_install_config(cluster)
    )
    assert {f"{host.node_role}-{host.id}.ign" for host in cluster.hosts} <= found.keys()
    for name, content in found.items():
        if name.endswith(".ign"):
            assert verdict(content) == "", name


REFUSED: dict[str, tuple[ClusterInputs, str]] = {
    "FIPS on a machine that is not in FIPS mode": (
        a_cluster(**COMMON, install_config_override='{"fips": true}'),
        "on a host with FIPS enabled",
    ),
    "an address outside the machine network": (a_cluster(**COMMON, api_vips=("10.1.1.1",)), "10.1.1.1"),
    "a network type of the past": (
        a_cluster(**COMMON, install_config_override='{"networking": {"networkType": "OpenShiftSDN"}}'),
        "OpenShiftSDN",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_the_installer_refuses_is_told_in_its_words(installers: ReleaseInstallers, case: str) -> None:
    cluster, words = REFUSED[case]
    async with installers.run(order(cluster)) as run:
        with pytest.raises(Failed, match=words):
            await run.manifests()
