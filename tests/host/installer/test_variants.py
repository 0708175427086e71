"""Less usual ways: an image deployed early, an installation beside the live system, nodes of a cloud, dry runs."""

import base64
import json
from pathlib import Path

import pytest

from tests.host.agent.scripted import Asked, Said, document, scripted
from tests.host.installer.planes import Plane, a_node, kubeconfig, tls
from tests.host.installer.rig import HOST_ID, Hub, Rig

pytestmark = pytest.mark.anyio
MACHINE_CONFIG = {"spec": {"osImageURL": "registry.example.com/os:1", "kernelArguments": ["nosmt"]}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def data_url(content: bytes) -> str:
    return "data:;base64," + base64.b64encode(content).decode()


def rendered() -> dict[str, object]:
    source = data_url(json.dumps(MACHINE_CONFIG).encode())
    file = {"path": "/etc/ignition-machine-config-encapsulated.json", "contents": {"source": source}}
    return {"ignition": {"version": "3.4.0"}, "storage": {"files": [file]}}


async def early_image(rig: Rig, answers: list[int]) -> tuple[Hub, list[Asked]]:
    authority, context = tls(rig.folder)
    hub = Hub()

    def serves(asked: Asked) -> Said:
        return document(rendered(), answers.pop(0) if answers else 200)

    async with scripted(hub) as server, scripted(serves, tls=context) as machine_configs:
        hub.host_ignition = {
            "ignition": {
                "version": "3.2.0",
                "config": {"merge": [{"source": f"{machine_configs.url}/config/master"}]},
                "security": {"tls": {"certificateAuthorities": [{"source": data_url(authority.encode())}]}},
            }
        }
        assert await rig.finish(server.url, "--enable-skip-mco-reboot", role="master") == 0, rig.log()
    return hub, machine_configs.asked


async def test_the_cluster_s_image_is_deployed_before_the_first_boot(rig: Rig) -> None:
    rig.behave("getenforce", "echo Enforcing\n")
    hub, asked = await early_image(rig, [503, 503])
    assert len(asked) == 3
    assert not any(one.headers["user-agent"].startswith("Ignition") for one in asked)
    assert {one.headers["accept"] for one in asked} == {"application/vnd.coreos.ignition+json; version=3.4.0"}
    waited = [info for stage, info in hub.own() if "machine-config server" in info]
    assert waited[0].startswith("waiting for the machine-config server: ")
    (deploy,) = rig.calls("ostree")
    assert "ostree-unverified-registry:registry.example.com/os:1" in deploy
    assert "nosmt" in deploy
    assert [words[1:] for words in rig.calls("mount")] == [["/dev/sda4", "/mnt"], ["/dev/sda3", "/mnt/boot"]]
    assert [words[-1] for words in rig.calls("umount")] == ["/mnt/boot", "/mnt"]
    assert [words[1] for words in rig.calls("setenforce")] == ["0", "1"]


async def test_a_failed_early_image_leaves_nothing_mounted_and_fails_nothing(rig: Rig) -> None:
    rig.behave("ostree", "exit 1\n")
    await early_image(rig, [])
    assert len(rig.calls("ostree")) == 3
    assert [words[-1] for words in rig.calls("umount")] == ["/mnt/boot", "/mnt"]
    assert len(rig.calls("shutdown")) == 1


async def test_an_installation_beside_the_running_system(rig: Rig) -> None:
    hub = Hub()
    keyfiles = rig.root / "etc/NetworkManager/system-connections"
    keyfiles.mkdir(parents=True)
    (keyfiles / "eth0.nmconnection").touch()
    arguments = json.dumps(["--append-karg", "a=b", "--copy-network"])
    async with scripted(hub) as server:
        flags = ("--coreos-image", "os:1", "--installer-args", arguments, "--format-disk", "/dev/sda")
        assert await rig.finish(server.url, *flags, role="master") == 0, rig.log()
    assert not rig.calls("coreos-installer")
    assert not rig.calls("wipefs")
    assert ["rpm-ostree", "kargs", "--os", "install", "--append=a=b"] in rig.calls("rpm-ostree")
    assert rig.calls("cp")[0][1].endswith("eth0.nmconnection")
    assert (rig.root / "boot/ignition/config.ign").exists()
    assert ["touch", "/boot/ignition.firstboot"] in rig.calls("touch")
    assert hub.order()[-1] == "Rebooting"


async def test_nodes_that_wait_for_a_cloud_are_let_in(rig: Rig) -> None:
    hub, plane = Hub(), Plane()
    hub.cluster = {"kind": "Cluster", "control_plane_count": 3, "platform": {"type": "vsphere"}}
    waiting = a_node("master-1", ready=False)
    taint = "node.cloudprovider.kubernetes.io/uninitialized"
    waiting["spec"] = {"taints": [{"key": "other"}, {"key": taint}]}
    plane.nodes = [waiting, a_node("master-2")]
    patches: list[list[dict[str, object]]] = []

    def api(asked: Asked) -> Said:
        if asked.method == "PATCH":
            patches.append(asked.json())
            plane.nodes[0] = a_node("master-1")
            return document({})
        return plane(asked)

    openshift = rig.root / "opt/openshift"
    (openshift / "auth").mkdir(parents=True)
    (openshift / ".bootkube.done").touch()
    authority, context = tls(rig.folder)
    async with scripted(hub) as server, scripted(api, tls=context) as server_api:
        (openshift / "auth/kubeconfig").write_text(kubeconfig(server_api.url, authority))
        assert await rig.finish(server.url, "--control-plane-count", "3", role="bootstrap") == 0, rig.log()
    assert patches == [
        [
            {"op": "test", "path": "/spec/taints/1/key", "value": taint},
            {"op": "remove", "path": "/spec/taints/1"},
        ]
    ]


@pytest.mark.parametrize("unit", ["bootkube.service", "progress.service"])
async def test_a_unit_that_failed_ends_the_wait_at_once(rig: Rig, unit: str) -> None:
    rig.behave("systemctl", f'case "$1 $2" in "is-active {unit}") echo failed;; is-active*) echo inactive;; esac\n')
    hub, plane = Hub(), Plane()
    openshift = rig.root / "opt/openshift"
    (openshift / "auth").mkdir(parents=True)
    if unit == "progress.service":
        (openshift / ".bootkube.done").touch()
    authority, context = tls(rig.folder)
    async with scripted(hub) as server, scripted(plane, tls=context) as api:
        (openshift / "auth/kubeconfig").write_text(kubeconfig(api.url, authority))
        assert await rig.finish(server.url, "--control-plane-count", "3", role="bootstrap") == 1
    stage, info = hub.own()[-1]
    assert stage == "Failed"
    assert info.startswith(unit)
    assert not rig.calls("shutdown")


async def test_a_live_system_without_oc_gets_it_first(rig: Rig) -> None:
    (rig.root / "usr/bin/oc").unlink()
    rig.behave(
        "systemctl",
        f'case "$1 $2" in "is-active node-image-overlay.service") : > {rig.root}/usr/bin/oc; echo active;;'
        ' "is-active node-image-pull.service") [ -e "$RIG/pulled" ] && echo active || echo activating;'
        ' : > "$RIG/pulled";; is-active*) echo inactive;; esac\n',
    )
    openshift = rig.root / "opt/openshift"
    openshift.mkdir(parents=True)
    (openshift / ".bootkube.done").touch()
    (openshift / "master.ign").write_text('{"ignition":{"version":"3.2.0"}}')
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--control-plane-count", "1", role="bootstrap") == 0, rig.log()
    waits = [info for stage, info in hub.own() if "node-image-pull" in info]
    assert waits[-1] == "Waiting for node-image-pull.service: node-image-pull.service is activating"


async def test_a_dry_run_reboots_nothing(rig: Rig) -> None:
    marker, hub = rig.folder / "rebooted", Hub()
    dry = rig.bin / "dry-installer"
    dry.write_text((rig.bin / "dd").read_text())
    dry.chmod(0o755)
    async with scripted(hub) as server:
        flags = ("--dry-run", "--fake-reboot-marker-path", str(marker))
        assert await rig.finish(server.url, *flags, role="master") == 0, rig.log()
    assert marker.exists()
    assert {words[0] for words in rig.calls()} == {"mkdir", "dry-installer"}
    assert rig.calls("dry-installer")[0][4] == f"/opt/install-dir/master-{HOST_ID}.ign"
    assert hub.order()[-1] == "Rebooting"


@pytest.mark.parametrize(("size", "code"), [(10**9, 0), (10**12, 1)])
async def test_media_with_a_registry_bring_its_data_along(rig: Rig, size: int, code: int) -> None:
    (rig.root / "run/media/iso/registry").mkdir(parents=True)
    part = rig.root / "sys/class/block/sda4/size"
    part.write_text("8000000\n")
    rig.behave("du", f"echo '{size} /mnt/agentdata'\n")
    rig.behave("rsync", "printf '  1,2  41%% 1MB/s\\r  2,4 100%% 1MB/s\\n'\n")
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == code, rig.log()
    if code:
        assert "too small" in hub.own()[-1][1]
        assert not rig.calls("growpart")
        return
    assert hub.order() == [
        *("Starting installation", "Installing", "Writing image to disk", "Copying registry data to disk", "Rebooting")
    ]
    assert ("Copying registry data to disk", "100%") in hub.own()
    assert rig.calls("rsync")[0][-1] == "/mnt/root/ostree/deploy/rhcos/var/lib/iri-registry"
    assert rig.calls("growpart") == [["growpart", "--free-percent=94", "/dev/sda", "4"]]
    assert rig.calls("umount")[-1] == ["umount", "/mnt/root"]


async def test_a_bootstrap_without_the_image_that_lays_it_over(rig: Rig) -> None:
    """Nobody tries to start an image without a name."""
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--mco-image", "", role="bootstrap") == 1
    assert "no image of the machine-config operator" in hub.own()[-1][1]
    assert not rig.calls("podman")
