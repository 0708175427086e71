"""Machine networks, routes, overlapping subnets, colliding addresses."""

from typing import Any

import pytest

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.model.cluster import ClusterNetwork
from firstlight.core.model.cluster_status import ClusterKind, LoadBalancer
from firstlight.core.model.host_status import HostKind
from firstlight.core.model.inventory import Interface
from firstlight.core.rules import Status
from tests.builders.facts import host_facts, pool_facts
from tests.builders.hosts import a_host, some_reports
from tests.builders.inventories import a_route, an_interface, an_inventory
from tests.core.hosts.rules.judging import ERROR, FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding

DAY_TWO = {"kind": ClusterKind.ADD_HOSTS}
V6 = "2001:db8::/64"


def nothing(**cluster: Any) -> HostFacts:
    return host_facts(reports=some_reports(inventory=None), cluster=cluster)


def nics(*addresses: tuple[str, ...], **cluster: Any) -> HostFacts:
    """A host with an interface per tuple of addresses."""
    interfaces = tuple(
        Interface(
            name=f"eth{index}",
            ipv4=tuple(address for address in given if ":" not in address),
            ipv6=tuple(address for address in given if ":" in address),
        )
        for index, given in enumerate(addresses)
    )
    return host_facts(inventory=an_inventory(interfaces=interfaces), cluster=cluster)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("known", host_facts(), SUCCESS),
        case("pool", pool_facts(), SUPPRESSED),
        case("unknown", host_facts(cluster={"machine_networks": ()}), FAILURE, "no-machine-network"),
        case(
            "unknown-dhcp",
            host_facts(cluster={"machine_networks": (), "vip_dhcp_allocation": True}),
            FAILURE,
            "no-machine-network",
        ),
        case("user-managed", host_facts(cluster={"machine_networks": (), "user_managed_networking": True}), SUCCESS),
        case("day-2", host_facts(cluster={"machine_networks": (), **DAY_TWO}), SUCCESS),
        case("needs-no-inventory", nothing(), SUCCESS),
    ],
)
def test_machine_cidr_defined(facts: HostFacts, status: Status, cause: str) -> None:
    check("machine-cidr-defined", facts, status, cause)


def test_with_dhcp_no_vip_is_asked_for() -> None:
    without = host_facts(cluster={"machine_networks": ()})
    dhcp = host_facts(cluster={"machine_networks": (), "vip_dhcp_allocation": True})
    assert "VIP" in finding("machine-cidr-defined", without).message
    assert "VIP" not in finding("machine-cidr-defined", dhcp).message


UMN = {"user_managed_networking": True}
USER_LB = {"load_balancer": LoadBalancer.USER_MANAGED}
BOTH = {"machine_networks": ("192.0.2.0/24", V6)}


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("inside", host_facts(), SUCCESS),
        case("pool", pool_facts(), SUPPRESSED),
        case("nothing-yet", nothing(), PENDING, "no-inventory"),
        case("no-network-yet", host_facts(cluster={"machine_networks": ()}), PENDING, "no-machine-network"),
        case("first-address", nics(("192.0.2.0/24",)), SUCCESS),
        case("last-address", nics(("192.0.2.255/24",)), SUCCESS),
        case("just-below", nics(("192.0.1.255/24",)), FAILURE, "outside-machine-network"),
        case("just-above", nics(("192.0.3.0/24",)), FAILURE, "outside-machine-network"),
        case("no-interfaces", nics(), FAILURE, "outside-machine-network"),
        case("bad-network", host_facts(cluster={"machine_networks": ("oops",)}), ERROR, "unreadable-network"),
        case("dual-in-both", nics(("192.0.2.9/24", "2001:db8::9/64"), **BOTH), SUCCESS),
        case("dual-in-both-on-two-nics", nics(("192.0.2.9/24",), ("2001:db8::9/64",), **BOTH), SUCCESS),
        case("dual-in-one", nics(("192.0.2.9/24",), **BOTH), FAILURE, "outside-machine-network"),
        case("user-lb-in-one", nics(("192.0.2.9/24",), **BOTH, **USER_LB), SUCCESS),
        case("user-lb-in-none", nics(("198.51.100.9/24",), **BOTH, **USER_LB), FAILURE, "outside-machine-network"),
        case("day-2", nics(("198.51.100.9/24",), **DAY_TWO), SUCCESS),
        case("user-managed", nics(("198.51.100.9/24",), **UMN), SUCCESS),
        case("user-managed-without-inventory", nothing(**UMN), SUCCESS),
        case(
            "user-managed-bootstrap-outside",
            host_facts(host=a_host(bootstrap=True), inventory=an_inventory(interfaces=()), cluster=UMN),
            FAILURE,
            "outside-machine-network",
        ),
        case(
            "user-managed-bootstrap-no-network",
            host_facts(host=a_host(bootstrap=True), cluster={**UMN, "machine_networks": ()}),
            SUCCESS,
        ),
        case(
            "single-node-must-be-inside",
            nics(("198.51.100.9/24",), control_plane_count=1, **UMN),
            FAILURE,
            "outside-machine-network",
        ),
        case(
            "single-node-waits-for-its-network",
            host_facts(cluster={**UMN, "control_plane_count": 1, "machine_networks": ()}),
            PENDING,
            "no-machine-network",
        ),
        case(
            "day-2-host",
            host_facts(host=a_host(kind=HostKind.DAY_TWO), inventory=an_inventory(interfaces=())),
            SUCCESS,
        ),
    ],
)
def test_belongs_to_machine_cidr(facts: HostFacts, status: Status, cause: str) -> None:
    check("belongs-to-machine-cidr", facts, status, cause)


