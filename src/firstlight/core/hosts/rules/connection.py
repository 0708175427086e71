"""Whether the agent can be heard, runs from a readable medium, is the right one and keeps the right time."""

from typing import Final

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import change_cluster, name_of, refused
from firstlight.core.model.host_status import MediaStatus
from firstlight.core.model.reports import ReportKind
from firstlight.core.rules import SUPPRESSED, Fix, Verdict, failed, passed, pending

HOST_BEHIND_SECONDS: Final = 20 * 60
HOST_AHEAD_SECONDS: Final = 60 * 60
PUBLIC_NTP: Final = "pool.ntp.org"


def connected(facts: HostFacts) -> Verdict:
    if facts.connected:
        return passed("The host is connected.")
    heard = facts.presence.checked_in_at
    return failed(
        f"The agent on {name_of(facts)} no longer calls the service. Check that the machine is powered on, still runs"
        " the discovery image and can reach the service.",
        cause="agent-silent",
        evidence={"checked_in_at": None if heard is None else heard.isoformat()},
    )


def media_connected(facts: HostFacts) -> Verdict:
    if facts.host.media is not MediaStatus.DISCONNECTED:
        return passed("The discovery medium can be read.")
    return failed(
        "The host can no longer read its discovery medium. Keep the medium attached until the host has rebooted into"
        " its own disk, or boot the minimal image, which loads everything at once.",
        cause="media-unreadable",
    )


def compatible_agent(facts: HostFacts) -> Verdict:
    policy = facts.context.policy
    if not policy.upgrade_agent:
        return passed("The service works with every agent version.")
    if facts.presence.agent_version == policy.agent_image:
        return passed("The agent has the version the service asks for.")
    return failed(
        "The agent on this host has another version than the service asks for and is being replaced. This ends by"
        " itself within minutes.",
        cause="agent-version",
        evidence={"found": facts.presence.agent_version, "wanted": policy.agent_image},
    )


def ntp_synced(facts: HostFacts) -> Verdict:
    configured = _configured_sources(facts)
    if facts.context.cluster is None and not configured:
        return SUPPRESSED
    if facts.reports.ntp is None:
        return pending("The host has not reported its NTP sources yet.", cause="no-ntp-report")
    if any(source.state == "synced" for source in facts.reports.ntp):
        return passed("The host takes its time from an NTP source.")
    tried = [f"{source.name} ({source.state})" for source in facts.reports.ntp]
    return refused(
        facts,
        "The host could not take its time from any NTP source. Let it reach one of its sources, or add a source that it"
        " reaches.",
        cause="ntp-not-synced",
        kind=ReportKind.NTP,
        evidence={"sources": tried, "configured": configured},
        fixes=_more_sources(facts),
    )


def time_synced_between_host_and_service(facts: HostFacts) -> Verdict:
    offset = facts.presence.clock_offset_seconds
    if offset is None:
        return pending("The agent has not told its time yet.", cause="no-clock")
    if -HOST_BEHIND_SECONDS <= offset <= HOST_AHEAD_SECONDS:
        return passed("The clocks of host and service agree well enough.")
    # A clock that is no number at all is wrong, too; it only cannot be counted in minutes.
    minutes = round(offset / 60) if abs(offset) < float("inf") else 0
    direction, limit = (
        ("ahead of", HOST_AHEAD_SECONDS) if offset > HOST_AHEAD_SECONDS else ("behind", HOST_BEHIND_SECONDS)
    )
    return failed(
        f"The clock of the host is about {abs(minutes)} minutes {direction} the clock of the service; {limit // 60} are"
        " allowed. Set the clock in the firmware or give the host an NTP source that it reaches.",
        cause="clock-ahead" if direction == "ahead of" else "clock-behind",
        evidence={"measured_by": "service", "offset_minutes": minutes, "limit_minutes": limit // 60},
        fixes=_more_sources(facts),
    )


def _configured_sources(facts: HostFacts) -> list[str]:
    cluster, infra_env = facts.context.cluster, facts.infra_env
    texts: list[str] = []
    if cluster is not None:
        texts += [cluster.ntp_sources, cluster.additional_ntp_source]
    if infra_env is not None:
        texts += [infra_env.ntp_sources, infra_env.additional_ntp_sources]
    return list(dict.fromkeys(part.strip() for text in texts for part in text.split(",") if part.strip()))


def _more_sources(facts: HostFacts) -> tuple[Fix, ...]:
    """Add a public source next to those of the user; a pool host's infra-env is changed instead."""
    configured = _configured_sources(facts)
    if PUBLIC_NTP in configured:
        return ()
    title = f"Add {PUBLIC_NTP} as an NTP source"
    if facts.context.cluster is None:
        sources = _with_public(facts.infra_env.additional_ntp_sources if facts.infra_env is not None else "")
        path = "/v2/infra-envs/{infra_env_id}"
        return (Fix(title=title, method="PATCH", path=path, body={"additional_ntp_sources": sources}),)
    sources = _with_public(facts.context.cluster.additional_ntp_source)
    return (change_cluster(title, additional_ntp_source=sources),)


def _with_public(sources: str) -> str:
    return f"{sources},{PUBLIC_NTP}" if sources else PUBLIC_NTP
