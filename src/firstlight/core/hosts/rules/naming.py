"""Hostnames: fit to be a node's name, and nobody else's."""

import re
from typing import Final

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import NO_INVENTORY, change_host, refused
from firstlight.core.model.host import hostname_of
from firstlight.core.rules import SUPPRESSED, Fix, Verdict, failed, passed

LONGEST: Final = 63
FORM: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}(?:[.][a-z0-9-]{1,63})*")
FORBIDDEN: Final = frozenset(
    {
        "localhost",
        "localhost.localdomain",
        "localhost4",
        "localhost4.localdomain4",
        "localhost6",
        "localhost6.localdomain6",
    }
)


def hostname_unique(facts: HostFacts) -> Verdict:
    if facts.context.cluster is None:
        return SUPPRESSED
    if facts.reports.inventory is None:
        return NO_INVENTORY
    name = hostname_of(facts.host, facts.reports)
    if name not in facts.context.duplicate_names:
        return passed(f"The hostname {name[:80]} is unique in the cluster.")
    return refused(
        facts,
        f"Another host of the cluster is called {name[:80]}, too. Give one of them another name.",
        cause="hostname-taken",
        evidence={"hostname": name[:80]},
        fixes=_rename(facts, f"{name.partition('.')[0]}-{facts.host.id.hex[-6:]}"),
    )


def hostname_valid(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is None:
        return failed("The hostname is not known before the inventory has arrived.", cause="no-inventory")
    name = hostname_of(facts.host, facts.reports)
    if is_valid_hostname(name):
        return passed(f"The hostname {name} can be used.")
    return refused(
        facts,
        f"The hostname {name[:80]} cannot be used. Choose one of at most {LONGEST} lower-case letters, digits, dashes"
        " and dots that is no form of localhost.",
        cause="hostname-forbidden",
        evidence={"hostname": name[:80]},
        fixes=_rename(facts, _tidied(name)),
    )


def is_valid_hostname(name: str) -> bool:
    return len(name) <= LONGEST and FORM.fullmatch(name) is not None and name not in FORBIDDEN


def _tidied(name: str) -> str:
    """As close to the given name as the rules allow."""
    return re.sub(r"[^a-z0-9-]+", "-", name.partition(".")[0].lower()).strip("-")[:LONGEST].strip("-")


def _rename(facts: HostFacts, wanted: str) -> tuple[Fix, ...]:
    name = wanted
    if not is_valid_hostname(name) or name in facts.context.duplicate_names:
        name = f"host-{facts.host.id.hex[-12:]}"
    return (change_host(f"Call this host {name}", host_name=name),)
