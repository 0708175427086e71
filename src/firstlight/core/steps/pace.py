"""How soon something is measured anew that failed: whoever mends a cable or a name looks at the screen and waits.

Only hosts whose own finding fails are in a hurry, and the more there are, the less: together they never ask for more
than a network bears easily. Beyond that everything keeps its usual interval.
"""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Final
from uuid import UUID

from firstlight.core.model.host import HostState
from firstlight.core.model.plan import StepType
from firstlight.core.rules import Status

MEASURED_BY: Final[Mapping[str, StepType]] = {
    "belongs-to-majority-group": StepType.CONNECTIVITY_CHECK,
    "mtu-valid": StepType.CONNECTIVITY_CHECK,
    "sufficient-network-latency-requirement-for-role": StepType.CONNECTIVITY_CHECK,
    "sufficient-packet-loss-requirement-for-role": StepType.CONNECTIVITY_CHECK,
    "no-ip-collisions-in-network": StepType.CONNECTIVITY_CHECK,
    "ntp-synced": StepType.NTP,
    "api-domain-name-resolved-correctly": StepType.DOMAIN_RESOLUTION,
    "api-int-domain-name-resolved-correctly": StepType.DOMAIN_RESOLUTION,
    "apps-domain-name-resolved-correctly": StepType.DOMAIN_RESOLUTION,
    "dns-wildcard-not-configured": StepType.DOMAIN_RESOLUTION,
}
"""Finding → the step whose next answer may end it."""
AGAIN_SECONDS: Final = 15
GRAIN_SECONDS: Final = 5
"""Intervals grow by this much at a time, so that plans do not change with every host that joins the hurry."""
PEERS_PER_SECOND: Final = 200
"""How many peers all hosts in a hurry may look for in a second; each looks for all of them."""
HOSTS_PER_SECOND: Final = 10
"""How many hosts may do in a second what costs the same however many there are."""

Suspects = Mapping[StepType, frozenset[UUID]]


def suspects_among(members: Iterable[HostState]) -> Suspects:
    """By step, the hosts with a finding that fails and that the step's next answer may end."""
    found: dict[StepType, set[UUID]] = {}
    for member in members:
        for finding in member.findings:
            if finding.status is Status.FAILURE and finding.id in MEASURED_BY:
                found.setdefault(MEASURED_BY[finding.id], set()).add(member.host.id)
    return {step: frozenset(hosts) for step, hosts in found.items()}


def again_seconds(step: StepType, *, suspects: int, hosts: int, usual: int) -> int:
    """The interval of a step on each of so many suspects; zero if it is the usual one."""
    if step is StepType.CONNECTIVITY_CHECK:
        bearable = ceil(suspects * hosts / PEERS_PER_SECOND)
    else:
        bearable = ceil(suspects / HOSTS_PER_SECOND)
    seconds = max(AGAIN_SECONDS, ceil(bearable / GRAIN_SECONDS) * GRAIN_SECONDS)
    return seconds if suspects and seconds < usual else 0
