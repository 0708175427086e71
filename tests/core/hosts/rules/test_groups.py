"""Membership in the majority group."""

from typing import Any

import pytest

from firstlight.core.hosts.facts import HostFacts, Peer
from firstlight.core.model.cluster_status import ClusterKind, LoadBalancer
from firstlight.core.model.host import FencingCredentials
from firstlight.core.model.host_status import HostRole
from firstlight.core.rules import Status
from tests.builders.facts import a_context, host_facts, pool_facts
from tests.builders.hosts import a_connectivity, a_host, packed, some_reports
from tests.builders.moments import host_id
from tests.core.hosts.rules.judging import FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding

ME, OTHERS = host_id(1), (host_id(2), host_id(3), host_id(4))
ALL = (ME, *OTHERS)
V4, V6 = "192.0.2.0/24", "2001:db8::/64"
FENCED = a_host(fencing=FencingCredentials(address="redfish+https://bmc", username="u", password="p"))


def grouped(groups: dict[str, Any], *, hosts: int = 3, host: Any = None, **cluster: Any) -> HostFacts:
    return host_facts(context=a_context(host_count=hosts), host=host, cluster={"majority_groups": groups, **cluster})


def routed(addresses: tuple[str, ...], *, hosts: int = 3, **cluster: Any) -> HostFacts:
    return host_facts(
        context=a_context(host_count=hosts),
        cluster={"user_managed_networking": True, "connected_addresses": {ME: addresses}, **cluster},
    )


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("member", grouped({V4: ALL}), SUCCESS),
        case("pool", pool_facts(), SUPPRESSED),
        case("day-2", grouped({V4: OTHERS}, kind=ClusterKind.ADD_HOSTS), SUCCESS),
        case("single-node", grouped({}, control_plane_count=1), SUCCESS),
        case("not-computed", grouped({}), PENDING, "no-groups"),
        case("no-machine-network", grouped({V4: ALL}, machine_networks=()), PENDING, "no-machine-network"),
        case("outside", grouped({V4: OTHERS}), FAILURE, "outside-majority"),
        case("no-group-for-the-network", grouped({"198.51.100.0/24": ALL}), FAILURE, "outside-majority"),
        case("empty-group", grouped({V4: ()}), FAILURE, "outside-majority"),
        case("two-hosts", grouped({V4: ()}, hosts=2), PENDING, "too-few-hosts"),
        case("three-hosts", grouped({V4: ()}, hosts=3), FAILURE, "outside-majority"),
        case("written-differently", grouped({"192.0.2.7/24": ALL}), SUCCESS),
        case("dual-in-both", grouped({V4: ALL, V6: ALL}, machine_networks=(V4, V6)), SUCCESS),
        case("dual-in-one", grouped({V4: ALL, V6: ()}, machine_networks=(V4, V6)), FAILURE, "outside-majority"),
        case("unreadable-network", grouped({"oops": ALL}, machine_networks=("oops",)), SUCCESS),
        case("routed", routed(("192.0.2.11",)), SUCCESS),
        case("routed-nowhere", routed(()), FAILURE, "outside-majority"),
        case("routed-not-listed", routed((), connected_addresses={}), FAILURE, "outside-majority"),
        case("routed-two-hosts", routed((), hosts=2), PENDING, "too-few-hosts"),
        case("routed-other-family", routed(("2001:db8::9",)), FAILURE, "outside-majority"),
        case(
            "routed-dual-needs-both",
            routed(("192.0.2.11",), service_networks=("172.30.0.0/16", "fd02::/112")),
            FAILURE,
            "outside-majority",
        ),
        case(
            "routed-dual-has-both",
            routed(("192.0.2.11", "2001:db8::9"), service_networks=("172.30.0.0/16", "fd02::/112")),
            SUCCESS,
        ),
        case(
            "user-lb-is-routed",
            grouped({V4: OTHERS}, load_balancer=LoadBalancer.USER_MANAGED, connected_addresses={ME: ("192.0.2.11",)}),
            SUCCESS,
        ),
        case(
            "fenced-pair", grouped({V4: ()}, hosts=2, host=FENCED, control_plane_count=2), FAILURE, "outside-majority"
        ),
        case("fenced-alone", grouped({V4: ()}, hosts=1, host=FENCED, control_plane_count=2), PENDING, "too-few-hosts"),
        case("unfenced-pair", grouped({V4: ()}, hosts=2, control_plane_count=2), PENDING, "too-few-hosts"),
    ],
)
def test_belongs_to_majority_group(facts: HostFacts, status: Status, cause: str) -> None:
    check("belongs-to-majority-group", facts, status, cause)


def test_with_an_arbiter_a_pair_is_not_enough() -> None:
    context = a_context(host_count=2, peers={host_id(2): Peer(name="host-2", role=HostRole.ARBITER)})
    facts = host_facts(context=context, host=FENCED, cluster={"majority_groups": {V4: ()}, "control_plane_count": 2})
    check("belongs-to-majority-group", facts, PENDING, "too-few-hosts")


def test_the_missed_networks_are_named() -> None:
    facts = grouped({V4: OTHERS, V6: ()}, machine_networks=(V4, V6))
    assert finding("belongs-to-majority-group", facts).evidence["networks"] == [V4, V6]


@pytest.mark.parametrize(
    ("answering", "groups", "names"),
    [
        ({V4: (2, 3)}, {V4: (host_id(2), host_id(3), host_id(4))}, ["cp-4"]),
        ({V4: ()}, {V4: ()}, ["cp-2", "cp-3", "cp-4"]),
        ({V4: (2, 3, 4)}, {V4: OTHERS}, []),
    ],
)
def test_peers_that_do_not_answer_are_named(
    answering: dict[str, tuple[int, ...]], groups: dict[str, Any], names: list[str]
) -> None:
    """Where all answer, it is the others that get no answer from this host: they are told so themselves."""
    peers = {host_id(number): Peer(name=f"cp-{number}", role=HostRole.MASTER) for number in (1, 2, 3, 4)}
    layer2 = {cidr: packed(map(host_id, numbers)) for cidr, numbers in answering.items()}
    seen = a_connectivity(peers=(1, 2, 3, 4), layer2=layer2)
    facts = host_facts(
        context=a_context(host_count=4, peers=peers),
        reports=some_reports(connectivity=seen),
        cluster={"majority_groups": groups},
    )
    found = finding("belongs-to-majority-group", facts)
    assert found.evidence["unreached"] == names
    assert all(name in found.message for name in names)
