"""The real coreos-installer reads exactly what was put in out of every form of an image, and can take it out again."""

from pathlib import Path

import pytest

from lab import layouts
from lab.live_iso import BUILD, KARGS
from lab.machines import GATEWAY
from tests.lab.conftest import CoreosInstaller
from tests.lab.images.environments import ARGUMENTS, Environment, create, fetch
from tests.lab.images.reports import Listener, override
from tests.services import RunningService

pytestmark = pytest.mark.timeout(1800)

ARCHITECTURES = ("x86_64", *layouts.OTHER_ARCHITECTURES)
APPENDED = " ".join(ARGUMENTS)


def default_arguments(architecture: str) -> str:
    return KARGS if architecture == "x86_64" else layouts.KARGS


def rootfs_url(service: RunningService, architecture: str = "x86_64") -> str:
    base = service.images_url.replace("127.0.0.1", GATEWAY)
    return f"{base}/boot-artifacts/rootfs?arch={architecture}&version={BUILD}"


@pytest.fixture(scope="module")
def by_architecture(service: RunningService, environment: Environment, listener: Listener) -> dict[str, Environment]:
    others = {
        name: create(service, architecture=name, ignition_config_override=override(listener.url))
        for name in layouts.OTHER_ARCHITECTURES
    }
    return {"x86_64": environment, **others}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_full_image(
    architecture: str,
    by_architecture: dict[str, Environment],
    images: dict[str, Path],
    coreos_installer: CoreosInstaller,
    tmp_path: Path,
) -> None:
    environment = by_architecture[architecture]
    image = environment.image("full.iso", tmp_path)
    assert coreos_installer("iso", "ignition", "show", image) == environment.ignition("full-iso")
    shown = coreos_installer("iso", "kargs", "show", image).decode().strip()
    assert shown == f"{default_arguments(architecture)} {APPENDED}"
    default = coreos_installer("iso", "kargs", "show", "--default", image).decode().strip()
    assert default == default_arguments(architecture)
    coreos_installer("iso", "reset", image)
    assert image.read_bytes() == images[architecture].read_bytes()


@pytest.mark.parametrize("architecture", ["x86_64", "arm64", "ppc64le"])
def test_minimal_image(
    architecture: str,
    by_architecture: dict[str, Environment],
    service: RunningService,
    coreos_installer: CoreosInstaller,
    tmp_path: Path,
) -> None:
    environment = by_architecture[architecture]
    image = environment.image("minimal.iso", tmp_path)
    assert coreos_installer("iso", "ignition", "show", image) == environment.ignition("minimal-iso")
    kept = default_arguments(architecture).partition(" ")[2]
    fetching = f'{kept} coreos.live.rootfs_url="{rootfs_url(service, architecture)}"'
    assert coreos_installer("iso", "kargs", "show", image).decode().strip() == f"{fetching} {APPENDED}"
    coreos_installer("iso", "kargs", "reset", image)
    assert coreos_installer("iso", "kargs", "show", image).decode().strip() == fetching
    other = tmp_path / "other.ign"
    other.write_text('{"ignition": {"version": "3.1.0"}}')
    coreos_installer("iso", "ignition", "embed", "--force", "--ignition-file", other, image)
    assert coreos_installer("iso", "ignition", "show", image) == other.read_bytes()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_files_for_network_boot(
    architecture: str,
    by_architecture: dict[str, Environment],
    service: RunningService,
    coreos_installer: CoreosInstaller,
    tmp_path: Path,
) -> None:
    """What coreos-installer takes out of the image is what we serve; it finds the config behind our initrd."""
    environment = by_architecture[architecture]
    image = environment.image("full.iso", tmp_path)
    coreos_installer("iso", "extract", "pxe", "--output-dir", tmp_path / "out", image)
    extracted = {path.name.removeprefix(f"{image.stem}-"): path for path in (tmp_path / "out").iterdir()}
    query = f"arch={architecture}&version={BUILD}"
    assert fetch(f"{service.images_url}/boot-artifacts/kernel?{query}") == extracted["vmlinuz"].read_bytes()
    assert fetch(rootfs_url(service, architecture)) == extracted["rootfs.img"].read_bytes()
    initrd = tmp_path / "initrd.img"
    initrd.write_bytes(fetch(f"{service.images_url}/images/{environment.id}/pxe-initrd?{query}"))
    assert initrd.read_bytes().startswith(extracted["initrd.img"].read_bytes())
    config = environment.ignition()
    assert coreos_installer("pxe", "ignition", "unwrap", initrd) == config
    (tmp_path / "config.ign").write_bytes(config)
    wrapped = coreos_installer("pxe", "ignition", "wrap", "--ignition-file", tmp_path / "config.ign")
    theirs = tmp_path / "theirs.img"
    theirs.write_bytes(extracted["initrd.img"].read_bytes() + wrapped)
    assert coreos_installer("pxe", "ignition", "unwrap", theirs) == config


def test_own_minimal_image_of_coreos(
    environment: Environment, service: RunningService, coreos_installer: CoreosInstaller, tmp_path: Path
) -> None:
    """An image of ours, reset, still yields CoreOS's own minimal image, which boots with the same arguments as ours."""
    full, ours, theirs = (
        environment.image("full.iso", tmp_path),
        environment.image("minimal.iso", tmp_path),
        tmp_path / "t",
    )
    coreos_installer("iso", "reset", full)
    coreos_installer("iso", "extract", "minimal-iso", "--rootfs-url", rootfs_url(service), full, theirs)
    shown = coreos_installer("iso", "kargs", "show", theirs).decode().strip()
    default = coreos_installer("iso", "kargs", "show", "--default", ours).decode().strip()
    assert default.replace('"', "") == shown


def test_s390x_is_told_where_its_initrd_goes(by_architecture: dict[str, Environment], service: RunningService) -> None:
    environment = by_architecture["s390x"]
    query = f"arch=s390x&version={BUILD}"
    initrd = fetch(f"{service.images_url}/images/{environment.id}/pxe-initrd?{query}")
    told = fetch(f"{service.images_url}/images/{environment.id}/s390x-initrd-addrsize?version={BUILD}")
    assert told == (0x0200_0000).to_bytes(8, "big") + len(initrd).to_bytes(8, "big")
