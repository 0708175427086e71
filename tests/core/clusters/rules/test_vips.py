"""Whether VIPs lie where they must and are free."""

from typing import Any

import pytest

from firstlight.core.clusters.rules.vips import api_vips_valid, ingress_vips_valid
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.model.host import HostState
from firstlight.core.network.free_addresses import bitmap_of
from firstlight.core.rules import Status
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import NETWORK
from tests.builders.moments import EARLIER
from tests.core.clusters.rules.cluster_examples import SINGLE_NODE, USER_NETWORK, facts_of, silent_host

API, INGRESS = "192.0.2.5", "192.0.2.6"


def seeing(number: int, vips: dict[str, bool] | None, free: list[str] | None = None) -> HostState:
    bitmap = None if free is None else {NETWORK: bitmap_of(free, cidr=NETWORK) or b""}
    return host_state(number, reports=some_reports(number, vips=vips, free_addresses=bitmap))


@pytest.mark.parametrize(
    ("changes", "status", "cause"),
    [
        pytest.param({}, Status.SUCCESS, "", id="free"),
        pytest.param(USER_NETWORK, Status.SUCCESS, "", id="network-kept-by-the-user"),
        pytest.param(SINGLE_NODE, Status.SUCCESS, "", id="single-node"),
        pytest.param({"api_vips": ()}, Status.PENDING, "no-vip", id="not-set"),
        pytest.param({"machine_networks": ()}, Status.PENDING, "no-network", id="no-machine-network"),
        pytest.param({"api_vips": ("198.51.100.5",)}, Status.FAILURE, "vip-out-of-range", id="outside"),
        pytest.param({"api_vips": ("192.0.2.255",)}, Status.FAILURE, "vip-out-of-range", id="broadcast"),
        pytest.param({"api_vips": (INGRESS,)}, Status.FAILURE, "vip-shared", id="same-as-ingress"),
        pytest.param({"api_vips": ("192.0.2.7",)}, Status.FAILURE, "vip-not-verified", id="nobody-looked"),
        pytest.param(
            {"api_vips": (INGRESS,), "load_balancer": LoadBalancer.USER_MANAGED}, Status.SUCCESS, "", id="own-balancer"
        ),
        pytest.param(
            {"api_vips": ("198.51.100.5",), "load_balancer": LoadBalancer.USER_MANAGED},
            Status.FAILURE,
            "vip-out-of-range",
            id="own-balancer-outside",
        ),
    ],
)
def test_api_vips_valid(changes: dict[str, Any], status: Status, cause: str) -> None:
    verdict = api_vips_valid(facts_of(**changes))
    assert (verdict.status, verdict.cause) == (status, cause)


def test_ingress_vips_are_judged_on_their_own() -> None:
    facts = facts_of(ingress_vips=("198.51.100.6",))
    assert ingress_vips_valid(facts).cause == "vip-out-of-range"
    assert api_vips_valid(facts).status is Status.SUCCESS


def test_vips_wait_for_an_inventory() -> None:
    assert api_vips_valid(facts_of(hosts=[silent_host()])).cause == "no-hosts"


def test_one_witness_is_enough() -> None:
    hosts = [seeing(1, {API: True}), seeing(2, {API: False}), seeing(3, {API: True})]
    verdict = api_vips_valid(facts_of(hosts=hosts))
    assert verdict.cause == "vip-in-use"
    assert verdict.evidence == {"vips": [API], "measured_by": "host-2"}
    assert verdict.measured_at == EARLIER
    assert "too small" not in verdict.message


def test_a_scan_is_enough_when_nobody_looked() -> None:
    free = api_vips_valid(facts_of(hosts=[seeing(1, None, [API])]))
    taken = api_vips_valid(facts_of(hosts=[seeing(1, None, [INGRESS, "192.0.2.60", "192.0.2.61"])]))
    assert free.status is Status.SUCCESS
    assert taken.cause == "vip-in-use"
    # The ingress VIP is free too, but no longer to be had.
    assert taken.fixes[0].body == {"api_vips": [{"ip": "192.0.2.60"}], "ingress_vips": [{"ip": "192.0.2.61"}]}


@pytest.mark.parametrize(("count", "told"), [(12, False), (13, True)])
def test_a_small_network_is_named(count: int, told: bool) -> None:
    hosts = [seeing(number, {"192.0.2.5": False}) for number in range(1, count + 1)]
    verdict = api_vips_valid(facts_of(hosts=hosts, machine_networks=("192.0.2.0/28",)))
    assert ("too small" in verdict.message) is told


def test_in_dual_stack_the_other_vip_is_kept() -> None:
    both = {API: False, "2001:db8::5": True}
    hosts = [seeing(1, both, ["192.0.2.60", "192.0.2.61"])]
    facts = facts_of(
        hosts=hosts,
        machine_networks=("2001:db8::/64", NETWORK),
        api_vips=("2001:db8::5", API),
        ingress_vips=("2001:db8::6", INGRESS),
    )
    assert api_vips_valid(facts).fixes[0].body == {
        "api_vips": [{"ip": "2001:db8::5"}, {"ip": "192.0.2.60"}],
        "ingress_vips": [{"ip": "2001:db8::6"}, {"ip": "192.0.2.61"}],
    }