def routes(**changes: Any) -> HostFacts:
    return host_facts(inventory=an_inventory(routes=(a_route(**changes),)))


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("present", host_facts(), SUCCESS),
        case("present-in-the-pool", pool_facts(), SUCCESS),
        case("nothing-yet", nothing(), PENDING, "no-inventory"),
        case("none", host_facts(inventory=an_inventory(routes=())), FAILURE, "no-default-route"),
        case("none-in-the-pool", pool_facts(inventory=an_inventory(routes=())), FAILURE, "no-default-route"),
        case("v6", routes(destination="::", gateway="2001:db8::1", family=10), SUCCESS),
        case("not-default", routes(destination="10.0.0.0"), FAILURE, "no-default-route"),
        case("on-link", routes(gateway=""), FAILURE, "no-default-route"),
        case("no-gateway", routes(gateway="0.0.0.0"), FAILURE, "no-default-route"),
        case("bad-destination", routes(destination="everywhere"), FAILURE, "no-default-route"),
    ],
)
def test_has_default_route(facts: HostFacts, status: Status, cause: str) -> None:
    check("has-default-route", facts, status, cause)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("one", host_facts(), SUCCESS),
        case("pool", pool_facts(), SUPPRESSED),
        case("nothing-yet", nothing(), PENDING, "no-inventory"),
        case("apart", nics(("192.0.2.9/24",), ("198.51.100.9/24",)), SUCCESS),
        case("neighbours", nics(("192.0.2.9/25",), ("192.0.2.129/25",)), SUCCESS),
        case("two-in-one-network-on-one-nic", nics(("192.0.2.9/24", "192.0.2.10/24")), SUCCESS),
        case("same-on-two-nics", nics(("192.0.2.9/24",), ("192.0.2.10/24",)), FAILURE, "overlapping-networks"),
        case("nested", nics(("192.0.2.9/24",), ("192.0.2.129/25",)), FAILURE, "overlapping-networks"),
        case("nested-other-order", nics(("192.0.2.129/25",), ("192.0.2.9/24",)), FAILURE, "overlapping-networks"),
        case(
            "nested-behind-another",
            nics(("10.0.0.1/8",), ("10.1.0.1/16",), ("10.9.0.1/16",)),
            FAILURE,
            "overlapping-networks",
        ),
        case("v6-not-asked-for", nics(("2001:db8::1/64",), ("2001:db8::2/64",)), SUCCESS),
        case(
            "v6-asked-for",
            nics(("2001:db8::1/64",), ("2001:db8::2/64",), service_networks=("fd02::/112",)),
            FAILURE,
            "overlapping-networks",
        ),
        case(
            "v6-of-cluster-network",
            nics(("2001:db8::1/64",), ("2001:db8::2/64",), cluster_networks=(ClusterNetwork(cidr="fd01::/48"),)),
            FAILURE,
            "overlapping-networks",
        ),
        case("link-local", nics(("fe80::1/64",), ("fe80::2/64",), service_networks=("fd02::/112",)), SUCCESS),
        case("bad-address", nics(("192.0.2.9",)), ERROR, "unreadable-network"),
        case("bad-prefix", nics(("192.0.2.9/33",)), ERROR, "unreadable-network"),
    ],
)
def test_non_overlapping_subnets(facts: HostFacts, status: Status, cause: str) -> None:
    check("non-overlapping-subnets", facts, status, cause)


def test_overlaps_are_all_named() -> None:
    facts = nics(("10.0.0.1/8",), ("10.1.0.1/16",), ("10.1.0.2/16", "192.0.2.1/24"))
    assert finding("non-overlapping-subnets", facts).evidence["overlaps"] == [
        "10.1.0.0/16 on eth1 lies inside 10.0.0.0/8 on eth0",
        "10.1.0.0/16 on eth2 lies inside 10.0.0.0/8 on eth0",
    ]


MACS = ("52:54:00:00:00:01", "52:54:00:00:00:02")
COLLIDING = {"ip_collisions": {"192.0.2.11": MACS}}


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("not-evaluated", host_facts(), SUCCESS),
        case("another-address", host_facts(cluster={"ip_collisions": {"192.0.2.12": MACS}}), SUCCESS),
        case("own-address", host_facts(cluster=COLLIDING), FAILURE, "address-taken-twice"),
        case("pool", pool_facts(), SUPPRESSED),
        case("nothing-yet", nothing(**COLLIDING), SUCCESS),
        case("day-2", host_facts(cluster={**COLLIDING, **DAY_TWO}), SUCCESS),
        case(
            "written-differently",
            host_facts(
                inventory=an_inventory(interfaces=(an_interface(ipv4=(), ipv6=("2001:db8::1/64",)),)),
                cluster={"ip_collisions": {"2001:0DB8:0::1": MACS}},
            ),
            FAILURE,
            "address-taken-twice",
        ),
    ],
)
def test_no_ip_collisions_in_network(facts: HostFacts, status: Status, cause: str) -> None:
    check("no-ip-collisions-in-network", facts, status, cause)


def test_collisions_name_the_macs() -> None:
    found = finding("no-ip-collisions-in-network", host_facts(cluster=COLLIDING))
    assert all(mac in found.message for mac in MACS)
    assert found.evidence["measured_by"] == "the other hosts of the cluster"
