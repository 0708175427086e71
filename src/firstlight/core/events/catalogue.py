"""Every event class by its name, and which names are told at most once in a while."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType, ModuleType
from typing import Final

from firstlight.core.events import cluster, host, infra_env, metrics
from firstlight.core.events.event import Event


def _declared(module: ModuleType) -> tuple[type[Event], ...]:
    """The classes written in `module` itself, in order."""
    return tuple(
        found
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, Event) and found.__module__ == module.__name__
    )


NAMED_EVENTS: Final = (*_declared(cluster), *_declared(host), *_declared(infra_env))
METRICS_EVENTS: Final = _declared(metrics)

BY_NAME: Final[Mapping[str, type[Event]]] = MappingProxyType({event.name: event for event in NAMED_EVENTS})

RATE_LIMITS: Final[Mapping[str, timedelta]] = MappingProxyType(
    {
        host.AgentUpgradeStarted.name: timedelta(hours=1),
        host.AgentUpgradeFinished.name: timedelta(hours=1),
        host.AgentUpgradeFailed.name: timedelta(hours=1),
    }
)
"""A repeat of the event for the same cluster, host and infra-env within this time is not told again."""


def rate_limits(configured: Mapping[str, timedelta]) -> Mapping[str, timedelta]:
    """The built-in limits with the configured ones on top."""
    return {**RATE_LIMITS, **configured}
