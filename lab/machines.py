"""Virtual machines under QEMU without hardware help (KVM is not to be relied on), with a serial console in a file.

A machine reaches nothing but the loopback ports it was given, at `GATEWAY`, whatever its software tries.
"""

import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from lab.building import part, tool

GATEWAY: Final = "10.0.2.100"
"""Where a machine finds the servers it was given, under their own port numbers."""
FORWARDER: Final = Path(__file__).with_name("forward.py")
BOOT_SECONDS: Final = 600
"""A boot takes one minute on an idle machine; a busy one may need many times that."""
SHOWN: Final = 6_000
POLL_SECONDS: Final = 0.2


class MachineFailed(Exception):
    """A machine ended early, or went on for too long; the text has the end of its console."""


class Firmware(StrEnum):
    BIOS = "bios"
    UEFI = "uefi"


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectBoot:
    """What a network boot loader would have fetched."""

    kernel: Path
    initrd: Path
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A raw image. With a world-wide name it is a SCSI disk and the machine has /dev/disk/by-id/wwn-…, else virtio."""

    image: Path
    serial: str
    wwn: str = ""
    """As udev writes it: 0x5000c500…"""
    is_read_only: bool = False
    """Several machines may use it at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One more address at which the machine finds a loopback port of its host."""

    ip: str
    port: int
    leads_to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    name: str
    firmware: Firmware = Firmware.BIOS
    memory_mib: int = 1024
    cores: int = 2
    cdrom: Path | None = None
    usb: Path | None = None
    """The same image as on a CD, but on a stick: read from its first sector as a disk."""
    disks: Sequence[Disk] = ()
    direct: DirectBoot | None = None
    ports: Sequence[int] = ()
    """Loopback ports of this machine that the virtual one may use."""
    addresses: Sequence[Address] = ()
    mac: str = "52:54:00:00:00:01"


@dataclass(slots=True, kw_only=True)
class RunningMachine:
    machine: Machine
    process: subprocess.Popen[bytes]
    console_file: Path
    messages: Path
    cpu_seconds: float = 0.0
    """As of the last look at it."""

    @property
    def console(self) -> str:
        return self.console_file.read_text(errors="replace") if self.console_file.exists() else ""

    @property
    def is_on(self) -> bool:
        return self.process.poll() is None

    def wait_until_off(self, *, seconds: float = BOOT_SECONDS) -> None:
        """It switched itself off. MachineFailed when it does not, or ended in another way."""
        self.wait_for(lambda: not self.is_on, "switched off", seconds=seconds)
        if self.process.returncode:
            raise MachineFailed(self._story(f"ended with {self.process.returncode}"))

    def wait_for_text(self, text: str, *, seconds: float = BOOT_SECONDS) -> None:
        """Its console has shown the text."""
        self.wait_for(lambda: text in self.console, f"wrote {text!r}", seconds=seconds)

    def wait_for(self, true: Callable[[], bool], what: str, *, seconds: float = BOOT_SECONDS) -> None:
        """MachineFailed when the machine went off, or time ran out, before it was true."""
        end = time.monotonic() + seconds
        while not true():
            self.cpu_seconds = _cpu_seconds(self.process.pid) or self.cpu_seconds
            if not self.is_on and not true():
                raise MachineFailed(self._story(f"was off before it {what}"))
            if time.monotonic() > end:
                raise MachineFailed(self._story(f"had not {what} after {seconds:.0f} s"))
            time.sleep(POLL_SECONDS)

    def _story(self, what: str) -> str:
        said = self.messages.read_text(errors="replace")
        return (
            f"The machine {self.machine.name} {what}. Its console ends with:\n{self.console[-SHOWN:]}\n{said[-SHOWN:]}"
        )


@contextmanager
def running(machine: Machine, folder: Path) -> Generator[RunningMachine]:
    """`folder` takes its console and its firmware's memory. When the block ends, the machine is off."""
    folder.mkdir(parents=True, exist_ok=True)
    console, messages = folder / f"{machine.name}.console", folder / f"{machine.name}.qemu"
    console.unlink(missing_ok=True)
    command = qemu(machine, console=console, variables=_variables(machine, folder))
    with messages.open("wb") as output:
        # A session of its own: kernels share processors out among sessions first.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    started = RunningMachine(machine=machine, process=process, console_file=console, messages=messages)
    begun = time.monotonic()
    try:
        yield started
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        wall = time.monotonic() - begun
        print(f"lab: {machine.name}: {started.cpu_seconds:.0f} CPU seconds, {wall:.0f} by the clock", flush=True)


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _variables(machine: Machine, folder: Path) -> Path | None:
    """What UEFI remembers belongs to one machine, and survives its reboots."""
    if machine.firmware is not Firmware.UEFI:
        return None
    own = folder / f"{machine.name}.variables"
    if not own.exists():
        shutil.copyfile(part("/usr/share/OVMF/OVMF_VARS_4M.fd", package="ovmf"), own)
    return own


