"""Network rules of requests, at their limits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import ClusterNetwork
from firstlight.core.network import checks as subject


def refused(function: Any, *arguments: Any, **named: Any) -> str:
    """What a check says against it; empty when it says nothing."""
    try:
        function(*arguments, **named)
    except Invalid as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("cidr", "word"),
    [
        ("10.128.0.0/14", ""),
        ("10.128.0.0/25", ""),
        ("10.128.0.0/26", "between 1 and 25"),
        ("128.0.0.0/1", ""),
        ("128.0.0.0/0", "between 1 and 25"),
        ("fd01::/48", ""),
        ("fd01::/121", ""),
        ("fd01::/122", "between 1 and 121"),
        ("10.128.0.1/14", "host bits"),
        ("0.0.0.0/8", "unspecified"),
        ("::/16", "unspecified"),
        ("10.128.0.0", "not a"),
        ("x" * 200, "not a"),
    ],
)
def test_cluster_and_service_networks(cidr: str, word: str) -> None:
    for said in (
        refused(subject.check_service_network, cidr),
        refused(subject.check_cluster_network, ClusterNetwork(cidr=cidr)),
    ):
        assert word in said
        assert bool(said) is bool(word)
        assert len(said) < 300


@pytest.mark.parametrize(
    ("single_node", "user_managed", "longest"), [(False, False, 28), (False, True, 30), (True, False, 31)]
)
def test_machine_networks_may_be_smaller(single_node: bool, user_managed: bool, longest: int) -> None:
    flags = {"single_node": single_node, "user_managed_load_balancer": user_managed}
    assert not refused(subject.check_machine_network, f"192.0.2.0/{longest}", **flags)
    assert refused(subject.check_machine_network, f"192.0.2.0/{longest + 1}", **flags)


@pytest.mark.parametrize(
    ("cidr", "host_prefix", "hosts", "network_type", "good"),
    [
        pytest.param("10.128.0.0/14", 23, 500, "", True, id="room-for-512"),
        pytest.param("10.128.0.0/14", 23, 512, "", True, id="exactly"),
        pytest.param("10.128.0.0/14", 23, 513, "", False, id="one-too-many"),
        pytest.param("10.128.0.0/14", 15, 2, "", False, id="room-for-two-needs-four"),
        pytest.param("10.128.0.0/14", 16, 2, "", True, id="room-for-four"),
        pytest.param("10.128.0.0/14", 16, 0, "", True, id="nobody-yet"),
        pytest.param("10.128.0.0/14", 14, 1, "", True, id="one-host-one-share"),
        pytest.param("10.128.0.0/14", 13, 1, "", False, id="share-larger-than-network"),
        pytest.param("10.128.0.0/14", 25, 3, "OVNKubernetes", True, id="longest"),
        pytest.param("10.128.0.0/14", 26, 3, "OVNKubernetes", False, id="too-long"),
        pytest.param("10.128.0.0/14", 0, 3, "OpenShiftSDN", False, id="zero"),
        pytest.param("10.128.0.0/14", -(10**9), 3, "", False, id="negative"),
        pytest.param("10.128.0.0/14", 10**9, 3, "", False, id="huge"),
        pytest.param("10.128.0.0/14", 0, 2048, "Calico", True, id="own-division-of-calico"),
        pytest.param("10.128.0.0/14", 23, 2049, "Calico", False, id="own-division-of-calico-full"),
        pytest.param("fd01::/48", 64, 65536, "", True, id="ipv6"),
        pytest.param("fd01::/48", 0, 65536, "Cilium", True, id="ipv6-cilium"),
        pytest.param("x", 23, 3, "", False, id="unreadable"),
    ],
)
def test_host_prefix(cidr: str, host_prefix: int, hosts: int, network_type: str, good: bool) -> None:
    network = ClusterNetwork(cidr=cidr, host_prefix=host_prefix)
    said = refused(subject.check_host_prefix, network, host_count=hosts, network_type=network_type)
    assert (said == "") is good


def test_readable_networks_come_back_in_normal_form() -> None:
    assert subject.check_readable("service network", "FD02:0::/112") == "fd02::/112"
    assert subject.check_readable("service network", "10.0.0.1/8") == "10.0.0.1/8"
    with pytest.raises(Invalid, match="not a service network"):
        subject.check_readable("service network", "10.0.0.0")


@pytest.mark.parametrize(
    ("service", "cluster", "machine", "word"),
    [
        (("172.30.0.0/16",), ("10.128.0.0/14",), ("192.0.2.0/24",), ""),
        (("10.129.0.0/16",), ("10.128.0.0/14",), (), "service network 10.129.0.0/16 and cluster network 10.128.0.0/14"),
        (("172.30.0.0/16",), ("10.128.0.0/14",), ("172.0.0.0/8",), "machine network 172.0.0.0/8 and service"),
        (("172.30.0.0/16",), ("10.128.0.0/14",), ("10.128.0.0/14",), "machine network 10.128.0.0/14 and cluster"),
        (("172.30.0.0/16", "fd02::/112"), ("10.128.0.0/14", "fd02::/48"), (), "fd02::/112"),
        (("x",), ("x",), (), ""),
    ],
)
def test_overlaps(service: tuple[str, ...], cluster: tuple[str, ...], machine: tuple[str, ...], word: str) -> None:
    said = refused(subject.check_no_overlap, service=service, cluster=cluster, machine=machine)
    assert word in said
    assert bool(said) is bool(word)


M4, M6, S4, S6, C4, C6 = "192.0.2.0/24", "2001:db8::/64", "172.30.0.0/16", "fd02::/112", "10.128.0.0/14", "fd01::/48"


@pytest.mark.parametrize(
    ("lists", "flags", "primary"),
    [
        pytest.param(((M4,), (S4,), (C4,)), {}, 0, id="single"),
        pytest.param(((), (S6,), (C6,)), {}, 0, id="single-6"),
        pytest.param(((M4, M6), (S4, S6), (C4, C6)), {}, 4, id="dual"),
        pytest.param(((M6, M4), (S6, S4), (C6, C4)), {}, 6, id="dual-6-first"),
        pytest.param(((), (S4, S6), (C4, C6)), {}, 4, id="dual-without-machine-networks"),
        pytest.param(((M4, M6), (), ()), {}, 4, id="only-machine-networks-given"),
        pytest.param(((M4, M6), (S4, S6), (C4, C6)), {"any_order": False}, 4, id="old-release-4-first"),
        pytest.param(((M4, M6), (S4, S6), (C4, C6)), {"api_vips": ("192.0.2.5",)}, 4, id="one-vip"),
        pytest.param(
            ((M4, "198.51.100.0/24"), (S4,), (C4,)), {"user_managed_load_balancer": True}, 0, id="own-balancer"
        ),
    ],
)
def test_stacks(lists: tuple[tuple[str, ...], ...], flags: dict[str, Any], primary: int) -> None:
    machine, service, cluster = lists
    flags = {"any_order": True} | flags
    assert subject.check_stacks(machine=machine, service=service, cluster=cluster, **flags) == primary


@pytest.mark.parametrize(
    ("lists", "flags", "word"),
    [
        pytest.param(((M4, "198.51.100.0/24"), (S4,), (C4,)), {}, "one machine network", id="two-of-one-version"),
        pytest.param(((), (S4, S6), (C4, C6)), {"machine_needed": True}, "needs its machine", id="creation"),
        pytest.param(((M4,), (S4, S6), (C4, C6)), {}, "The machine networks", id="half-machine"),
        pytest.param(((M4, M6), (S4,), (C4, C6)), {}, "The service networks", id="half-service"),
        pytest.param(((M4, M6), (S4, S6), (C4, C6, C4)), {}, "The cluster networks", id="three"),
        pytest.param(((M4, M6), (S6, S4), (C4, C6)), {}, "first entries", id="mixed-order"),
        pytest.param(((M4, M6), (S4, S6), (C4, C6)), {"api_vips": ("2001:db8::5",)}, "API VIPs: 2001", id="vip-order"),
        pytest.param(((M4, M6), (S4, S6), (C4, C6)), {"ingress_vips": ("2001:db8::5",)}, "ingress VIPs", id="ingress"),
        pytest.param(((M6, M4), (S6, S4), (C6, C4)), {"any_order": False}, "Before OpenShift 4.12", id="old-release"),
    ],
)
def test_refused_stacks(lists: tuple[tuple[str, ...], ...], flags: dict[str, Any], word: str) -> None:
    machine, service, cluster = lists
    flags = {"any_order": True} | flags
    assert word in refused(subject.check_stacks, machine=machine, service=service, cluster=cluster, **flags)


@pytest.mark.parametrize(
    ("texts", "support", "good"),
    [(["192.0.2.1"], False, True), (["192.0.2.1", M6], False, False), ([M6], True, True), ([], False, True)],
)
def test_ipv6_can_be_switched_off(texts: list[str], support: bool, good: bool) -> None:
    assert (refused(subject.check_ipv6_allowed, texts, ipv6_support=support) == "") is good


@given(st.text(max_size=60) | st.sampled_from([M4, M6, "0.0.0.0/0"]), st.integers(), st.integers(0, 1000))
def test_texts_are_refused_never_fatal(text: str, prefix: int, hosts: int) -> None:
    network = ClusterNetwork(cidr=text, host_prefix=prefix)
    refused(subject.check_cluster_network, network)
    refused(subject.check_host_prefix, network, host_count=hosts)
    refused(subject.check_machine_network, text, single_node=False, user_managed_load_balancer=False)
    refused(subject.check_stacks, machine=[text, M6], service=[text], cluster=[M4, text], any_order=True)
