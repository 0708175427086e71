"""A machine that is installed for real: started live, its disk read from outside, and started from that disk."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lab.machines import Firmware, Machine
from tests.lab.guests.couriers import Report
from tests.lab.guests.reading import InstalledDisk
from tests.lab.guests.scripts import FIRST_BOOT
from tests.lab.guests.wards import Ward

RUNS = "The installed system runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDisk:
    """What an installation left, read before anything started from it."""

    partitions: list[str]
    ignition: bytes
    ignition_mode: int
    options: str
    boot_files: list[str]
    profiles: Mapping[str, bytes]


@dataclass(slots=True, kw_only=True)
class Guest:
    """What is known of a machine so far."""

    role: str
    name: str
    """What the installed system is called; roles are dealt by the service, so it need not say the role."""
    machine: Machine
    ignition: bytes = b""
    """As the service serves it to the host's installer."""
    stages: list[tuple[str, str]] = field(default_factory=list)
    """With what was said beside them, in the service's words."""
    live: Report | None = None
    on_disk: OnDisk | None = None
    booted: Report | None = None
    inventory: Mapping[str, Any] = field(default_factory=dict)
    """What its own agent told."""

    def notice(self, stage: str, info: str) -> None:
        if not self.stages or self.stages[-1] != (stage, info):
            self.stages.append((stage, info))

    @property
    def stage_names(self) -> list[str]:
        return list(dict.fromkeys(stage for stage, _ in self.stages if stage))

    @property
    def is_light(self) -> bool:
        """The service knows that the installed system runs."""
        return any(RUNS in info for _, info in self.stages)


def read_disk(image: Path) -> OnDisk:
    disk = InstalledDisk(image)
    entry = disk.on_boot("/loader/entries/lab-1.conf").decode()
    return OnDisk(
        partitions=list(disk.partitions),
        ignition=disk.on_boot("/ignition/config.ign"),
        ignition_mode=disk.mode_on_boot("/ignition/config.ign"),
        options=next(line.removeprefix("options ") for line in entry.splitlines() if line.startswith("options ")),
        boot_files=disk.listed_on_boot("/"),
        profiles=disk.profiles(),
    )


def run_installed(ward: Ward, guest: Guest) -> None:
    """From the disk. The discovery image stays in the drive of a machine whose firmware has been told better."""
    machine = guest.machine
    if machine.firmware is Firmware.BIOS:
        machine = replace(machine, cdrom=None)
    ward.courier.expect(machine.mac, FIRST_BOOT)
    with ward.running(machine) as started:
        guest.booted = ward.report_of(machine, started)
        assert guest.booted.code == 0, guest.booted.text("said")
        assert "root" in guest.booted.files, f"{machine.name} did not start from its disk: {_firmware(guest.booted)}"
        ward.wait(started, lambda: guest.is_light, "told the service about its first boot", seconds=600)


def _firmware(report: Report) -> str:
    return report.files.get("boot-order", b"it has no EFI").decode(errors="replace")
