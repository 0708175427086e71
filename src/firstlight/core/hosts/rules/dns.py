"""Names of the cluster as the host's resolver sees them."""

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import is_day_two, refused
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.reports import ReportKind, Resolution
from firstlight.core.network.addresses import addresses_of_inventory, normal_address
from firstlight.core.rules import SUPPRESSED, Verdict, errored, passed, pending

WILDCARD_PROBE = "validateNoWildcardDNS"


def api_domain_name_resolved_correctly(facts: HostFacts) -> Verdict:
    return _resolved(facts, "api", purpose="API")


def api_int_domain_name_resolved_correctly(facts: HostFacts) -> Verdict:
    return _resolved(facts, "api-int", purpose="internal API")


def apps_domain_name_resolved_correctly(facts: HostFacts) -> Verdict:
    return _resolved(facts, "console-openshift-console.apps", purpose="application")


def dns_wildcard_not_configured(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    if is_day_two(facts):
        return passed("Wildcard records do no harm to hosts that are added later.")
    if facts.reports.domains is None:
        return pending("The host has not reported yet which names it can resolve.", cause="no-dns-report")
    name = f"{WILDCARD_PROBE}.{domain_of(cluster)}"
    relative, absolute = facts.reports.domains.get(name), facts.reports.domains.get(f"{name}.")
    if relative is None or absolute is None:
        return errored(
            f"The host has not tried to resolve {name}, so a wildcard record cannot be excluded. Its next report should"
            " contain it.",
            cause="no-wildcard-probe",
        )
    found = _answers(absolute) or _answers(relative)
    if not found:
        return passed("No wildcard record covers the domain of the cluster.")
    message, cause = (
        (
            f"A wildcard record answers for every name below {domain_of(cluster)} ({', '.join(found)}). Remove it:"
            " names that do not exist must not resolve.",
            "wildcard-record",
        )
        if _answers(absolute)
        else (
            f"Names below {domain_of(cluster)} resolve once a search domain of this host is appended"
            f" ({', '.join(found)}). Remove the wildcard record of that search domain, or the search domain.",
            "wildcard-in-search-domain",
        )
    )
    return refused(facts, message, cause=cause, kind=ReportKind.DOMAINS, evidence={"answers": found})


def domain_of(cluster: Cluster) -> str:
    return f"{cluster.name}.{cluster.base_dns_domain}"


def _resolved(facts: HostFacts, prefix: str, *, purpose: str) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    managed = _managed_by_cluster(facts, cluster)
    if managed is None:
        return pending(
            "It is not known yet whether the running cluster brings its own DNS: no host has fetched its Ignition.",
            cause="no-ignition",
        )
    if managed:
        return passed("The cluster brings its own DNS for this name.")
    if not cluster.base_dns_domain:
        return errored("The base domain of the cluster is not set. Set it first.", cause="no-base-domain")
    if not facts.reports.domains:
        return errored("The host has not reported yet which names it can resolve.", cause="no-dns-report")
    name = f"{prefix}.{domain_of(cluster)}"
    answer = facts.reports.domains.get(name, Resolution())
    found = _answers(answer)
    if not found:
        return refused(
            facts,
            f"The host cannot resolve {name}. Add an address record for the {purpose} name to the DNS that this host"
            " asks.",
            cause="name-not-resolved",
            kind=ReportKind.DOMAINS,
            evidence={"name": name},
        )
    if not cluster.is_single_node and _leads_home(facts, answer):
        return refused(
            facts,
            f"The name {name} resolves to this very host ({', '.join(found)}). Let it resolve to the load balancer of"
            " the cluster.",
            cause="name-resolves-to-host",
            kind=ReportKind.DOMAINS,
            evidence={"name": name, "answers": found},
        )
    return passed(f"The host can resolve {name}.")


def _managed_by_cluster(facts: HostFacts, cluster: Cluster) -> bool | None:
    """Whether the cluster answers for its own names; None while that is unknown."""
    if cluster.imported:
        return facts.context.managed_dns
    if not cluster.user_managed_networking:
        return True
    return cluster.is_single_node and not is_day_two(facts) and facts.context.policy.single_node_dnsmasq


def _answers(resolution: Resolution) -> list[str]:
    return [*resolution.addresses, *resolution.cnames]


def _leads_home(facts: HostFacts, answer: Resolution) -> bool:
    """Every address given is the host's own; one among several is a round robin, which works."""
    if facts.reports.inventory is None or not answer.addresses:
        return False
    own = frozenset(addresses_of_inventory(facts.reports.inventory))
    return all(normal_address(address) in own for address in answer.addresses)
