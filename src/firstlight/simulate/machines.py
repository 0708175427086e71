"""Simulated machines: what is in them, and what is wrong with them."""

import random
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.simulate.networks import Network

GIB: Final = 1 << 30
GB: Final = 10**9

MODELS: Final = (
    ("Dell Inc.", "PowerEdge R650"),
    ("HPE", "ProLiant DL360 Gen10"),
    ("Lenovo", "ThinkSystem SR630"),
    ("Supermicro", "SYS-1029P"),
)


class DiskSpec(Struct, frozen=True, kw_only=True):
    name: str
    size_bytes: int
    drive_type: str
    serial: str
    wwn: str
    sync_ms: int
    """The slow end of its synchronous writes."""


class Machine(Struct, frozen=True, kw_only=True):
    """One machine. The fields after the address are its troubles; a healthy machine has none."""

    index: int
    id: UUID
    name: str
    manufacturer: str
    product: str
    serial: str
    cpu_cores: int
    memory_bytes: int
    disks: tuple[DiskSpec, ...]
    mac: str
    address: str
    network: Network

    clock_offset_seconds: int = 0
    reaches_ntp: bool = True
    silent_after_polls: int | None = None
    """The agent stops after it asked this often."""
    boots_wrong: bool = False
    """After its installation the machine starts the discovery medium once more."""
    write_fails_at_percent: int | None = None
    write_failures: int | None = None
    """How many installers in a row fail so; None: every one."""


class Plan(Struct, frozen=True, kw_only=True):
    """How many machines of which size; a plain count means all can be anything."""

    masters: int = 0
    workers: int = 0
    any_role: int = 0

    @property
    def count(self) -> int:
        return self.masters + self.workers + self.any_role


def make_machines(plan: Plan, *, seed: int = 0, salt: str = "", network: Network | None = None) -> tuple[Machine, ...]:
    """The same `seed` and `salt` give the same machines; the salt keeps two fleets on one service apart."""
    names = [
        *(f"master-{number}" for number in range(plan.masters)),
        *(f"worker-{number}" for number in range(plan.workers)),
        *(f"host-{number}" for number in range(plan.any_role)),
    ]
    lies_in = network or Network.for_count(plan.count, seed=seed)
    chance = random.Random(f"{seed}/{salt}")  # noqa: S311 - repeatable on purpose
    return tuple(_machine(index, name, chance, lies_in) for index, name in enumerate(names))


def _machine(index: int, name: str, chance: random.Random, network: Network) -> Machine:
    manufacturer, product = chance.choice(MODELS)
    is_worker = name.startswith("worker")
    memory = chance.choice((8, 12)) if is_worker else chance.choice((16, 24, 32))
    return Machine(
        index=index,
        id=UUID(int=chance.getrandbits(128), version=4),
        name=name,
        manufacturer=manufacturer,
        product=product,
        serial=f"SIM{chance.getrandbits(40):010X}",
        cpu_cores=chance.choice((2, 4)) if is_worker else chance.choice((8, 16)),
        memory_bytes=memory * GIB,
        disks=_disks(chance),
        # The index makes it unique in the fleet, chance among fleets.
        mac=":".join(f"{byte:02x}" for byte in b"\x52\x54" + chance.randbytes(2) + index.to_bytes(2, "big")),
        address=network.host_address(index),
        network=network,
    )


def _disks(chance: random.Random) -> tuple[DiskSpec, ...]:
    first = DiskSpec(
        name="sda",
        size_bytes=chance.choice((120, 240, 480)) * GB,
        drive_type="SSD",
        serial=f"DISK{chance.getrandbits(32):08X}",
        wwn=f"0x5000c500{chance.getrandbits(32):08x}",
        sync_ms=chance.randint(1, 6),
    )
    if chance.random() < 0.5:
        return (first,)
    return (
        first,
        DiskSpec(
            name="sdb",
            size_bytes=chance.choice((1000, 2000)) * GB,
            drive_type="HDD",
            serial=f"DISK{chance.getrandbits(32):08X}",
            wwn=f"0x5000c500{chance.getrandbits(32):08x}",
            sync_ms=chance.randint(5, 9),
        ),
    )
