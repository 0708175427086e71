"""The checks of operators. Every operator always has its finding; most are constants, as most are not chosen."""

from collections.abc import Collection, Mapping
from typing import Final

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.hosts.facts import HostFacts
from firstlight.core.operators.catalogue import OPERATORS
from firstlight.core.operators.spec import Candidate, count_roles, setting_of
from firstlight.core.rules import SWITCHED_OFF, Finding, Rule, Status, Verdict, finding_of, passed

CATEGORY: Final = "operators"

_HOST_IDS: Final = {spec.rule_id: spec.name for spec in OPERATORS.values()}
_CLUSTER_IDS: Final = _HOST_IDS | {
    rule_id: spec.name for spec in OPERATORS.values() for rule_id in spec.further_cluster_rules
}


def host_rule_ids() -> frozenset[str]:
    return frozenset(_HOST_IDS)


def cluster_rule_ids() -> frozenset[str]:
    return frozenset(_CLUSTER_IDS)


def _finding(rule_id: str, verdict: Verdict) -> Finding:
    return finding_of(Rule[object](rule_id, CATEGORY, lambda _: verdict), verdict)


def _constants(ids: Mapping[str, str], text: str) -> dict[str, Finding]:
    return {rule_id: _finding(rule_id, passed(text.format(name=ids[rule_id]))) for rule_id in sorted(ids)}


_NOT_CHOSEN: Final = "{name} is disabled"
_ADDING_HOSTS: Final = "{name} is disabled when hosts are added to a cluster"
_HOST_NOT_CHOSEN: Final = _constants(_HOST_IDS, _NOT_CHOSEN)
_HOST_ADDING: Final = tuple(_constants(_HOST_IDS, _ADDING_HOSTS).values())
_CLUSTER_NOT_CHOSEN: Final = _constants(_CLUSTER_IDS, _NOT_CHOSEN)
_CLUSTER_ADDING: Final = tuple(_constants(_CLUSTER_IDS, _ADDING_HOSTS).values())
_ALL_HOST_NOT_CHOSEN: Final = tuple(_HOST_NOT_CHOSEN.values())
_ALL_CLUSTER_NOT_CHOSEN: Final = tuple(_CLUSTER_NOT_CHOSEN.values())


def operator_host_findings(facts: HostFacts, *, disabled: Collection[str] = ()) -> tuple[Finding, ...]:
    """What every operator says of this host, sorted by id; nothing in the pool."""
    cluster = facts.context.cluster
    if cluster is None:
        return ()
    if cluster.is_day_two or facts.host.is_day_two:
        return _without(_HOST_ADDING, disabled)
    chosen = [operator.name for operator in cluster.operators if operator.name in OPERATORS]
    if not chosen:
        return _without(_ALL_HOST_NOT_CHOSEN, disabled)
    setting = setting_of(cluster, policy=facts.context.policy, roles=facts.context.role_counts)
    candidate = Candidate(facts.host, facts.reports.inventory)
    findings = dict(_HOST_NOT_CHOSEN)
    for name in chosen:
        spec = OPERATORS[name]
        findings[spec.rule_id] = _finding(spec.rule_id, spec.host_rule(candidate, setting))
    return _without(tuple(findings.values()), disabled)


def operator_cluster_findings(facts: ClusterFacts, *, disabled: Collection[str] = ()) -> tuple[Finding, ...]:
    """What every operator says of the cluster, sorted by id."""
    cluster = facts.cluster
    if cluster.is_day_two:
        return _without(_CLUSTER_ADDING, disabled)
    chosen = [operator.name for operator in cluster.operators if operator.name in OPERATORS]
    if not chosen:
        return _without(_ALL_CLUSTER_NOT_CHOSEN, disabled)
    setting = setting_of(cluster, policy=facts.policy, roles=count_roles(facts.hosts))
    findings = dict(_CLUSTER_NOT_CHOSEN)
    for name in chosen:
        spec = OPERATORS[name]
        for rule_id, rule in {spec.rule_id: spec.cluster_rule, **spec.further_cluster_rules}.items():
            findings[rule_id] = _finding(rule_id, rule(facts.hosts, setting))
    return _without(tuple(findings.values()), disabled)


def _without(findings: tuple[Finding, ...], disabled: Collection[str]) -> tuple[Finding, ...]:
    if not disabled:
        return findings
    return tuple(
        Finding(id=finding.id, category=CATEGORY, status=Status.DISABLED, message=SWITCHED_OFF)
        if finding.id in disabled
        else finding
        for finding in findings
    )
