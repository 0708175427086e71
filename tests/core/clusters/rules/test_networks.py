"""Whether networks fit together and fit the hosts."""

from typing import Any

import pytest

from firstlight.core.clusters.rules import networks
from firstlight.core.model.cluster import ClusterNetwork
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.rules import Status
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import NETWORK, an_interface, an_inventory
from tests.core.clusters.rules.cluster_examples import SINGLE_NODE, USER_NETWORK, facts_of, silent_host

OTHER, V6 = "198.51.100.0/24", "2001:db8::/64"
NO_VIPS: dict[str, Any] = {"api_vips": (), "ingress_vips": ()}
DUAL: dict[str, Any] = {
    "machine_networks": (NETWORK, V6),
    "service_networks": ("172.30.0.0/16", "fd02::/112"),
    "cluster_networks": (
        ClusterNetwork(cidr="10.128.0.0/14", host_prefix=23),
        ClusterNetwork(cidr="fd01::/48", host_prefix=64),
    ),
    "api_vips": ("192.0.2.5", "2001:db8::5"),
    "ingress_vips": ("192.0.2.6", "2001:db8::6"),
}


def dual_host(number: int = 1) -> Any:
    interface = an_interface(number, ipv6=(f"2001:db8::{number}/64",))
    return host_state(number, reports=some_reports(number, inventory=an_inventory(number, interfaces=(interface,))))


@pytest.mark.parametrize(
    ("changes", "status", "word"),
    [
        pytest.param({}, Status.SUCCESS, "", id="equal"),
        pytest.param(USER_NETWORK, Status.SUCCESS, "", id="network-kept-by-the-user"),
        pytest.param(
            {"load_balancer": LoadBalancer.USER_MANAGED, "machine_networks": (OTHER,)},
            Status.SUCCESS,
            "",
            id="own-balancer",
        ),
        pytest.param(NO_VIPS, Status.PENDING, "VIPs are not set", id="no-vips"),
        pytest.param({"api_vips": ()}, Status.SUCCESS, "", id="ingress-vip-will-do"),
        pytest.param({"machine_networks": (OTHER,)}, Status.FAILURE, f"is {OTHER}, but the VIPs lie in", id="differs"),
        pytest.param({"machine_networks": ("192.0.2.0/25",)}, Status.FAILURE, "192.0.2.0/25", id="other-prefix"),
        pytest.param({"machine_networks": ("192.0.2.7/24",)}, Status.SUCCESS, "", id="same-once-normal"),
        pytest.param({"machine_networks": ()}, Status.FAILURE, "not set", id="unset"),
        pytest.param(
            {"api_vips": ("203.0.113.5",), "ingress_vips": ("203.0.113.6",)},
            Status.FAILURE,
            "203.0.113.5 or 203.0.113.6",
            id="nowhere",
        ),
        pytest.param(DUAL, Status.FAILURE, "2001:db8::5", id="second-vip-nowhere"),
    ],
)
def test_machine_cidr_equals_to_calculated_cidr(changes: dict[str, Any], status: Status, word: str) -> None:
    verdict = networks.machine_cidr_equals_to_calculated_cidr(facts_of(**changes))
    assert verdict.status is status
    assert word in verdict.message


def test_calculated_cidr_collects_all_problems() -> None:
    changed = DUAL | {"machine_networks": (OTHER, "2001:db8:1::/64")}
    verdict = networks.machine_cidr_equals_to_calculated_cidr(facts_of(hosts=[dual_host()], **changed))
    assert "Machine network 1" in verdict.message
    assert "Machine network 2" in verdict.message
    assert verdict.evidence["calculated"] == [NETWORK, V6]


def test_calculated_cidr_waits_for_an_inventory() -> None:
    verdict = networks.machine_cidr_equals_to_calculated_cidr(facts_of(hosts=[silent_host()]))
    assert (verdict.status, verdict.cause) == (Status.PENDING, "no-hosts")


