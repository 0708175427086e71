"""When are two reports the same to whoever decides? Equal digests mean that there is nothing new to think about.

Order does not count, and neither does a measurement that moves between two limits.
"""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from operator import attrgetter
from typing import Final, cast

import msgspec
from msgspec.structs import replace

from firstlight.core.model.inventory import Inventory
from firstlight.core.model.reports import (
    ApiVipReply,
    Connectivity,
    DiskSpeed,
    ImageStatus,
    NtpSource,
    ReportKind,
    Resolution,
    TangReply,
)
from firstlight.core.steps.limits import DEFAULT_LIMITS, SLOWEST_PULL_MBPS, Limits, band

ReportFacts = (
    Inventory
    | Connectivity
    | tuple[NtpSource, ...]
    | dict[str, Resolution]
    | dict[str, ImageStatus]
    | dict[str, DiskSpeed]
    | TangReply
    | ApiVipReply
    | dict[str, bytes]
    | dict[str, bool]
)
"""What one report may consist of: the fields of Reports."""

_ENCODER: Final = msgspec.msgpack.Encoder(order="deterministic")


def digest(kind: ReportKind, facts: ReportFacts, *, limits: Limits = DEFAULT_LIMITS) -> str:
    reduced = _REDUCERS[kind](facts, limits)
    return blake2b(_ENCODER.encode(reduced), digest_size=16).hexdigest()


def _inventory(facts: object, _limits: Limits) -> object:
    inventory = cast("Inventory", facts)
    # The clock rate of a modern CPU never stands still.
    return replace(
        inventory,
        cpu=replace(inventory.cpu, frequency=0.0, flags=tuple(sorted(inventory.cpu.flags))),
        disks=tuple(sorted(inventory.disks, key=attrgetter("id"))),
        interfaces=tuple(
            sorted(
                [
                    replace(interface, ipv4=tuple(sorted(interface.ipv4)), ipv6=tuple(sorted(interface.ipv6)))
                    for interface in inventory.interfaces
                ],
                key=attrgetter("name", "mac"),
            )
        ),
        routes=tuple(
            sorted(inventory.routes, key=attrgetter("family", "destination", "interface", "gateway", "metric"))
        ),
        gpus=tuple(sorted(inventory.gpus, key=attrgetter("address", "vendor_id", "device_id"))),
    )


def _connectivity(facts: object, limits: Limits) -> object:
    seen = cast("Connectivity", facts)
    return (
        seen.asked,
        seen.layer2,
        sorted(seen.layer3.items()),
        sorted((peer.host_id.bytes, peer.version, peer.answered) for peer in seen.partial),
        sorted((path.host_id.bytes, path.address, band(path.rtt_ms, limits=limits.latency_ms)) for path in seen.slow),
        sorted(
            (path.host_id.bytes, path.address, band(path.loss_percent, limits=limits.loss_percent))
            for path in seen.lossy
        ),
        sorted((path.host_id.bytes, path.interface, path.address) for path in seen.broken_mtu),
        seen.collisions,
    )


def _ntp(facts: object, _limits: Limits) -> object:
    return sorted((source.name, source.state) for source in cast("tuple[NtpSource, ...]", facts))


def _domains(facts: object, _limits: Limits) -> object:
    found = cast("Mapping[str, Resolution]", facts)
    return {name: (sorted(answer.addresses), sorted(answer.cnames)) for name, answer in found.items()}


def _images(facts: object, _limits: Limits) -> object:
    images = cast("Mapping[str, ImageStatus]", facts)
    return {name: (image.success, crawls(image)) for name, image in images.items()}


def crawls(image: ImageStatus) -> bool:
    """Pulled, but so slowly that it counts as not available."""
    return image.size_bytes > 0 and image.megabytes_per_second < SLOWEST_PULL_MBPS


def _disk_speeds(facts: object, limits: Limits) -> object:
    speeds = cast("Mapping[str, DiskSpeed]", facts)
    return {
        path: (speed.exit_code, band(speed.speed_ms, limits=limits.disk_speed_ms), speed.error)
        for path, speed in speeds.items()
    }


def _as_it_is(facts: object, _limits: Limits) -> object:
    return facts


_REDUCERS: Final[Mapping[ReportKind, Callable[[object, Limits], object]]] = {
    ReportKind.INVENTORY: _inventory,
    ReportKind.CONNECTIVITY: _connectivity,
    ReportKind.NTP: _ntp,
    ReportKind.DOMAINS: _domains,
    ReportKind.IMAGES: _images,
    ReportKind.DISK_SPEEDS: _disk_speeds,
    ReportKind.TANG: _as_it_is,
    ReportKind.API_VIP: _as_it_is,
    ReportKind.FREE_ADDRESSES: _as_it_is,
    ReportKind.VIPS: _as_it_is,
}