def qemu(machine: Machine, *, console: Path, variables: Path | None) -> list[str]:
    """The command. `-no-reboot` makes a reboot an end: whoever wants it to go on starts it again."""
    words = ["nice", tool("qemu-system-x86_64", package="qemu-system-x86"), "-name", machine.name]
    words += ["-accel", "tcg,thread=multi", "-machine", "pc", "-cpu", "Nehalem", "-smp", str(machine.cores)]
    words += ["-m", str(machine.memory_mib), "-display", "none", "-monitor", "none", "-no-reboot", "-nodefaults"]
    words += ["-serial", f"file:{console}", "-device", "virtio-rng-pci"]
    words += network(machine)
    if variables is not None:
        code = part("/usr/share/OVMF/OVMF_CODE_4M.fd", package="ovmf")
        words += ["-drive", f"if=pflash,format=raw,readonly=on,file={code}"]
        words += ["-drive", f"if=pflash,format=raw,file={variables}"]
    if machine.cdrom is not None:
        words += ["-drive", f"file={machine.cdrom},media=cdrom,readonly=on,if=ide,format=raw"]
    words += disks(machine)
    if machine.usb is not None:
        words += ["-device", "qemu-xhci", "-drive", f"file={machine.usb},if=none,id=stick,format=raw,readonly=on"]
        words += ["-device", "usb-storage,drive=stick,bootindex=0"]
    if machine.direct is not None:
        words += ["-kernel", str(machine.direct.kernel), "-initrd", str(machine.direct.initrd)]
        words += ["-append", machine.direct.arguments]
    elif machine.cdrom is not None and machine.firmware is Firmware.BIOS:
        words += ["-boot", "d"]
    return words


def disks(machine: Machine) -> list[str]:
    """SCSI disks are targets of one controller, in their order; UEFI looks at the first only."""
    words = ["-device", "virtio-scsi-pci,id=scsi"] if any(disk.wwn for disk in machine.disks) else []
    targets = itertools.count()
    for number, disk in enumerate(machine.disks):
        mode = "readonly=on" if disk.is_read_only else "discard=unmap"
        words += ["-drive", f"file={disk.image},if=none,id=disk{number},format=raw,cache=unsafe,{mode}"]
        named = f"drive=disk{number},serial={disk.serial}"
        if disk.wwn:
            words += ["-device", f"scsi-hd,bus=scsi.0,channel=0,scsi-id={next(targets)},lun=0,wwn={disk.wwn},{named}"]
        else:
            words += ["-device", f"virtio-blk-pci,{named}"]
    return words


def network(machine: Machine) -> list[str]:
    """One card, behind which nothing answers but a DHCP server and the named ports."""
    plain = [Address(ip=GATEWAY, port=port, leads_to=port) for port in machine.ports]
    forwards = "".join(
        f",guestfwd=tcp:{one.ip}:{one.port}-cmd:{sys.executable} -I {FORWARDER} 127.0.0.1 {one.leads_to}"
        for one in (*plain, *machine.addresses)
    )
    card = f"virtio-net-pci,netdev=n0,mac={machine.mac}"
    # Without a boot ROM for the card, the firmware does not try the network first.
    return ["-netdev", f"user,id=n0,restrict=on{forwards}", "-device", f"{card},romfile="]
