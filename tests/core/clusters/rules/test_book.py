"""The book as a whole: ids, categories, blocking sets, and facts that try to break it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.clusters.rules.blocking import INPUTS, NOT_IGNORABLE, REQUIRED, VIPS, conditions
from firstlight.core.clusters.rules.book import cluster_rules
from firstlight.core.model.cluster import ClusterNetwork
from firstlight.core.model.cluster_status import LoadBalancer
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.model.reports import Reports
from firstlight.core.rules import Finding, Status
from tests.builders.hosts import a_presence, host_state, some_reports
from tests.builders.inventories import a_route, an_interface, an_inventory
from tests.core.clusters.rules.cluster_examples import facts_of

INFORMATIONAL = frozenset({"platform-requirements-satisfied"})


def test_a_good_cluster_passes_everything() -> None:
    assert {finding.status for finding in cluster_rules.judge(facts_of())} == {Status.SUCCESS}


def test_every_rule_stands_in_exactly_one_set() -> None:
    sets = (VIPS, INPUTS, REQUIRED, INFORMATIONAL)
    assert frozenset().union(*sets) == cluster_rules.ids()
    assert sum(map(len, sets)) == len(cluster_rules.ids())
    assert cluster_rules.ids() > NOT_IGNORABLE


def test_rule_functions_are_named_like_their_ids() -> None:
    for rule in cluster_rules:
        assert rule.judge.__name__ == rule.id.replace("-", "_")


def test_categories() -> None:
    categories = {rule.id: rule.category for rule in cluster_rules}
    assert categories["pull-secret-set"] == categories["platform-requirements-satisfied"] == "configuration"
    assert {rule_id for rule_id, name in categories.items() if name == "hosts-data"} == {
        "all-hosts-are-ready-to-install",
        "sufficient-masters-count",
    }
    assert set(categories.values()) == {"network", "hosts-data", "configuration"}


@pytest.mark.parametrize(
    ("rule_id", "status", "ignored", "holds"),
    [
        ("ntp-server-configured", Status.SUCCESS, (), True),
        ("ntp-server-configured", Status.DISABLED, (), True),
        ("ntp-server-configured", Status.FAILURE, (), False),
        ("ntp-server-configured", Status.PENDING, (), False),
        ("ntp-server-configured", Status.ERROR, (), False),
        ("ntp-server-configured", Status.FAILURE, ("ntp-server-configured",), True),
        ("ntp-server-configured", Status.FAILURE, ("all",), True),
        ("ntp-server-configured", Status.FAILURE, ("ALL",), False),
        ("pull-secret-set", Status.FAILURE, ("all", "pull-secret-set"), False),
    ],
)
def test_conditions(rule_id: str, status: Status, ignored: tuple[str, ...], holds: bool) -> None:
    finding = Finding(id=rule_id, category="network", status=status)
    assert (rule_id in conditions([finding], ignored=ignored)) is holds


texts = st.sampled_from(
    [
        "",
        "x",
        "192.0.2.5",
        "192.0.2.0/24",
        "192.0.2.9/24",
        "0.0.0.0/0",
        "::/0",
        "2001:db8::/64",
        "2001:db8::5",
        "/",
        "%",
    ]
) | st.text(max_size=12)
lists = st.lists(texts, max_size=3).map(tuple)
cluster_networks = st.lists(
    st.builds(ClusterNetwork, cidr=texts, host_prefix=st.integers(-(2**70), 2**70)), max_size=3
).map(tuple)
reports = st.one_of(
    st.just(Reports()),
    st.builds(
        lambda addresses, gateway, free, vips: some_reports(
            inventory=an_inventory(interfaces=(an_interface(ipv4=addresses),), routes=(a_route(gateway=gateway),)),
            free_addresses=free,
            vips=vips,
        ),
        addresses=lists,
        gateway=texts,
        free=st.none() | st.dictionaries(texts, st.binary(max_size=40), max_size=2),
        vips=st.none() | st.dictionaries(texts, st.booleans(), max_size=3),
    ),
)


@st.composite
def hostile_facts(draw: st.DrawFn) -> ClusterFacts:
    hosts = [
        host_state(
            number,
            reports=draw(reports),
            presence=a_presence(clock_offset_seconds=draw(st.none() | st.floats())),
            status=draw(st.sampled_from(HostStatus)),
            role=draw(st.sampled_from(HostRole)),
        )
        for number in range(draw(st.integers(0, 3)))
    ]
    changes: dict[str, Any] = {
        name: draw(lists) for name in ("api_vips", "ingress_vips", "machine_networks", "service_networks")
    }
    return facts_of(
        hosts=hosts,
        cluster_networks=draw(cluster_networks),
        network_type=draw(st.sampled_from(["", "OVNKubernetes", "OpenShiftSDN", "Calico"]) | st.text(max_size=5)),
        install_config_overrides=draw(st.text(max_size=20)),
        control_plane_count=draw(st.integers(0, 5)),
        user_managed_networking=draw(st.booleans()),
        vip_dhcp_allocation=draw(st.booleans()),
        dhcp_timeout_told=draw(st.booleans()),
        load_balancer=draw(st.sampled_from(LoadBalancer)),
        **changes,
    )


@given(hostile_facts())
def test_no_facts_break_a_rule(facts: ClusterFacts) -> None:
    for finding in cluster_rules.judge(facts):
        assert finding.message
        assert bool(finding.cause) is not finding.holds
        assert len(finding.message) < 2_000
    assert cluster_rules.judge(facts) == cluster_rules.judge(facts)
