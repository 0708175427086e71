"""What the user still owes."""

from typing import Any

import pytest

from firstlight.core.clusters.rules import defined
from firstlight.core.network.free_addresses import bitmap_of
from firstlight.core.rules import Status
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import NETWORK, an_interface, an_inventory
from tests.core.clusters.rules.cluster_examples import SINGLE_NODE, USER_NETWORK, facts_of, silent_host

DHCP: dict[str, Any] = {"vip_dhcp_allocation": True, "api_vips": (), "ingress_vips": ()}
NO_VIPS: dict[str, Any] = {"api_vips": (), "ingress_vips": ()}
UNKNOWN: dict[str, Any] = {"machine_networks": ()}


def scanning_host(number: int = 1) -> Any:
    free = bitmap_of(["192.0.2.50", "192.0.2.51"], cidr=NETWORK) or b""
    return host_state(number, reports=some_reports(number, free_addresses={NETWORK: free}))


@pytest.mark.parametrize(
    ("changes", "status", "cause"),
    [
        pytest.param({}, Status.SUCCESS, "", id="set"),
        pytest.param(UNKNOWN | USER_NETWORK, Status.SUCCESS, "", id="network-kept-by-the-user"),
        pytest.param(UNKNOWN | SINGLE_NODE, Status.FAILURE, "machine-network-ambiguous", id="single-node"),
        pytest.param(UNKNOWN | DHCP, Status.FAILURE, "machine-network-not-chosen", id="dhcp"),
        pytest.param(UNKNOWN | NO_VIPS, Status.FAILURE, "no-vips-to-tell-it", id="no-vips"),
    ],
)
def test_machine_cidr_defined(changes: dict[str, Any], status: Status, cause: str) -> None:
    verdict = defined.machine_cidr_defined(facts_of(**changes))
    assert (verdict.status, verdict.cause) == (status, cause)


def test_machine_cidr_waits_for_an_inventory() -> None:
    verdict = defined.machine_cidr_defined(facts_of(hosts=[silent_host()], **UNKNOWN))
    assert verdict.status is Status.PENDING
    assert defined.machine_cidr_defined(facts_of(hosts=[], **UNKNOWN)).status is Status.PENDING


def test_machine_networks_are_offered() -> None:
    two = an_inventory(1, interfaces=(an_interface(1), an_interface(1, name="b", ipv4=("198.51.100.1/24",))))
    facts = facts_of(hosts=[host_state(1, reports=some_reports(1, inventory=two))], **UNKNOWN | DHCP)
    bodies = [fix.body for fix in defined.machine_cidr_defined(facts).fixes]
    assert bodies == [{"machine_networks": [{"cidr": cidr}]} for cidr in (NETWORK, "198.51.100.0/24")]


@pytest.mark.parametrize(
    ("rule", "field"),
    [(defined.cluster_cidr_defined, "cluster_networks"), (defined.service_cidr_defined, "service_networks")],
)
def test_networks_with_a_default(rule: Any, field: str) -> None:
    assert rule(facts_of()).status is Status.SUCCESS
    verdict = rule(facts_of(**{field: ()}))
    assert verdict.status is Status.FAILURE
    assert list(verdict.fixes[0].body) == [field]


@pytest.mark.parametrize("what", ["api", "ingress"])
@pytest.mark.parametrize(
    ("changes", "status", "cause"),
    [
        pytest.param({}, Status.SUCCESS, "", id="set"),
        pytest.param(USER_NETWORK, Status.SUCCESS, "", id="network-kept-by-the-user"),
        pytest.param(SINGLE_NODE, Status.SUCCESS, "", id="single-node"),
        pytest.param(NO_VIPS, Status.FAILURE, "no-vip", id="missing"),
        pytest.param(DHCP | UNKNOWN, Status.PENDING, "no-network", id="dhcp-without-network"),
        pytest.param(DHCP, Status.FAILURE, "dhcp-lease-awaited", id="dhcp-waits"),
        pytest.param(DHCP | {"dhcp_timeout_told": True}, Status.FAILURE, "dhcp-lease-timed-out", id="dhcp-timed-out"),
        pytest.param({"vip_dhcp_allocation": True}, Status.SUCCESS, "", id="dhcp-done"),
    ],
)
def test_vips_defined(what: str, changes: dict[str, Any], status: Status, cause: str) -> None:
    rule = {"api": defined.api_vips_defined, "ingress": defined.ingress_vips_defined}[what]
    verdict = rule(facts_of(**changes))
    assert (verdict.status, verdict.cause) == (status, cause)


def test_one_missing_vip_does_not_hide_the_other() -> None:
    facts = facts_of(ingress_vips=())
    assert defined.api_vips_defined(facts).status is Status.SUCCESS
    assert defined.ingress_vips_defined(facts).status is Status.FAILURE


def test_free_addresses_are_offered_as_vips() -> None:
    for machine in ((), (NETWORK,)):
        facts = facts_of(hosts=[scanning_host()], machine_networks=machine, **NO_VIPS)
        (fix,) = defined.api_vips_defined(facts).fixes
        assert (fix.method, fix.path) == ("PATCH", "/v2/clusters/{cluster_id}")
        assert fix.body == {"api_vips": [{"ip": "192.0.2.50"}], "ingress_vips": [{"ip": "192.0.2.51"}]}


def test_nothing_is_offered_when_nobody_scanned() -> None:
    assert defined.api_vips_defined(facts_of(**NO_VIPS)).fixes == ()


@pytest.mark.parametrize(
    ("rule", "changes"),
    [(defined.dns_domain_defined, {"base_dns_domain": ""}), (defined.pull_secret_set, {"pull_secret_set": False})],
)
def test_plain_inputs(rule: Any, changes: dict[str, Any]) -> None:
    assert rule(facts_of()).status is Status.SUCCESS
    assert rule(facts_of(**changes)).status is Status.FAILURE
