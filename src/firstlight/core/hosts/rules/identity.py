"""Machines that their firmware gives one identity."""

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.rules import SUPPRESSED, Verdict, failed, passed

_WAY_OUT = (
    " They are kept apart by their network interfaces, so nothing stands in the way of the installation. Have the"
    " serial number and the UUID corrected in the firmware: other software may take the machines for one."
)


def identity_unique(facts: HostFacts) -> Verdict:
    host = facts.host
    if host.claimed_id is not None:
        return failed(
            f"The firmware gives this machine the identity {host.claimed_id}, which another machine has.{_WAY_OUT}",
            cause="identity-taken",
            evidence={"claimed_id": str(host.claimed_id), "macs": _macs(facts)},
            measured_at=host.registered_at,
        )
    if host.id in facts.context.shared_ids:
        return failed(
            f"Another machine of the cluster has the identity {host.id} of this one.{_WAY_OUT}",
            cause="identity-shared",
            evidence={"claimed_id": str(host.id), "macs": _macs(facts)},
            measured_at=host.registered_at,
        )
    return SUPPRESSED if host.fingerprint is None else passed("No other machine of the cluster has this identity.")


def _macs(facts: HostFacts) -> list[str]:
    plain = facts.host.fingerprint.macs if facts.host.fingerprint is not None else ()
    return [":".join(mac[at : at + 2] for at in range(0, 12, 2)) for mac in plain]
