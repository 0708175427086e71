"""What all machines of this suite use: the service, our images in a registry, the courier; and two places to run in."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab.building import run, tool
from lab.machines import Address, Disk, Firmware, Machine, RunningMachine, running
from tests.lab.guests.couriers import Courier, Report, read_report
from tests.lab.guests.scripts import IMAGES_SERIAL
from tests.lab.image_stores import Store
from tests.lab.images.environments import ports_of
from tests.services import RunningService

AT_ONCE = 3
"""One of each role: the service gives a host that is told to install twenty minutes until it is heard of."""
DISK_BYTES = 8 * 10**9
FILLER_BYTES = 2**20
IMAGE_NAMES = {
    "AGENT_DOCKER_IMAGE": "localhost/firstlight-agent:latest",
    "INSTALLER_IMAGE": "localhost/firstlight-installer:latest",
    "CONTROLLER_IMAGE": "localhost/firstlight-controller:latest",
}
"""Setting → what the service tells hosts."""


class Abandoned(Exception):
    """The reason is somebody else's failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ward:
    service: RunningService
    courier: Courier
    images: Path
    """The disk that carries our container images."""
    folder: Path
    places: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE))
    over: threading.Event = field(default_factory=threading.Event)
    """Something failed, so what is still running has no use."""

    def ports(self) -> list[int]:
        return [*ports_of(self.service), self.courier.port]

    @contextmanager
    def running(self, machine: Machine) -> Iterator[RunningMachine]:
        with self.places:
            self._go_on()
            with running(machine, self.folder / machine.name) as started:
                yield started

    def _go_on(self) -> None:
        if self.over.is_set():
            raise Abandoned("Another machine failed.")

    def wait(self, started: RunningMachine, true: Callable[[], bool], what: str, *, seconds: float) -> None:
        """As the machine's own waiting, but not longer than all machines do well."""
        started.wait_for(lambda: self.over.is_set() or true(), what, seconds=seconds)
        self._go_on()

    def report_of(self, machine: Machine, started: RunningMachine) -> Report:
        """What came of the script that the courier had for the machine."""
        self.wait(started, lambda: machine.mac in self.courier.reports, "reported", seconds=1500)
        report = read_report(self.courier.reports[machine.mac])
        for name, content in report.files.items():
            file = self.folder / machine.name / "reported" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return report


def images_disk(store: Store, target: Path) -> Path:
    """All images of a store as a disk that machines read: pulling takes emulated processors minutes."""
    options = ["-quiet", "-no-progress", "-comp", "zstd", "-Xcompression-level", "3"]
    run([tool("mksquashfs", package="squashfs-tools"), store.folder / "root", target, *options])
    return target


def a_machine(
    ward: Ward,
    name: str,
    *,
    mac: str,
    firmware: Firmware,
    wwn: str,
    fillers: int = 0,
    addresses: Sequence[Address] = (),
    memory_mib: int = 1536,
) -> Machine:
    """With our images, an empty disk of this name, as many small ones as wanted, and then one more large one."""
    folder = ward.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [DISK_BYTES, *([FILLER_BYTES] * fillers), *([DISK_BYTES] if fillers else [])]
    disks = [Disk(image=ward.images, serial=IMAGES_SERIAL, is_read_only=True)]
    for number, size in enumerate(sizes):
        image = folder / f"{number}.img"
        with image.open("wb") as file:
            file.truncate(size)
        disks.append(Disk(image=image, serial=f"{name}-{number}", wwn=f"0x{int(wwn, 16) + number:016x}"))
    return Machine(
        name=name,
        firmware=firmware,
        memory_mib=memory_mib,
        cores=1,
        disks=disks,
        ports=ward.ports(),
        addresses=addresses,
        mac=mac,
    )
