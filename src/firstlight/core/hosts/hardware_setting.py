"""The hardware table as an administrator writes it (HW_VALIDATOR_REQUIREMENTS): gaps are filled from its default."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.hosts.requirements import DEFAULT, EXACT, MIN_VERSION, NeedsOf, release_number
from firstlight.core.model.policy import DEFAULT_HARDWARE, HardwareMinimum, VersionedHardware


class _Limits(Struct, frozen=True, kw_only=True):
    cpu_cores: int | None = None
    ram_mib: int | None = None
    disk_size_gb: int | None = None
    installation_disk_speed_threshold_ms: int | None = None
    network_latency_threshold_ms: float | None = None
    packet_loss_percentage: float | None = None


class _Entry(Struct, frozen=True, kw_only=True):
    version: str
    match_type: str = ""
    master: _Limits | None = None
    worker: _Limits | None = None
    arbiter: _Limits | None = None
    sno: _Limits | None = None
    edge_worker: _Limits | None = msgspec.field(default=None, name="edge-worker")


_NOTHING: Final = _Limits()
_ROLE: Final[Mapping[NeedsOf, Callable[[_Entry], _Limits | None]]] = {
    NeedsOf.MASTER: lambda entry: entry.master,
    NeedsOf.WORKER: lambda entry: entry.worker,
    NeedsOf.ARBITER: lambda entry: entry.arbiter,
    NeedsOf.SINGLE_NODE: lambda entry: entry.sno,
    NeedsOf.EDGE_WORKER: lambda entry: entry.edge_worker,
}
_LIKE_WORKER: Final = frozenset({NeedsOf.ARBITER, NeedsOf.EDGE_WORKER})


def parse_hardware(decoded: object) -> tuple[VersionedHardware, ...]:
    """The table of a decoded JSON array; an empty one means the built-in table. Invalid when it cannot be meant."""
    try:
        entries = msgspec.convert(decoded, tuple[_Entry, ...])
    except msgspec.ValidationError as problem:
        raise _refused(f"cannot be read: {problem}") from None
    if not entries:
        return DEFAULT_HARDWARE
    _check_entries(entries)
    default = next((entry for entry in entries if entry.version == DEFAULT), None)
    return tuple(_completed(entry, default) for entry in entries)


def _check_entries(entries: tuple[_Entry, ...]) -> None:
    seen: set[tuple[object, str]] = set()
    for entry in entries:
        if entry.match_type not in ("", EXACT, MIN_VERSION):
            raise _refused(f"has the match_type '{entry.match_type}'. Use {EXACT} or {MIN_VERSION}", entry)
        if entry.version == DEFAULT and entry.match_type == MIN_VERSION:
            raise _refused(f"names the default as {MIN_VERSION}. Leave the match_type of the default out", entry)
        number = release_number(entry.version)
        if entry.version != DEFAULT and number is None:
            raise _refused("is not for a version. Write it as 4.18, or use 'default'", entry)
        key = (entry.version if number is None else number, entry.match_type or EXACT)
        if key in seen:
            raise _refused("appears twice", entry)
        seen.add(key)
    needing = next((entry for entry in entries if entry.match_type == MIN_VERSION), None)
    if needing is not None and all(entry.version != DEFAULT for entry in entries):
        raise _refused(f"is a {MIN_VERSION}, which needs an entry named 'default' to build on", needing)


def _completed(entry: _Entry, default: _Entry | None) -> VersionedHardware:
    limits = {name: _limits_of(entry, name, default=default) for name in NeedsOf}
    return VersionedHardware(
        version=entry.version,
        match_type=entry.match_type or EXACT,
        master=limits[NeedsOf.MASTER],
        worker=limits[NeedsOf.WORKER],
        arbiter=limits[NeedsOf.ARBITER],
        sno=limits[NeedsOf.SINGLE_NODE],
        edge_worker=limits[NeedsOf.EDGE_WORKER],
    )


def _limits_of(entry: _Entry, name: NeedsOf, *, default: _Entry | None) -> HardwareMinimum:
    own = _ROLE[name](entry)
    inherited = None if default is None else _ROLE[name](default)
    if own is None and inherited is None and name in _LIKE_WORKER:
        return _limits_of(entry, NeedsOf.WORKER, default=default)
    if own is None and inherited is None:
        raise _refused(f"says nothing about the role {name}", entry)
    merged = _merged(own or _NOTHING, inherited or _NOTHING)
    cpu_cores = _amount(merged.cpu_cores, "cpu_cores", name, entry)
    ram_mib = _amount(merged.ram_mib, "ram_mib", name, entry)
    disk_size_gb = _amount(merged.disk_size_gb, "disk_size_gb", name, entry)
    for limit, given in (
        ("installation_disk_speed_threshold_ms", merged.installation_disk_speed_threshold_ms),
        ("network_latency_threshold_ms", merged.network_latency_threshold_ms),
        ("packet_loss_percentage", merged.packet_loss_percentage),
    ):
        # Written this way round so that a limit that is no number is refused too.
        if given is not None and not given >= 0:
            raise _refused(f"has a {limit} below zero for the role {name}", entry)
    return HardwareMinimum(
        cpu_cores=cpu_cores,
        ram_mib=ram_mib,
        disk_size_gb=disk_size_gb,
        disk_speed_threshold_ms=merged.installation_disk_speed_threshold_ms,
        network_latency_threshold_ms=merged.network_latency_threshold_ms,
        packet_loss_percentage=merged.packet_loss_percentage,
    )


def _merged(own: _Limits, inherited: _Limits) -> _Limits:
    given = {key: value for key, value in msgspec.structs.asdict(own).items() if value is not None}
    return msgspec.structs.replace(inherited, **given)


def _amount(given: int | None, field: str, name: NeedsOf, entry: _Entry) -> int:
    if given is None or given <= 0:
        raise _refused(f"needs a {field} above zero for the role {name}", entry)
    return given


def _refused(problem: str, entry: _Entry | None = None) -> Invalid:
    subject = "HW_VALIDATOR_REQUIREMENTS" if entry is None else f"The hardware entry '{entry.version}'"
    return Invalid(f"{subject} {problem}.", code="hardware-requirements")
