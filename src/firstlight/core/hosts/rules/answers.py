"""What rules have in common to say: waiting, refusing with the measurement attached, requests that mend."""

from typing import Final

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.model.host import hostname_of
from firstlight.core.model.reports import ReportKind
from firstlight.core.rules import Evidence, Fix, Verdict, errored, failed, pending

EvidenceValue = str | int | float | bool | list[str] | None
NO_INVENTORY: Final = pending("The host has not sent its inventory yet.", cause="no-inventory")
NO_CONNECTIVITY: Final = pending(
    "The host has not reported yet which other hosts it reaches.", cause="no-connectivity-report"
)
NO_MACHINE_NETWORK: Final = pending("The machine network of the cluster is not known yet.", cause="no-machine-network")
SHOWN: Final = 6
"""How many things of a kind a message lists before it only counts them."""
LONGEST_TEXT: Final = 80
LONGEST_LIST: Final = 32
"""Evidence is cut here: findings are stored and sent with every answer about the host."""


def refused(
    facts: HostFacts,
    message: str,
    *,
    cause: str,
    kind: ReportKind = ReportKind.INVENTORY,
    evidence: Evidence | None = None,
    fixes: tuple[Fix, ...] = (),
) -> Verdict:
    """A failure that rests on what the host's agent measured."""
    return failed(
        message,
        cause=cause,
        evidence={"measured_by": name_of(facts)} | {key: _cut(value) for key, value in (evidence or {}).items()},
        measured_at=facts.reports.measured_at.get(kind),
        fixes=fixes,
    )


def unreadable(facts: HostFacts, what: str, text: str) -> Verdict:
    """An address or network that cannot be what it claims to be."""
    return errored(
        f"{what} '{text[:LONGEST_TEXT]}' cannot be read as an address with its prefix.",
        cause="unreadable-network",
        evidence={"measured_by": name_of(facts), "text": text[:LONGEST_TEXT]},
    )


def name_of(facts: HostFacts) -> str:
    """The name to tell people; an endless one is cut."""
    return hostname_of(facts.host, facts.reports)[:LONGEST_TEXT]


def _cut(value: EvidenceValue) -> EvidenceValue:
    return value[:LONGEST_LIST] if isinstance(value, list) else value


def listed(items: list[str]) -> str:
    """The first few, and how many more there are."""
    rest = len(items) - SHOWN
    return ", ".join(items[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def is_day_two(facts: HostFacts) -> bool:
    return facts.host.is_day_two or (facts.context.cluster is not None and facts.context.cluster.is_day_two)


def change_host(title: str, **body: object) -> Fix:
    return Fix(title=title, method="PATCH", path="/v2/infra-envs/{infra_env_id}/hosts/{host_id}", body=body)


def change_cluster(title: str, **body: object) -> Fix:
    return Fix(title=title, method="PATCH", path="/v2/clusters/{cluster_id}", body=body)
