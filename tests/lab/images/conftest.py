"""One service for all image tests, a few environments, and machines that boot from them, two at a time."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.building import Missing
from lab.layouts import OTHER_ARCHITECTURES, layout
from lab.machines import Firmware, Machine, running
from tests.conftest import enter, missing
from tests.lab.images.environments import (
    OLD_VERSION,
    Environment,
    create,
    create_cluster,
    files_of,
    ports_of,
    running_service,
    static_network,
)
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
    with ExitStack() as stack:
        yield enter(stack, running_service(tmp_path_factory.mktemp("service"), images))


@pytest.fixture(scope="session")
def listener() -> Iterator[Listener]:
    with listening() as listener:
        yield listener


@pytest.fixture(scope="session")
def environments(service: RunningService, listener: Listener) -> dict[str, Environment]:
    """What the machines boot, by how they get their network."""
    fields = {"ignition_config_override": override(listener.url)}
    static = {boot.mac: boot.address for boot in BOOTS if boot.address}
    network = {"static_network_config": static_network(static)}
    return {
        "dhcp": create(service, **fields, cluster_id=create_cluster(service)),
        "nmstate": create(service, **fields, **network),
        "keyfiles": create(service, openshift_version=OLD_VERSION, **fields, **network),
    }


@pytest.fixture(scope="session")
def environment(environments: dict[str, Environment]) -> Environment:
    return environments["dhcp"]


# --- machines ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """One way to start a machine."""

    name: str
    number: int
    firmware: Firmware
    image: str
    """Empty when it boots over the network."""
    medium: str
    environment: str = "dhcp"

    @property
    def mac(self) -> str:
        return f"52:54:00:00:00:{self.number:02x}"

    @property
    def address(self) -> str:
        """Where there is no DHCP."""
        return "" if self.environment == "dhcp" else f"10.0.2.{50 + self.number}"


BIOS, UEFI = Firmware.BIOS, Firmware.UEFI
BOOTS = (
    Boot(name="bios-full-cd", number=1, firmware=BIOS, image="full.iso", medium="cd"),
    Boot(name="uefi-full-cd", number=2, firmware=UEFI, image="full.iso", medium="cd", environment="nmstate"),
    Boot(name="bios-minimal-usb", number=3, firmware=BIOS, image="minimal.iso", medium="usb"),
    Boot(name="uefi-minimal-usb", number=4, firmware=UEFI, image="minimal.iso", medium="usb"),
    Boot(name="bios-minimal-cd", number=5, firmware=BIOS, image="minimal.iso", medium="cd", environment="nmstate"),
    Boot(name="uefi-minimal-cd", number=7, firmware=UEFI, image="minimal.iso", medium="cd"),
    Boot(name="network", number=6, firmware=BIOS, image="", medium="network", environment="keyfiles"),
)


@dataclass(frozen=True, slots=True)
class Booted:
    report: Report
    ignition: bytes


@pytest.fixture(scope="session")
def boots(
    request: pytest.FixtureRequest,
    environments: dict[str, Environment],
    listener: Listener,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Future[Booted]]]:
    """All boots that the selected tests look at, begun together."""
    asked = {item.callspec.params.get("boot") for item in request.session.items if hasattr(item, "callspec")}
    folder = tmp_path_factory.mktemp("machines")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {
            boot.name: pool.submit(run_boot, boot, environments[boot.environment], listener, folder / boot.name)
            for boot in BOOTS
            if boot.name in asked
        }
        yield futures
        pool.shutdown(wait=True, cancel_futures=True)


def run_boot(boot: Boot, environment: Environment, listener: Listener, folder: Path) -> Booted:
    folder.mkdir()
    ignition = environment.ignition(boot.image.replace(".iso", "-iso"))
    listener.wanted[boot.mac] = [file.path for file in files_of(ignition)]
    medium = environment.image(boot.image, folder) if boot.image else None
    machine = Machine(
        name=boot.name,
        firmware=boot.firmware,
        memory_mib=1024 if boot.image == "full.iso" else 1536,
        cdrom=medium if boot.medium == "cd" else None,
        usb=medium if boot.medium == "usb" else None,
        direct=environment.network_boot(folder) if boot.medium == "network" else None,
        ports=[*ports_of(environment.service), listener.port],
        mac=boot.mac,
    )
    with running(machine, folder) as started:
        started.wait_for(lambda: boot.mac in listener.reports, "reported")
        started.wait_until_off()
        report = read_report(listener.reports[boot.mac])
        (folder / "journal").write_text(report.facts["journal"])
        return Booted(report, ignition)
