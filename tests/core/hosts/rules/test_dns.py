"""Names of the cluster and wildcard records."""

from typing import Any

import pytest

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.model.cluster_status import ClusterKind
from firstlight.core.model.reports import Resolution
from firstlight.core.rules import Status
from tests.builders.clusters import a_policy
from tests.builders.facts import a_context, host_facts, pool_facts
from tests.builders.hosts import some_domains, some_reports
from tests.builders.moments import EARLIER
from tests.core.hosts.rules.judging import ERROR, FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding

NAMES = {
    "api-domain-name-resolved-correctly": "api.east.example.com",
    "api-int-domain-name-resolved-correctly": "api-int.east.example.com",
    "apps-domain-name-resolved-correctly": "console-openshift-console.apps.east.example.com",
}
UMN = {"user_managed_networking": True}
DAY_TWO = {"kind": ClusterKind.ADD_HOSTS, "imported": True}


def asked(domains: dict[str, Resolution] | None, *, context: dict[str, Any] | None = None, **cluster: Any) -> HostFacts:
    return host_facts(
        reports=some_reports(domains=domains), context=a_context(**(context or {})), cluster={**UMN, **cluster}
    )


def answered(name: str, *addresses: str, cnames: tuple[str, ...] = ()) -> dict[str, Resolution]:
    return {**some_domains(), name: Resolution(addresses=addresses, cnames=cnames)}


@pytest.mark.parametrize(("rule_id", "name"), NAMES.items())
class TestNames:
    def test_resolved(self, rule_id: str, name: str) -> None:
        check(rule_id, asked(some_domains()), SUCCESS, "")
        check(rule_id, asked(answered(name, "2001:db8::5")), SUCCESS, "")
        check(rule_id, asked(answered(name, cnames=("lb.example.com.",))), SUCCESS, "")

    def test_not_resolved(self, rule_id: str, name: str) -> None:
        found = check(rule_id, asked(answered(name)), FAILURE, "name-not-resolved")
        assert found.evidence["name"] == name
        assert found.measured_at == EARLIER
        silent = {key: value for key, value in some_domains().items() if key != name}
        check(rule_id, asked(silent), FAILURE, "name-not-resolved")

    @pytest.mark.parametrize(
        ("addresses", "status", "cause"),
        [
            pytest.param(("192.0.2.11",), FAILURE, "name-resolves-to-host", id="own-address"),
            pytest.param(("192.0.2.11", "192.0.2.12"), SUCCESS, "", id="one-of-a-round-robin"),
            pytest.param(("192.0.2.12",), SUCCESS, "", id="another-host"),
            pytest.param(("192.0.2.1",), SUCCESS, "", id="prefix-of-own-address"),
        ],
    )
    def test_own_address(self, rule_id: str, name: str, addresses: tuple[str, ...], status: Status, cause: str) -> None:
        check(rule_id, asked(answered(name, *addresses)), status, cause)

    def test_a_single_node_is_its_own_answer(self, rule_id: str, name: str) -> None:
        check(rule_id, asked(answered(name, "192.0.2.11"), control_plane_count=1), SUCCESS, "")

    def test_without_inventory_the_own_address_is_unknown(self, rule_id: str, name: str) -> None:
        facts = host_facts(reports=some_reports(domains=answered(name, "192.0.2.11"), inventory=None), cluster=UMN)
        check(rule_id, facts, SUCCESS, "")

    def test_not_asked_of(self, rule_id: str, name: str) -> None:
        check(rule_id, pool_facts(), SUPPRESSED, "")
        check(rule_id, host_facts(reports=some_reports(domains={})), SUCCESS, "")

    def test_contradictions(self, rule_id: str, name: str) -> None:
        check(rule_id, asked(None), ERROR, "no-dns-report")
        check(rule_id, asked({}), ERROR, "no-dns-report")
        check(rule_id, asked(some_domains(), base_dns_domain=""), ERROR, "no-base-domain")

    @pytest.mark.parametrize(
        ("managed", "status", "cause"),
        [(None, PENDING, "no-ignition"), (True, SUCCESS, ""), (False, FAILURE, "name-not-resolved")],
    )
    def test_imported_clusters(self, rule_id: str, name: str, managed: bool | None, status: Status, cause: str) -> None:
        facts = asked(answered(name), context={"managed_dns": managed}, **DAY_TWO)
        check(rule_id, facts, status, cause)

    @pytest.mark.parametrize(
        ("dnsmasq", "masters", "kind", "cause"),
        [
            (True, 1, ClusterKind.CLUSTER, ""),
            (False, 1, ClusterKind.CLUSTER, "name-not-resolved"),
            (True, 3, ClusterKind.CLUSTER, "name-not-resolved"),
            (True, 1, ClusterKind.ADD_HOSTS, "name-not-resolved"),
        ],
    )
    def test_single_node_with_own_dns(
        self, rule_id: str, name: str, dnsmasq: bool, masters: int, kind: ClusterKind, cause: str
    ) -> None:
        facts = asked(
            answered(name),
            context={"policy": a_policy(single_node_dnsmasq=dnsmasq)},
            control_plane_count=masters,
            kind=kind,
        )
        check(rule_id, facts, FAILURE if cause else SUCCESS, cause)


PROBE = "validateNoWildcardDNS.east.example.com"


NO_ANSWER = Resolution()


def probed(*, absolute: Resolution | None = NO_ANSWER, relative: Resolution | None = NO_ANSWER) -> HostFacts:
    given = {f"{PROBE}.": absolute, PROBE: relative}
    return host_facts(
        reports=some_reports(domains={name: answer for name, answer in given.items() if answer is not None})
    )


HIT, ALIAS = Resolution(addresses=("203.0.113.9",)), Resolution(cnames=("catch.all.",))


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("no-record", probed(), SUCCESS),
        case("pool", pool_facts(), SUPPRESSED),
        case("day-2", host_facts(reports=some_reports(domains=None), cluster=DAY_TWO), SUCCESS),
        case("not-asked", host_facts(reports=some_reports(domains=None)), PENDING, "no-dns-report"),
        case("no-relative-probe", probed(relative=None), ERROR, "no-wildcard-probe"),
        case("no-absolute-probe", probed(absolute=None), ERROR, "no-wildcard-probe"),
        case("both-resolve", probed(absolute=HIT, relative=HIT), FAILURE, "wildcard-record"),
        case("absolute-resolves", probed(absolute=ALIAS), FAILURE, "wildcard-record"),
        case("only-relative-resolves", probed(relative=HIT), FAILURE, "wildcard-in-search-domain"),
        case("only-relative-alias", probed(relative=ALIAS), FAILURE, "wildcard-in-search-domain"),
    ],
)
def test_dns_wildcard_not_configured(facts: HostFacts, status: Status, cause: str) -> None:
    check("dns-wildcard-not-configured", facts, status, cause)


def test_wildcard_answers_are_evidence() -> None:
    found = finding("dns-wildcard-not-configured", probed(absolute=HIT, relative=ALIAS))
    assert found.evidence["answers"] == ["203.0.113.9"]
