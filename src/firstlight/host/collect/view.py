"""Where collectors look: the machine's files, its programs and its network tables, each replaceable in tests."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from firstlight.host.collect.health import Health
from firstlight.host.collect.lab import Lab
from firstlight.host.collect.remembered import Remembered
from firstlight.host.links import netlink
from firstlight.host.links.rows import Address, Link, Route
from firstlight.host.programs import Programs
from firstlight.host.root import Root
from firstlight.host.settings import DryRun

BMC_SECONDS: Final = 900.0
HEALTH: Final = Health()
BMC: Final = Remembered[tuple[str, str]](seconds=BMC_SECONDS)


class Network(Struct, frozen=True, kw_only=True):
    """The kernel's tables, read at one moment."""

    links: tuple[Link, ...] = ()
    addresses: tuple[Address, ...] = ()
    routes: tuple[Route, ...] = ()


def read_network() -> Network:
    """The tables of the current network namespace; empty if the kernel does not tell."""
    try:
        return Network(links=netlink.links(), addresses=netlink.addresses(), routes=netlink.routes())
    except OSError:
        return Network()


class View(Struct, frozen=True, kw_only=True):
    """One machine as collectors see it."""

    root: Root
    """The machine's files."""
    programs: Programs
    """Programs of the machine, or of our image; each is optional."""
    own: Root = Root()
    """Files of our own image: the names of PCI devices."""
    network: Callable[[], Network] = read_network
    lab: Lab | None = None
    dry_run: DryRun | None = None
    health: Health = HEALTH
    bmc: Remembered[tuple[str, str]] = BMC
    """Both remember between two looks at the machine what programs had to be asked for."""

    def dmi(self, name: str) -> str | None:
        """One file of /sys/class/dmi/id, trimmed; None if it is missing or forbidden."""
        return dmi_value(self.root, name, lab=self.lab)


def dmi_value(root: Root, name: str, *, lab: Lab | None) -> str | None:
    return root.line(f"/sys/class/dmi/id/{name}") if lab is None else lab.dmi.get(name)
