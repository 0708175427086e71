"""Faults by name: what each breaks, and how the service should take it.

`small-disk,no-ntp@worker-1` puts two faults together, the second on a machine named by the user; without a name the
seed chooses. Every fault knows its expected end, so that a run can say whether the service got there.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from firstlight.simulate.machines import GB, Machine
from firstlight.simulate.site import Site

SMALL_DISK_BYTES: Final = 20 * GB
SLOW_SYNC_MS: Final = 35
WRONG_CLOCK_SECONDS: Final = 2 * 3600
SILENT_AFTER_POLLS: Final = 4
WRITE_FAILS_AT: Final = 35


class UnknownFault(ValueError):
    """The scenario names something that cannot be broken."""


class Stops(Enum):
    """How far a cluster with the fault gets."""

    START = auto()
    """The installation cannot be started."""
    INSTALLATION = auto()
    """It starts and stands still or fails."""
    NOTHING = auto()


class Expected(Struct, frozen=True, kw_only=True):
    """How a fault shows. Empty fields expect nothing."""

    host_statuses: frozenset[str] = frozenset()
    cluster_statuses: frozenset[str] = frozenset()
    host_finding: str = ""
    """A host validation that must fail on the machine."""
    cluster_finding: str = ""
    event: str = ""


class Fault(Struct, frozen=True, kw_only=True):
    name: str
    summary: str
    expected: Expected
    machines_needed: int = 1
    harm: Callable[[Machine], Machine] | None = None
    """What is different about each machine it hits."""
    harm_site: Callable[[Site, Sequence[Machine]], None] | None = None
    stops: Stops = Stops.START
    mended_by_retry: bool = False
    """Somebody tries the host again, and then nothing is wrong."""
    on_the_first: bool = False
    """Unless somebody chooses, it hits the first machine: the last master is the one that bootstraps."""


class Hit(Struct, frozen=True, kw_only=True):
    """A fault and the machines it hits."""

    fault: Fault
    indexes: tuple[int, ...]


class Scenario(Struct, frozen=True, kw_only=True):
    hits: tuple[Hit, ...] = ()

    def only(self, stops: Stops) -> "Scenario":
        return Scenario(hits=tuple(hit for hit in self.hits if hit.fault.stops is stops))

    def applied(self, machines: Sequence[Machine], *, seed: int = 0) -> Site:
        """The site with everything broken that the scenario breaks."""
        harmed = list(machines)
        for hit in self.hits:
            for index in hit.indexes:
                if hit.fault.harm is not None:
                    harmed[index] = hit.fault.harm(harmed[index])
            if hit.fault.name == "duplicate-hostname":
                harmed[hit.indexes[1]] = replace(harmed[hit.indexes[1]], name=harmed[hit.indexes[0]].name)
        site = Site(harmed, seed=seed)
        for hit in self.hits:
            if hit.fault.harm_site is not None:
                hit.fault.harm_site(site, [harmed[index] for index in hit.indexes])
        return site


def parse_scenario(text: str, machines: Sequence[Machine], *, seed: int = 0) -> Scenario:
    """`name[@machine[+machine]],…`; UnknownFault when a fault or a machine does not exist."""
    chance = random.Random(f"faults/{seed}")  # noqa: S311 - repeatable on purpose
    words = [word.strip() for word in text.split(",") if word.strip() and word.strip() != "healthy"]
    return Scenario(hits=tuple(_hit(word, machines, chance) for word in words))


def _hit(word: str, machines: Sequence[Machine], chance: random.Random) -> Hit:
    name, _, places = word.partition("@")
    fault = FAULTS.get(name)
    if fault is None:
        raise UnknownFault(f"There is no fault '{name}'. Choose from: {', '.join(sorted(FAULTS))}.")
    if len(machines) < fault.machines_needed:
        raise UnknownFault(f"Fault '{name}' needs {fault.machines_needed} machines; there are {len(machines)}.")
    if places:
        indexes = tuple(_index_of(place, machines) for place in places.split("+"))
    elif fault.on_the_first:
        indexes = tuple(range(fault.machines_needed))
    else:
        indexes = tuple(chance.sample(range(len(machines)), fault.machines_needed))
    if len(set(indexes)) != fault.machines_needed:
        raise UnknownFault(f"Fault '{name}' hits {fault.machines_needed} machines; name as many, each once.")
    return Hit(fault=fault, indexes=indexes)


def _index_of(place: str, machines: Sequence[Machine]) -> int:
    for machine in machines:
        if machine.name == place or str(machine.index) == place:
            return machine.index
    raise UnknownFault(
        f"There is no machine '{place}'. Choose from: {', '.join(machine.name for machine in machines)}."
    )


# --- the faults -------------------------------------------------------------------------------------------------------

INSUFFICIENT: Final = frozenset({"insufficient"})
WAITS_FOR_USER: Final = frozenset({"installing-pending-user-action"})


def _shrink_disks(machine: Machine) -> Machine:
    return replace(machine, disks=tuple(replace(disk, size_bytes=SMALL_DISK_BYTES) for disk in machine.disks))


def _slow_disks(machine: Machine) -> Machine:
    return replace(machine, disks=tuple(replace(disk, sync_ms=SLOW_SYNC_MS) for disk in machine.disks))


def _cut_link(site: Site, machines: Sequence[Machine]) -> None:
    site.cut_links.add(frozenset(machine.id for machine in machines))


def _wildcard(site: Site, _: Sequence[Machine]) -> None:
    site.wildcard_dns = True


def _take_vip(site: Site, _: Sequence[Machine]) -> None:
    site.taken_vip_types.add("api")
    site.strangers.add(site.network.api_vip)


def _slow_operator(site: Site, _: Sequence[Machine]) -> None:
    site.slow_operators.add("*")


_ALL: Final = (
    Fault(
        name="small-disk",
        summary="every disk of one machine is too small to install on",
        harm=_shrink_disks,
        expected=Expected(host_statuses=INSUFFICIENT, host_finding="has-min-valid-disks"),
    ),
    Fault(
        name="no-ntp",
        summary="one machine reaches no time server",
        harm=lambda machine: replace(machine, reaches_ntp=False),
        expected=Expected(host_finding="ntp-synced"),
        stops=Stops.NOTHING,
    ),
    Fault(
        name="duplicate-hostname",
        summary="two machines have the same name",
        machines_needed=2,
        expected=Expected(host_statuses=INSUFFICIENT, host_finding="hostname-unique"),
    ),
    Fault(
        name="silent-host",
        summary="one agent stops asking soon after its registration",
        harm=lambda machine: replace(machine, silent_after_polls=SILENT_AFTER_POLLS),
        expected=Expected(host_statuses=frozenset({"disconnected"}), host_finding="connected"),
    ),
    Fault(
        name="wrong-boot-order",
        summary="one machine starts the discovery medium again after it was installed",
        harm=lambda machine: replace(machine, boots_wrong=True),
        expected=Expected(host_statuses=WAITS_FOR_USER, cluster_statuses=WAITS_FOR_USER),
        stops=Stops.INSTALLATION,
    ),
    Fault(
        name="failed-write",
        summary="writing the disk of one machine fails",
        harm=lambda machine: replace(machine, write_fails_at_percent=WRITE_FAILS_AT),
        expected=Expected(host_statuses=frozenset({"error"})),
        stops=Stops.INSTALLATION,
    ),
    Fault(
        name="failed-write-once",
        summary="writing the disk of one machine fails, and somebody tries it again",
        harm=lambda machine: replace(machine, write_fails_at_percent=WRITE_FAILS_AT, write_failures=1),
        expected=Expected(host_statuses=frozenset({"error"})),
        stops=Stops.INSTALLATION,
        mended_by_retry=True,
        on_the_first=True,
    ),
    Fault(
        name="slow-operator",
        summary="one operator of the new cluster takes long to settle",
        machines_needed=0,
        harm_site=_slow_operator,
        expected=Expected(cluster_statuses=frozenset({"installed"})),
        stops=Stops.NOTHING,
    ),
    Fault(
        name="lost-link",
        summary="two machines cannot reach each other",
        machines_needed=2,
        harm_site=_cut_link,
        expected=Expected(host_statuses=INSUFFICIENT, host_finding="belongs-to-majority-group"),
    ),
    Fault(
        name="disk-slow",
        summary="the disk of one machine answers too slowly",
        harm=_slow_disks,
        expected=Expected(event="disk_speed_slower_than_supported"),
        stops=Stops.NOTHING,
    ),
    Fault(
        name="dns-wildcard",
        summary="a wildcard record hides the cluster's names",
        machines_needed=0,
        harm_site=_wildcard,
        expected=Expected(host_statuses=INSUFFICIENT, host_finding="dns-wildcard-not-configured"),
    ),
    Fault(
        name="vip-taken",
        summary="something answers at the API virtual address already",
        machines_needed=0,
        harm_site=_take_vip,
        expected=Expected(cluster_statuses=INSUFFICIENT, cluster_finding="api-vips-valid"),
    ),
    Fault(
        name="clock-skew",
        summary="the clock of one machine is two hours ahead",
        harm=lambda machine: replace(machine, clock_offset_seconds=WRONG_CLOCK_SECONDS),
        expected=Expected(host_statuses=INSUFFICIENT, host_finding="time-synced-between-host-and-service"),
    ),
)
FAULTS: Final[Mapping[str, Fault]] = {fault.name: fault for fault in _ALL}
