"""Which findings a client is shown: not those that do not concern the host, nor those its stage makes meaningless."""

from collections.abc import Iterable
from typing import Final

from firstlight.core.model.host import Host
from firstlight.core.model.host_status import AFTER_REBOOT
from firstlight.core.rules import Finding, Status

NEEDS_THE_AGENT: Final = frozenset(
    {"connected", "media-connected", "ntp-synced", "time-synced-between-host-and-service"}
)
"""Once the host has left the discovery image nobody measures these any more."""
BEFORE_INSTALLATION_ONLY: Final = frozenset({"compatible-agent"})


def shown_findings(findings: Iterable[Finding], host: Host) -> tuple[Finding, ...]:
    """Findings in their order, without the hidden ones. Guards read the whole list, never this one."""
    hidden: frozenset[str] = frozenset()
    if host.progress.stage is not None:
        hidden |= BEFORE_INSTALLATION_ONLY
    if host.progress.stage in AFTER_REBOOT:
        hidden |= NEEDS_THE_AGENT
    return tuple(
        finding for finding in findings if finding.status is not Status.SUPPRESSED and finding.id not in hidden
    )
