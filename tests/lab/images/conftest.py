"""One service for all image tests, two environments, and machines that boot from them, two at a time."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.building import Missing
from lab.layouts import OTHER_ARCHITECTURES, layout
from lab.machines import DirectBoot, Firmware, Machine, running
from tests.conftest import missing
from tests.lab.images.environments import Environment, create, files_of, ports_of, running_service
from tests.lab.images.reports import Listener, Report, listening, override, read_report
from tests.services import RunningService

AT_ONCE = 2
"""As many as the smallest machine that runs these tests has processors."""


@pytest.fixture(scope="session")
def images(stand_in: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pristine images by architecture."""
    folder = tmp_path_factory.mktemp("layouts")
    try:
        return {"x86_64": stand_in, **{name: layout(name, folder) for name in OTHER_ARCHITECTURES}}
    except Missing as reason:
        missing(str(reason))


@pytest.fixture(scope="session")
def service(images: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service"), images) as service:
        yield service


@pytest.fixture(scope="session")
def listener() -> Iterator[Listener]:
    with listening() as listener:
        yield listener


@pytest.fixture(scope="session")
def environment(service: RunningService, listener: Listener) -> Environment:
    """What the machines boot."""
    return create(service, ignition_config_override=override(listener.url))


@pytest.fixture(scope="session")
def downloads(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The environment's images by their names."""
    folder = tmp_path_factory.mktemp("downloads")
    return {name: environment.image(name, folder) for name in ("full.iso", "minimal.iso")}


# --- machines ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """One way to start a machine."""

    name: str
    number: int
    firmware: Firmware
    image: str
    medium: str


BOOTS = (
    Boot(name="bios-full-cd", number=1, firmware=Firmware.BIOS, image="full.iso", medium="cd"),
    Boot(name="uefi-full-cd", number=2, firmware=Firmware.UEFI, image="full.iso", medium="cd"),
    Boot(name="bios-minimal-usb", number=3, firmware=Firmware.BIOS, image="minimal.iso", medium="usb"),
    Boot(name="uefi-minimal-usb", number=4, firmware=Firmware.UEFI, image="minimal.iso", medium="usb"),
    Boot(name="network", number=5, firmware=Firmware.BIOS, image="", medium="network"),
)


@dataclass(frozen=True, slots=True)
class Booted:
    report: Report
    ignition: bytes
    console: str


@pytest.fixture(scope="session")
def boots(
    request: pytest.FixtureRequest,
    environment: Environment,
    downloads: dict[str, Path],
    listener: Listener,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Future[Booted]]]:
    """All boots that the selected tests look at, begun together."""
    asked = {item.callspec.params.get("boot") for item in request.session.items if hasattr(item, "callspec")}
    folder = tmp_path_factory.mktemp("machines")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {
            boot.name: pool.submit(run_boot, boot, environment, downloads, listener, folder)
            for boot in BOOTS
            if boot.name in asked
        }
        yield futures
        pool.shutdown(wait=True, cancel_futures=True)


def run_boot(
    boot: Boot, environment: Environment, downloads: dict[str, Path], listener: Listener, folder: Path
) -> Booted:
    mac = f"52:54:00:00:00:{boot.number:02x}"
    ignition = environment.ignition(boot.image.replace(".iso", "-iso"))
    listener.wanted[mac] = [file.path for file in files_of(ignition)]
    machine = Machine(
        name=boot.name,
        firmware=boot.firmware,
        memory_mib=1024 if boot.image == "full.iso" else 1536,
        cdrom=downloads[boot.image] if boot.medium == "cd" else None,
        usb=downloads[boot.image] if boot.medium == "usb" else None,
        direct=direct_boot(environment, folder) if boot.medium == "network" else None,
        ports=[*ports_of(environment.service), listener.port],
        mac=mac,
    )
    with running(machine, folder) as started:
        started.wait_for(lambda: mac in listener.reports, "reported")
        started.wait_until_off()
        return Booted(read_report(listener.reports[mac]), ignition, started.console)


def direct_boot(environment: Environment, folder: Path) -> DirectBoot:
    found = environment.network_boot(folder)
    return DirectBoot(kernel=found.kernel, initrd=found.initrd, arguments=found.arguments)