@pytest.mark.parametrize(
    ("changes", "status", "word"),
    [
        pytest.param({}, Status.SUCCESS, "", id="apart"),
        pytest.param(DUAL, Status.SUCCESS, "", id="dual"),
        pytest.param({"service_networks": ()}, Status.PENDING, "service", id="no-service"),
        pytest.param({"cluster_networks": ()}, Status.PENDING, "cluster", id="no-cluster"),
        pytest.param({"machine_networks": ()}, Status.PENDING, "machine", id="no-machine"),
        pytest.param(SINGLE_NODE | {"machine_networks": ()}, Status.PENDING, "machine", id="single-node-no-machine"),
        pytest.param(USER_NETWORK | {"machine_networks": ()}, Status.SUCCESS, "", id="machine-not-needed"),
        pytest.param(
            USER_NETWORK | {"machine_networks": ("172.30.0.0/16",)}, Status.SUCCESS, "", id="machine-not-looked-at"
        ),
        pytest.param({"machine_networks": ("172.16.0.0/12",)}, Status.FAILURE, "machine network 172.16", id="service"),
        pytest.param({"machine_networks": ("10.130.0.0/24",)}, Status.FAILURE, "and cluster network", id="cluster"),
        pytest.param({"service_networks": ("10.131.0.0/16",)}, Status.FAILURE, "service network 10.131", id="pair"),
        pytest.param({"service_networks": ("10.132.0.0/16",)}, Status.SUCCESS, "", id="just-beyond"),
        pytest.param({"service_networks": DUAL["service_networks"]}, Status.ERROR, "as many", id="counts-differ"),
    ],
)
def test_no_cidrs_overlapping(changes: dict[str, Any], status: Status, word: str) -> None:
    verdict = networks.no_cidrs_overlapping(facts_of(**changes))
    assert verdict.status is status
    assert word in verdict.message


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        pytest.param({}, Status.SUCCESS, id="single"),
        pytest.param(DUAL, Status.SUCCESS, id="dual"),
        pytest.param(DUAL | {"service_networks": ("fd02::/112", "172.30.0.0/16")}, Status.SUCCESS, id="any-order"),
        pytest.param({"service_networks": ("fd02::/112",)}, Status.FAILURE, id="service-differs"),
        pytest.param({"machine_networks": (V6,)}, Status.FAILURE, id="machine-differs"),
        pytest.param(USER_NETWORK | {"machine_networks": (V6,)}, Status.SUCCESS, id="machine-not-needed"),
        pytest.param({"machine_networks": (NETWORK, OTHER)}, Status.SUCCESS, id="two-machine-networks-of-one-version"),
        pytest.param({"service_networks": ("172.30.0.0/16", "172.31.0.0/16")}, Status.FAILURE, id="two-of-one-version"),
        pytest.param({"machine_networks": ()}, Status.PENDING, id="undefined"),
        pytest.param({"service_networks": ("x",)}, Status.ERROR, id="unreadable"),
    ],
)
def test_networks_same_address_families(changes: dict[str, Any], status: Status) -> None:
    assert networks.networks_same_address_families(facts_of(**changes)).status is status


@pytest.mark.parametrize(
    ("changes", "hosts", "status"),
    [
        pytest.param({}, 3, Status.SUCCESS, id="usual"),
        pytest.param({"cluster_networks": ()}, 3, Status.PENDING, id="undefined"),
        pytest.param(
            {"cluster_networks": (ClusterNetwork(cidr="10.128.0.0/21", host_prefix=23),)}, 4, Status.SUCCESS, id="four"
        ),
        pytest.param(
            {"cluster_networks": (ClusterNetwork(cidr="10.128.0.0/21", host_prefix=23),)}, 5, Status.FAILURE, id="five"
        ),
        pytest.param(
            {"cluster_networks": (ClusterNetwork(cidr="10.128.0.0/23", host_prefix=23),)}, 1, Status.SUCCESS, id="one"
        ),
        pytest.param(
            {"cluster_networks": (ClusterNetwork(cidr="10.128.0.0/23", host_prefix=23),)}, 2, Status.FAILURE, id="two"
        ),
        pytest.param(DUAL, 3, Status.SUCCESS, id="dual"),
        pytest.param(
            {"cluster_networks": (*DUAL["cluster_networks"][:1], ClusterNetwork(cidr="fd01::/48"))},
            3,
            Status.FAILURE,
            id="second",
        ),
        pytest.param(
            {"network_type": "Calico", "cluster_networks": (ClusterNetwork(cidr="10.128.0.0/14"),)},
            3,
            Status.SUCCESS,
            id="calico",
        ),
    ],
)
def test_network_prefix_valid(changes: dict[str, Any], hosts: int, status: Status) -> None:
    facts = facts_of(hosts=[host_state(number) for number in range(1, hosts + 1)], **changes)
    assert networks.network_prefix_valid(facts).status is status


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        *(
            pytest.param({"network_type": name}, "", id=name or "unset")
            for name in ("OVNKubernetes", "OpenShiftSDN", "Cilium", "Calico", "CiscoACI", "None", "")
        ),
        pytest.param({"network_type": "Flannel"}, "unknown-network-type", id="unknown"),
        pytest.param(DUAL | {"network_type": "OpenShiftSDN"}, "sdn-without-ipv6", id="sdn-with-ipv6"),
        pytest.param(SINGLE_NODE | {"network_type": "OpenShiftSDN"}, "sdn-on-single-node", id="sdn-single-node"),
        pytest.param({"vip_dhcp_allocation": True}, "dhcp-with-ovn", id="dhcp-with-ovn"),
        pytest.param({"vip_dhcp_allocation": True, "network_type": "OpenShiftSDN"}, "", id="dhcp-with-sdn"),
    ],
)
def test_network_type_valid(changes: dict[str, Any], cause: str) -> None:
    verdict = networks.network_type_valid(facts_of(**changes))
    assert verdict.cause == cause
    assert verdict.status is (Status.FAILURE if cause else Status.SUCCESS)
    assert bool(verdict.fixes) is bool(cause)
