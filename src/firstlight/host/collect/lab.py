"""A laboratory setting: loop devices count as disks and DMI values are made up, so that one machine plays many.

It is refused outside a network namespace of its own: on a real machine nobody may call a loop device a disk.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.host.root import Root

VARIABLE: Final = "FIRSTLIGHT_AGENT_LAB"
OWN_NETWORK: Final = "/proc/self/ns/net"
FIRST_NETWORK: Final = "/proc/1/ns/net"
KERNEL_THREADS: Final = "/proc/2"
"""Where the first process hides its namespaces, the kernel's own threads tell theirs, which are the machine's."""


class LabDisk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A loop device that is to look like a disk."""

    device: str
    """Its path, such as /dev/loop3."""
    model: str = ""
    serial: str = ""
    vendor: str = ""
    wwn: str = ""
    drive_type: str = "SSD"
    bootable: bool = False

    @property
    def name(self) -> str:
        return self.device.removeprefix("/dev/")


class Lab(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is made up. With it no disk of the machine itself is shown, and veth interfaces count as hardware."""

    disks: tuple[LabDisk, ...] = ()
    dmi: dict[str, str] = {}
    """Files of /sys/class/dmi/id by name, such as board_serial and product_uuid; others do not exist."""
    host_id: UUID | None = None
    hostname: str = ""
    cpu_count: int = 0
    memory_bytes: int = 0

    @property
    def devices(self) -> frozenset[str]:
        return frozenset(disk.device for disk in self.disks)


def load_lab(environment: Mapping[str, str], *, root: Root | None = None) -> Lab | None:
    """The setting the environment names, None without one; `Invalid` if it cannot be used here."""
    name = environment.get(VARIABLE, "")
    if not name:
        return None
    tree = root or Root()
    own, first = tree.link(OWN_NETWORK), tree.link(FIRST_NETWORK)
    if first is None and tree.line(f"{KERNEL_THREADS}/comm") == "kthreadd":
        first = tree.link(f"{KERNEL_THREADS}/ns/net")
    if own is None or first is None or own == first:
        raise Invalid(
            f"{VARIABLE} is for laboratories: it is refused outside a network namespace of its own."
            " Unset it, or start the agent inside such a namespace."
        )
    try:
        data = Path(name).read_bytes()
        decode = msgspec.toml.decode if name.endswith(".toml") else msgspec.json.decode
        lab = decode(data, type=Lab)
    except (OSError, ValueError) as reason:
        raise Invalid(f"The laboratory setting {name} cannot be used: {reason}") from None
    for disk in lab.disks:
        if not disk.device.startswith("/dev/loop"):
            raise Invalid(f"The laboratory setting {name} names {disk.device}; only loop devices are admitted.")
    return lab
