"""What a change makes of a cluster that exists."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.clusters.wish import ClusterWish, EncryptionWish, EndpointWish
from firstlight.core.commands.cluster_settings import OperatorWish, update_cluster
from firstlight.core.errors import Conflict, Invalid
from firstlight.core.model.cluster import ClusterNetwork, ClusterState, IgnitionEndpoint, Platform
from firstlight.core.model.cluster_status import UPDATABLE, ClusterKind, ClusterStatus, LoadBalancer, PlatformType
from firstlight.core.model.host_status import HostRole
from firstlight.core.operators.catalogue import BundleRequest, OperatorRequest
from firstlight.core.roles import key_of
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state
from tests.builders.inventories import NETWORK
from tests.builders.moments import NOW
from tests.core.commands.wishes import after, grounds, registered, updated


def empty(**changes: Any) -> ClusterState:
    """A cluster just registered, without hosts."""
    return cluster_state(hosts=(), cluster=registered(base_dns_domain="example.com"), **changes)


def test_nothing_wished_nothing_changed() -> None:
    state = empty()
    assert updated(state).empty
    assert updated(state, name="east", schedulable_masters=False, api_vips=(), ingress_vips=()).empty


@pytest.mark.parametrize("status", sorted(ClusterStatus))
def test_states_that_allow_changes(status: ClusterStatus) -> None:
    state = empty(status=status)
    with pytest.raises(Invalid):
        updated(state, name="UPPER")
    if status in UPDATABLE:
        assert after(state, name="west").name == "west"
    else:
        with pytest.raises(Conflict, match=str(status)):
            updated(state, name="west")


def test_a_change_is_told_with_before_and_after() -> None:
    (change,) = updated(empty(), name="west", tags="a,b").changes
    assert change.event.name == "cluster_updated"
    assert (change.before, change.after) == ({"name": "east", "tags": ""}, {"name": "west", "tags": "a,b"})


def test_a_new_proxy_is_told_by_name() -> None:
    decision = updated(empty(), http_proxy="http://proxy:3128")
    assert [change.event.name for change in decision.changes] == ["cluster_updated", "proxy_settings_changed"]
    assert decision.cluster is not None
    assert updated(empty(proxy=decision.cluster.proxy), http_proxy="http://proxy:3128").changes == ()


def test_secrets_are_never_told() -> None:
    secret = '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'
    decision = updated(empty(pull_secret_set=False), pull_secret=secret)
    assert "dXNlcjpwYXNz" not in repr(decision)
    assert decision.cluster is not None
    assert decision.cluster.pull_secret_set


def test_the_login_of_a_proxy_is_not_told() -> None:
    decision = updated(empty(), http_proxy="http://user:hunter2@proxy:3128")
    assert decision.cluster is not None
    assert decision.cluster.proxy.http == "http://user:hunter2@proxy:3128"
    assert "hunter2" not in str([(change.before, change.after, change.event) for change in decision.changes])


def test_an_empty_pull_secret_takes_it_away() -> None:
    assert after(empty(), pull_secret="").pull_secret_set is False


# --- VIPs and machine networks


def test_vips_before_any_host() -> None:
    cluster = after(empty(), api_vips=("192.0.2.5",), ingress_vips=("192.0.2.6",))
    assert (cluster.api_vips, cluster.ingress_vips, cluster.machine_networks) == (("192.0.2.5",), ("192.0.2.6",), ())


def test_the_machine_network_follows_the_vips() -> None:
    state = cluster_state(machine_networks=("198.51.100.0/24",), api_vips=(), ingress_vips=())
    cluster = after(state, api_vips=("192.0.2.5",), ingress_vips=("192.0.2.6",))
    assert cluster.machine_networks == (NETWORK,)
    assert after(state, api_vips=("203.0.113.5",), ingress_vips=("203.0.113.6",)).machine_networks == ()


def test_a_network_given_at_registration_stays_while_vips_fit() -> None:
    state = empty(machine_networks=(NETWORK,))
    assert after(state, api_vips=("192.0.2.5",), ingress_vips=("192.0.2.6",)).machine_networks == (NETWORK,)
    assert after(state, api_vips=("192.0.3.5",), ingress_vips=("192.0.3.6",)).machine_networks == ()


def test_one_of_two_lists_is_not_enough() -> None:
    with pytest.raises(Invalid, match="as many"):
        updated(empty(), api_vips=("192.0.2.5",))
    state = cluster_state()
    assert after(state, api_vips=("192.0.2.7",)).api_vips == ("192.0.2.7",)


def test_removing_vips_removes_their_network() -> None:
    assert after(cluster_state(), api_vips=(), ingress_vips=()).machine_networks == ()


@pytest.mark.parametrize(
    ("cluster", "networks", "accepted"),
    [
        pytest.param({}, ("198.51.100.0/24",), False, id="follows-vips"),
        pytest.param({}, (NETWORK,), True, id="as-it-is"),
        pytest.param({}, (), True, id="cleared"),
        pytest.param(
            {"vip_dhcp_allocation": True, "openshift_version": "4.14.1"}, ("198.51.100.0/24",), True, id="dhcp"
        ),
        pytest.param({"vip_dhcp_allocation": True, "openshift_version": "4.14.1"}, (), False, id="dhcp-needs-one"),
        pytest.param(
            {"user_managed_networking": True, "platform": Platform(type=PlatformType.NONE)},
            ("198.51.100.0/24",),
            True,
            id="user-managed",
        ),
        pytest.param({"load_balancer": LoadBalancer.USER_MANAGED}, ("198.51.100.0/24",), True, id="own-balancer"),
    ],
)
def test_who_may_set_machine_networks(cluster: dict[str, Any], networks: tuple[str, ...], accepted: bool) -> None:
    state = cluster_state(**cluster)
    if accepted:
        assert after(state, machine_networks=networks).machine_networks == networks
    else:
        with pytest.raises(Invalid, match="machine network"):
            updated(state, machine_networks=networks)


def test_switching_dhcp_clears_what_it_replaces() -> None:
    state = cluster_state(openshift_version="4.14.1")
    on = after(state, vip_dhcp_allocation=True)
    assert (on.vip_dhcp_allocation, on.api_vips, on.ingress_vips, on.machine_networks) == (True, (), (), ())
    with pytest.raises(Invalid, match="DHCP"):
        updated(state, vip_dhcp_allocation=True, api_vips=("192.0.2.5",), ingress_vips=("192.0.2.6",))
    leased = cluster_state(openshift_version="4.14.1", vip_dhcp_allocation=True)
    assert after(leased, api_vips=(), ingress_vips=(), name="west").api_vips == ("192.0.2.5",)
    assert after(leased, vip_dhcp_allocation=False).api_vips == ()


def test_leaving_the_network_to_the_user() -> None:
    cluster = after(cluster_state(), user_managed_networking=True)
    assert (cluster.platform.type, cluster.api_vips, cluster.machine_networks) == (PlatformType.NONE, (), ())
    back = after(cluster_state(cluster=cluster), user_managed_networking=False)
    assert (back.platform.type, back.user_managed_networking) == (PlatformType.BAREMETAL, False)


def test_a_single_node_keeps_its_own_vips_through_other_changes() -> None:
    state = cluster_state(
        control_plane_count=1, user_managed_networking=True, platform=Platform(type=PlatformType.NONE)
    )
    assert after(state, name="west").api_vips == ("192.0.2.5",)
    with pytest.raises(Invalid, match="user-managed networking"):
        updated(state, user_managed_networking=False)


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"cluster_networks": (ClusterNetwork(cidr="10.128.0.0/26", host_prefix=26),)}, "prefix"),
        ({"cluster_networks": (ClusterNetwork(cidr="10.128.0.0/14", host_prefix=14),)}, "room for"),
        ({"service_networks": ("172.30.0.1/16",)}, "host bits"),
        ({"service_networks": ("10.128.0.0/16",)}, "overlap"),
        ({"control_plane_count": 6}, "control-plane nodes"),
        ({"load_balancer": LoadBalancer.USER_MANAGED, "platform": Platform(type=PlatformType.NONE)}, "Load Balancer"),
        ({"api_vip_dns_name": "api.x.y"}, "hosts are added"),
        ({"pull_secret": "nonsense"}, "pull secret for cluster east is invalid"),
    ],
)
def test_refused(wish: dict[str, Any], told: str) -> None:
    with pytest.raises(Invalid, match=told):
        updated(empty(), **wish)


def test_new_networks_may_not_overlap_the_users_own() -> None:
    state = empty(user_managed_networking=True, platform=Platform(type=PlatformType.NONE))
    with pytest.raises(Invalid, match="overlap"):
        updated(state, machine_networks=("172.30.4.0/24",))


# --- the rest


def test_operators_replace_the_whole_set_and_roles_are_dealt_again() -> None:
    state = cluster_state()
    with_odf = updated(state, operators=OperatorWish(operators=(OperatorRequest(name="odf"),)))
    assert with_odf.cluster is not None
    assert [operator.name for operator in with_odf.cluster.operators] == ["console", "lso", "odf"]
    assert {host.suggested_role for host in with_odf.hosts.values()} == {None}
    assert len(with_odf.hosts) == 3
    again = cluster_state(cluster=with_odf.cluster)
    only_bundle = updated(again, operators=OperatorWish(bundles=(BundleRequest(id="virtualization"),)))
    assert only_bundle.cluster is not None
    assert "odf" not in {operator.name for operator in only_bundle.cluster.operators}
    unchanged = updated(again, operators=OperatorWish(operators=(OperatorRequest(name="odf"),)))
    assert unchanged.hosts == {}


def test_roles_the_user_gave_stay() -> None:
    hosts = [host_state(1, role=HostRole.MASTER), host_state(2)]
    decision = updated(cluster_state(hosts=hosts), operators=OperatorWish(operators=(OperatorRequest(name="cnv"),)))
    assert set(decision.hosts) == {key_of(hosts[1])}


def test_imported_clusters_bring_their_encryption() -> None:
    state = empty(kind=ClusterKind.ADD_HOSTS, status=ClusterStatus.ADDING_HOSTS, imported=True)
    with pytest.raises(Invalid, match="installed elsewhere"):
        updated(state, disk_encryption=EncryptionWish(enable_on="all"))
    assert after(state, api_vip_dns_name="api.x.y").api_vip_dns_name == "api.x.y"
    assert after(state, control_plane_count=9).control_plane_count == 9


def test_parts_of_a_setting_can_change_alone() -> None:
    state = empty(ignition_endpoint=IgnitionEndpoint(url="http://a.example.com", ca_certificate=""))
    assert after(state, ignition_endpoint=EndpointWish(url="")).ignition_endpoint is None
    assert after(state, disk_encryption=EncryptionWish(enable_on="masters")).disk_encryption.enable_on == "masters"
    timed = empty(additional_ntp_source="1.2.3.4")
    assert after(timed, ntp_sources="5.6.7.8").additional_ntp_source == ""
    assert after(timed, additional_ntp_source="").additional_ntp_source == ""


VIP = st.sampled_from(["", "192.0.2.5", "192.0.2.6", "198.51.100.7", "2001:db8::5", "nonsense", "192.0.2.255"])
CIDR = st.sampled_from(
    ["192.0.2.0/24", "198.51.100.0/24", "2001:db8::/64", "10.128.0.0/14", "172.30.0.0/16", "fd02::/112", "10.0.0.1/8"]
)


def some(item: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...] | None]:
    return st.none() | st.lists(item, max_size=3).map(tuple)


@given(
    wish=st.builds(
        ClusterWish,
        api_vips=some(VIP),
        ingress_vips=some(VIP),
        machine_networks=some(CIDR),
        service_networks=some(CIDR),
        vip_dhcp_allocation=st.none() | st.booleans(),
        user_managed_networking=st.none() | st.booleans(),
        load_balancer=st.none() | st.sampled_from(list(LoadBalancer)),
        platform=st.none() | st.sampled_from(list(PlatformType)).map(lambda kind: Platform(type=kind)),
        control_plane_count=st.none() | st.integers(0, 6),
    ),
    hosts=st.booleans(),
)
def test_a_wish_granted_is_no_wish_any_more(wish: ClusterWish, hosts: bool) -> None:
    """Whatever is accepted keeps the promises of a cluster, and asking for it again changes nothing."""
    state = cluster_state() if hosts else empty()
    try:
        decision = update_cluster(state, wish, operators=None, grounds=grounds(), now=NOW)
    except Invalid:
        return
    cluster = decision.cluster or state.cluster
    assert len(cluster.api_vips) == len(cluster.ingress_vips) <= 2
    assert not (cluster.user_managed_networking and cluster.vip_dhcp_allocation)
    assert not cluster.is_single_node or cluster.user_managed_networking
    settled = cluster_state(cluster=cluster, hosts=state.hosts)
    assert update_cluster(settled, wish, operators=None, grounds=grounds(), now=NOW).cluster is None
