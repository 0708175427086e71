"""What lies between simulated machines: cables, names, time servers, registries and addresses in use."""

import random
from collections.abc import Iterable
from functools import cached_property
from typing import Final
from uuid import UUID

from firstlight.simulate.machines import Machine
from firstlight.simulate.networks import Network

WILDCARD_PROBE: Final = "validatenowildcarddns."
RTT_MS: Final = (0.2, 0.9)
REGISTRY_ADDRESS: Final = "203.0.113.10"


class Site:
    """The one truth all machines of a fleet measure."""

    def __init__(self, machines: Iterable[Machine], *, seed: int = 0) -> None:
        self.machines = tuple(machines)
        self.by_id = {machine.id: machine for machine in self.machines}
        self.by_address = {machine.address: machine for machine in self.machines}
        self.chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
        self.cut_links: set[frozenset[UUID]] = set()
        self.wildcard_dns = False
        self.strangers: set[str] = set()
        """Addresses of devices that are none of ours."""
        self.taken_vip_types: set[str] = set()
        self.missing_images: set[str] = set()
        self.slow_operators: set[str] = set()
        """Operators that need several times as long; `*` means the first one."""
        self.serves_worker_ignition = True
        """Whether a running cluster answers day-2 hosts."""
        self._free: dict[str, tuple[str, ...]] = {}

    @cached_property
    def network(self) -> Network:
        return self.machines[0].network

    def reaches(self, one: UUID, other: UUID) -> bool:
        return frozenset((one, other)) not in self.cut_links

    def is_up(self, address: str) -> bool:
        """Whether some device answers at this address."""
        network = self.network
        return (
            address in self.by_address or address in self.strangers or address in (network.gateway, network.ntp_server)
        )

    def rtt_ms(self) -> float:
        return round(self.chance.uniform(*RTT_MS), 3)

    def free_addresses(self, cidr: str) -> tuple[str, ...]:
        known = self._free.get(cidr)
        if known is None:
            network = Network(cidr)
            known = tuple(address for address in network.all_addresses() if not self.is_up(address))
            self._free[cidr] = known
        return known

    def resolve(self, name: str) -> tuple[str, ...]:
        """The addresses of a name, with or without its final dot."""
        plain = name.rstrip(".").lower()
        if plain.startswith(WILDCARD_PROBE):
            return (self.network.ingress_vip,) if self.wildcard_dns else ()
        if ".apps." in plain:
            return (self.network.ingress_vip,)
        if plain.startswith(("api.", "api-int.")):
            return (self.network.api_vip,)
        return (REGISTRY_ADDRESS,)
