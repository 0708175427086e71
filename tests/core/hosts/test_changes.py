"""Changing a host: the rules that the API tests do not reach."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.decision import host_after
from firstlight.core.errors import Conflict, Error, Invalid
from firstlight.core.hosts.changes import set_installer_arguments, update_host
from firstlight.core.hosts.wishes import DiskChoice, DiskKeeping, HostWish
from firstlight.core.model.cluster import Platform
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host import FencingCredentials, Host, HttpHeader, NodeLabel
from firstlight.core.model.host_status import EDITABLE, HostKind, HostRole, HostStatus
from firstlight.core.model.reports import NO_REPORTS
from tests.builders.clusters import a_cluster, a_policy
from tests.builders.hosts import a_host, host_state
from tests.builders.moments import NOW

LATER = NOW + timedelta(seconds=1)
BMC = FencingCredentials(address="redfish://bmc", username="admin", password="secret-word")


def after(wish: HostWish, *, cluster: dict[str, Any] | None = None, policy: Any = None, **host: Any) -> Host:
    state = host_state(1, **host)
    decision = update_host(
        state,
        wish,
        cluster=None if cluster is None else a_cluster(**cluster),
        policy=policy or a_policy(),
        now=LATER,
    )
    return host_after(state, decision).host


@pytest.mark.parametrize("status", sorted(HostStatus))
def test_only_before_the_installation(status: HostStatus) -> None:
    wish = HostWish(role=HostRole.WORKER)
    if status in EDITABLE:
        assert after(wish, status=status).role is HostRole.WORKER
    else:
        with pytest.raises(Conflict, match=status.value):
            after(wish, status=status)


@pytest.mark.parametrize("status", sorted(HostStatus))
def test_an_empty_wish_is_always_granted(status: HostStatus) -> None:
    assert after(HostWish(), status=status) == a_host(status=status)


def test_a_role_given_back_is_dealt_anew() -> None:
    changed = after(HostWish(role=HostRole.AUTO_ASSIGN), role=HostRole.WORKER, suggested_role=HostRole.WORKER)
    assert (changed.role, changed.suggested_role) == (HostRole.AUTO_ASSIGN, None)


@pytest.mark.parametrize(
    ("kind", "pool", "expected"),
    [
        (HostKind.DAY_TWO, "worker", "master"),
        (HostKind.DAY_TWO, "", "master"),
        (HostKind.DAY_TWO, "infra", "infra"),
        (HostKind.HOST, "", ""),
    ],
)
def test_the_pool_of_a_day_two_host_follows_its_role(kind: HostKind, pool: str, expected: str) -> None:
    host = after(HostWish(role=HostRole.MASTER), kind=kind, role=HostRole.WORKER, machine_config_pool_name=pool)
    assert host.machine_config_pool_name == expected


def test_arbiters_can_be_switched_off() -> None:
    with pytest.raises(Invalid, match="arbiter"):
        after(HostWish(role=HostRole.ARBITER), policy=a_policy(arbiter_clusters=False))
    assert after(HostWish(role=HostRole.ARBITER)).role is HostRole.ARBITER


@pytest.mark.parametrize(
    ("version", "platform", "fits"),
    [
        ("4.19.9", PlatformType.BAREMETAL, False),
        ("4.20.0", PlatformType.BAREMETAL, True),
        ("4.20.0", PlatformType.NONE, True),
        ("4.20.0", PlatformType.VSPHERE, False),
        ("", PlatformType.BAREMETAL, True),
    ],
)
def test_fencing_needs_the_right_cluster(version: str, platform: PlatformType, fits: bool) -> None:
    cluster = {"openshift_version": version, "platform": Platform(type=platform)}
    policy = a_policy(fencing_clusters=True)
    if fits:
        assert after(HostWish(fencing=BMC), cluster=cluster, policy=policy).fencing == BMC
    else:
        with pytest.raises(Invalid, match="Fencing"):
            after(HostWish(fencing=BMC), cluster=cluster, policy=policy)


@pytest.mark.parametrize("missing", ["address", "username", "password"])
def test_fencing_credentials_are_whole(missing: str) -> None:
    parts = {"address": "a", "username": "b", "password": "c"} | {missing: ""}
    with pytest.raises(Invalid, match=missing):
        after(HostWish(fencing=FencingCredentials(**parts)), policy=a_policy(fencing_clusters=True))


def test_the_same_installer_arguments_again() -> None:
    state = host_state(1, installer_args=("-n",))
    assert set_installer_arguments(state, ("-n",), now=LATER).empty
    assert not set_installer_arguments(state, (), now=LATER).empty


def test_a_pool_of_machine_configs() -> None:
    assert after(HostWish(machine_config_pool_name="infra")).machine_config_pool_name == "infra"
    with pytest.raises(Invalid, match="machine config pool"):
        after(HostWish(machine_config_pool_name="a" * 254))


def test_secrets_are_not_told() -> None:
    decision = update_host(
        host_state(1),
        HostWish(
            fencing=BMC,
            ignition_endpoint_headers=(HttpHeader("Authorization", "secret-word"),),
            ignition_endpoint_token="secret-word",
            node_labels=(NodeLabel("a", "b"),),
        ),
        cluster=None,
        policy=a_policy(fencing_clusters=True),
        now=LATER,
    )
    (change,) = decision.changes
    assert "secret-word" not in str(change)
    assert "ignition_endpoint_token" in change.event.message
    assert change.after["ignition_endpoint_headers"] == ["Authorization"]
    assert change.after["node_labels"] == ({"key": "a", "value": "b"},)


def test_without_an_inventory_there_are_no_disks() -> None:
    state = host_state(1, reports=NO_REPORTS)
    for wish, refusal in (
        (HostWish(disks=(DiskChoice(name="/dev/sda", install=True),)), Conflict),
        (HostWish(skip_formatting=(DiskKeeping(name="/dev/sda", keep=True),)), Invalid),
    ):
        with pytest.raises(refusal, match="no disk"):
            update_host(state, wish, cluster=None, policy=a_policy(), now=LATER)


def test_without_a_disk_to_install_to_the_service_chooses() -> None:
    host = after(HostWish(disks=(DiskChoice(name="/dev/sda", install=False),)))
    assert (host.installation_disk_id, host.installation_disk_path) == ("", "")


texts = st.none() | st.text(max_size=20) | st.sampled_from(["a", "/dev/sda", "worker"])
wishes = st.builds(
    HostWish,
    role=st.none() | st.sampled_from(HostRole),
    name=texts,
    machine_config_pool_name=texts,
    ignition_endpoint_token=texts,
    disks=st.none()
    | st.lists(st.builds(DiskChoice, name=st.text(max_size=9), install=st.booleans()), max_size=3).map(tuple),
    node_labels=st.none()
    | st.lists(st.builds(NodeLabel, st.text(max_size=9), st.text(max_size=9)), max_size=3).map(tuple),
    ignition_endpoint_headers=st.none()
    | st.lists(st.builds(HttpHeader, st.text(max_size=9), st.text(max_size=9)), max_size=3).map(tuple),
)


@given(wish=wishes, status=st.sampled_from(HostStatus))
def test_granted_once_is_granted_for_good(wish: HostWish, status: HostStatus) -> None:
    """A wish is refused with a domain error, or granted; asking the same again changes nothing more."""
    state = host_state(1, status=status)
    try:
        decision = update_host(state, wish, cluster=None, policy=a_policy(), now=LATER)
    except Error:
        return
    granted = host_after(state, decision)
    again = update_host(granted, wish, cluster=None, policy=a_policy(), now=LATER + timedelta(seconds=1))
    assert again.hosts == {} or wish.ignition_endpoint_token
    assert bool(decision.changes) is (granted.host != state.host or bool(wish.ignition_endpoint_token))
