"""Where a measurement begins to matter: between two limits of the policy, every value means the same."""

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import Struct

from firstlight.core.model.policy import Policy, VersionedHardware

SLOWEST_PULL_MBPS: Final = 0.001
"""An image that came more slowly did not really come."""


class Limits(Struct, frozen=True, kw_only=True):
    """Sorted, distinct limits of all roles."""

    latency_ms: tuple[float, ...] = ()
    loss_percent: tuple[float, ...] = ()
    disk_speed_ms: tuple[float, ...] = ()


def limits_of(policy: Policy) -> Limits:
    return _limits_in(policy.hardware)


@lru_cache(maxsize=16)
def _limits_in(hardware: tuple[VersionedHardware, ...]) -> Limits:
    roles = [
        role for entry in hardware for role in (entry.master, entry.worker, entry.arbiter, entry.sno, entry.edge_worker)
    ]
    return Limits(
        latency_ms=_distinct(role.network_latency_threshold_ms for role in roles),
        loss_percent=_distinct(role.packet_loss_percentage for role in roles),
        disk_speed_ms=_distinct(role.disk_speed_threshold_ms for role in roles),
    )


def _distinct(values: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(sorted({float(value) for value in values if value is not None}))


def band(value: float, *, limits: tuple[float, ...]) -> int:
    """How many limits `value` exceeds; a value equal to a limit keeps it."""
    return bisect_left(limits, value)


DEFAULT_LIMITS: Final = limits_of(Policy())


def smallest_latency(limits: Limits) -> float:
    """Paths at most this slow concern no role."""
    return limits.latency_ms[0] if limits.latency_ms else float("inf")
