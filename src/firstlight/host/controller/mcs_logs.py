"""Who asked the new cluster's machine-config servers for a configuration, by their logs.

Each log is read once from its beginning and then from where it was read last: neither a stall nor a restart hides
anybody.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from firstlight.host.calling import Refused, Unreachable
from firstlight.host.controller.objects import Pod
from firstlight.host.controller.site import Site
from firstlight.host.recognising import Address, ignited_addresses

PODS: Final = "/api/v1/namespaces/openshift-machine-config-operator/pods"
LABEL: Final = "k8s-app=machine-config-server"
MOST_LINES: Final = 20_000
OVERLAP: Final = timedelta(minutes=2)
"""Clocks of nodes differ, and a line may be written after its time."""


class _Pods(msgspec.Struct):
    items: tuple[Pod, ...] | None = None


class McsLogs:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen: frozenset[Address] = frozenset()
        self._forgotten: dict[Address, datetime] = {}
        """Since when an address counts only if it asks again."""
        self._read: dict[tuple[str, int], datetime] = {}
        """Pod and its restarts → until when its log was read."""

    async def addresses(self) -> frozenset[Address]:
        """All who ever asked. A server that shows no log is no reason to stop."""
        site = self._site
        try:
            pods = (await site.kube.read(_Pods, PODS, query={"labelSelector": LABEL})).items or ()
        except (Refused, Unreachable) as trouble:
            site.log.once(PODS, f"The machine-config servers cannot be found: {trouble}.")
            pods = ()
        for pod in pods:
            life = (pod.metadata.uid, pod.restarts)
            if pod.restarts and life not in self._read:
                await self._look(pod, {"previous": "true", "tailLines": str(MOST_LINES)})
            now, before = datetime.now(UTC), self._read.get(life)
            since = {"sinceTime": (before - OVERLAP).strftime("%Y-%m-%dT%H:%M:%SZ")} if before is not None else {}
            if await self._look(pod, {"tailLines": str(MOST_LINES), **since}):
                self._read[life] = now
        return self._seen

    def forget(self, addresses: frozenset[Address]) -> None:
        """They count again when they ask again: what they asked before may be read once more."""
        self._seen -= addresses
        self._forgotten |= dict.fromkeys(addresses, datetime.now(UTC))

    async def _look(self, pod: Pod, query: dict[str, str]) -> bool:
        path = f"{PODS}/{pod.metadata.name}/log"
        try:
            log = await self._site.kube.ask("GET", path, query={**query, "timestamps": "true"})
        except (Refused, Unreachable) as trouble:
            self._site.log.once(path, f"The log of {pod.metadata.name} cannot be read: {trouble}.")
            return False
        for line in log.decode("utf-8", "replace").splitlines():
            self._seen |= {address for address in ignited_addresses(line) if self._is_news(address, line)}
        return True

    def _is_news(self, address: Address, line: str) -> bool:
        """Also when nobody stamped the line: better too early than never."""
        forgotten, written = self._forgotten.get(address), _time_of(line)
        return forgotten is None or written is None or written > forgotten


def _time_of(line: str) -> datetime | None:
    """When a line was written, which the kubelet puts before it."""
    try:
        written = datetime.fromisoformat(line.partition(" ")[0])
    except ValueError:
        return None
    return written if written.tzinfo is not None else None
