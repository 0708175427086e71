"""Nodes and hosts, stages, operators, bare-metal hosts: decisions over snapshots."""

import itertools
import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from firstlight.core.errors import Invalid
from firstlight.host.controller.baremetal import PAUSED, ROLE, STATUS, free_machines, plan
from firstlight.host.controller.dns import squatters
from firstlight.host.controller.documents import HostDocument, HostProgress, OperatorDocument
from firstlight.host.controller.install_config import read_install_config
from firstlight.host.controller.matching import host_of, ignited
from firstlight.host.controller.objects import (
    BareMetalHost,
    BareMetalHostSpec,
    ClusterOperator,
    Condition,
    Csv,
    CsvStatus,
    Machine,
    Metadata,
    Node,
    NodeAddress,
    NodeStatus,
    OperatorState,
    Reference,
    Service,
    ServiceSpec,
    Subscription,
    SubscriptionStatus,
)
from firstlight.host.controller.operators import csv_of, csv_standing, is_news, standing
from firstlight.host.controller.stages import all_ended, stages_to_tell
from firstlight.host.recognising import ignited_addresses

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def a_host(
    name: str, *addresses: str, stage: str = "Rebooting", status: str = "installing-in-progress"
) -> HostDocument:
    inventory = {"interfaces": [{"ipv4_addresses": [f"{one}/24" for one in addresses]}]}
    return HostDocument(
        id=UUID(int=sum(name.encode())),
        requested_hostname=name,
        status=status,
        progress=HostProgress(current_stage=stage),
        inventory=json.dumps(inventory),
    )


def a_node(name: str, address: str = "", *, ready: bool = False) -> Node:
    addresses = (NodeAddress(type="InternalIP", address=address),) if address else ()
    conditions = (Condition(type="Ready", status=str(ready)),)
    return Node(metadata=Metadata(name=name), status=NodeStatus(addresses=addresses, conditions=conditions))


# --- matching ---------------------------------------------------------------------------------------------------------


def test_nodes_are_found_by_name_then_by_an_address_of_one_host_only() -> None:
    hosts = (a_host("one", "10.0.0.5"), a_host("two", "10.0.0.50"), a_host("three", "10.0.0.50"))
    assert host_of(a_node("ONE"), hosts) is hosts[0]
    assert host_of(a_node("localhost", "10.0.0.5"), hosts) is hosts[0]
    assert host_of(a_node("localhost", "10.0.0.50"), hosts) is None
    assert host_of(a_node("localhost", "10.0.0.6"), hosts) is None


LINE = 'I0102 03:04:05.6 1 api.go:109] Pool worker requested by address:"{}" User-Agent:"{}" Accept-Header: "x"\n'


@pytest.mark.parametrize(
    ("peer", "agent", "names"),
    [
        pytest.param("10.0.0.5:38120", "Ignition/2.13.0", ["one"], id="exact"),
        pytest.param("110.0.0.5:38120", "Ignition/2.13.0", [], id="not-by-its-end"),
        pytest.param("10.0.0.51:38120", "Ignition/2.13.0", [], id="not-by-its-beginning"),
        pytest.param("[::ffff:10.0.0.5]:38120", "Ignition/2.13.0", ["one"], id="mapped"),
        pytest.param("10.0.0.5:38120", "curl/8", [], id="not-ignition"),
    ],
)
def test_who_asked_for_ignition(peer: str, agent: str, names: list[str]) -> None:
    hosts = (a_host("one", "10.0.0.5"), a_host("without-addresses"))
    found = ignited(hosts, ignited_addresses(LINE.format(peer, agent)))
    assert [host.requested_hostname for host in found] == names


@pytest.mark.parametrize(
    ("line", "address"),
    [
        ('Pool master requested by 10.0.0.5:32780 User-Agent:"Ignition/2.6.0"', "10.0.0.5"),
        ('Pool master requested by [fd00::5%eth0]:32780 User-Agent:"Ignition/2.6.0"', "fd00::5"),
        ('Pool master requested by address:"[fd00::5]:47018" User-Agent:"Ignition/2.14.0"', "fd00::5"),
        ('Pool master requested by 10.0.0.5 User-Agent:"Ignition/2.6.0"', ""),
    ],
)
def test_both_generations_of_the_log(line: str, address: str) -> None:
    assert [str(one) for one in ignited_addresses(line)] == ([address] if address else [])


# --- stages -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "node", "has_ignited", "single", "told"),
    [
        pytest.param("Rebooting", None, False, False, (), id="silent"),
        pytest.param("Rebooting", None, True, False, ("Configuring",), id="ignited"),
        pytest.param("Waiting for ignition", None, True, False, ("Configuring",), id="worker-ignited"),
        pytest.param("Rebooting", None, True, True, (), id="single-node-has-no-configuring"),
        pytest.param("Configuring", None, True, False, (), id="configuring-already"),
        pytest.param("Configuring", a_node("n"), True, False, ("Joined",), id="joined"),
        pytest.param("Rebooting", a_node("n", ready=True), False, False, ("Joined", "Done"), id="ready-at-once"),
        pytest.param("Joined", a_node("n"), False, False, (), id="joined-already"),
        pytest.param("Joined", a_node("n", ready=True), False, False, ("Done",), id="ready"),
        pytest.param("Done", a_node("n", ready=True), True, False, (), id="done-already"),
    ],
)
def test_stages(stage: str, node: Node | None, has_ignited: bool, single: bool, told: tuple[str, ...]) -> None:
    host = a_host("n", stage=stage)
    assert stages_to_tell(host, node, has_ignited=has_ignited, single_node=single) == told


def test_a_failed_host_is_left_alone() -> None:
    host = a_host("n", status="error")
    assert stages_to_tell(host, a_node("n", ready=True), has_ignited=True, single_node=False) == ()
    assert all_ended((host,))
    assert not all_ended((host, a_host("m")))
    assert not all_ended(())


# --- operators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ({"Available": "True", "Progressing": "True", "Degraded": "True"}, "available"),
        ({"Available": "False", "Progressing": "True", "Degraded": "True"}, "failed"),
        ({"Available": "False", "Progressing": "True", "Failing": "True"}, "failed"),
        ({"Available": "False", "Progressing": "True", "Degraded": "False"}, "progressing"),
        ({"Available": "False", "Progressing": "False", "Degraded": "False"}, "failed"),
        ({"Available": "Unknown"}, "progressing"),
        ({}, "progressing"),
    ],
)
def test_operators_whatever_the_order(conditions: dict[str, str], status: str) -> None:
    rows = [Condition(type=kind, status=value, message=kind) for kind, value in conditions.items()]
    orders = [tuple(order) for order in itertools.permutations(rows)]
    found = {standing(ClusterOperator(status=OperatorState(conditions=order))) for order in orders}
    assert [one.status for one in found] == [status]


OPERATOR = OperatorDocument(name="lvm", operator_type="olm", namespace="storage", subscription_name="lvms")


def test_csvs_follow_their_subscription() -> None:
    csv = Csv(metadata=Metadata(name="lvms.v1", namespace="storage"))
    status = SubscriptionStatus(current_csv="lvms.v1")
    subscription = Subscription(metadata=Metadata(name="lvms", namespace="storage"), status=status)
    assert csv_of(OPERATOR, subscriptions={"storage/lvms": subscription}, csvs={"storage/lvms.v1": csv}) is csv
    assert csv_of(OPERATOR, subscriptions={"storage/lvms": subscription}, csvs={}) is None
    assert csv_of(OPERATOR, subscriptions={}, csvs={"storage/lvms.v1": csv}) is None


@pytest.mark.parametrize(
    ("phase", "failed_for", "status"),
    [
        ("Succeeded", 0, "available"),
        ("Failed", 299.9, "progressing"),
        ("Failed", 300, "failed"),
        ("", 0, "progressing"),
    ],
)
def test_csv_phases(phase: str, failed_for: float, status: str) -> None:
    csv = Csv(status=CsvStatus(phase=phase, message="why"))
    assert csv_standing(csv, failed_for=failed_for, patience=300).status == status


def test_news() -> None:
    failed = csv_standing(Csv(status=CsvStatus(phase="Failed", message="why")), failed_for=1, patience=1)
    for status, info, news in (
        ("", "", True),
        ("failed", "why", False),
        ("failed", "x", True),
        ("available", "", False),
    ):
        operator = OperatorDocument(name="lvm", status=status, status_info=info)
        assert is_news(operator, failed) is news


# --- bare metal -------------------------------------------------------------------------------------------------------


def a_machine(name: str, role: str = "worker") -> Machine:
    return Machine(metadata=Metadata(name=name, namespace="openshift-machine-api", labels={ROLE: role}))


def test_free_machines() -> None:
    taken = BareMetalHost(spec=BareMetalHostSpec(consumer_ref=Reference(name="worker-b")))
    machines = [a_machine("worker-c"), a_machine("worker-b"), a_machine("worker-a"), a_machine("m", "master")]
    assert [one.metadata.name for one in free_machines(machines, [taken])] == ["worker-a", "worker-c"]


def test_bare_metal_without_provisioning() -> None:
    host = BareMetalHost(metadata=Metadata(name="w", annotations={STATUS: '{"poweredOn": true}', PAUSED: ""}))
    found = plan(host, machine=a_machine("worker-a"), provisioning=False, now=NOW)
    assert found.status == {"status": {"poweredOn": True, "lastUpdated": "2026-01-02T03:04:05Z"}}
    assert found.change["metadata"] == {"annotations": {STATUS: None}}
    assert found.change["spec"]["consumerRef"]["name"] == "worker-a"


def test_bare_metal_with_provisioning() -> None:
    host = BareMetalHost(metadata=Metadata(name="w", annotations={STATUS: "{}", PAUSED: ""}))
    found = plan(host, machine=None, provisioning=True, now=NOW)
    assert found.status == {}
    assert found.change == {"spec": {"externallyProvisioned": True}, "metadata": {"annotations": {PAUSED: None}}}
    settled = BareMetalHost(spec=BareMetalHostSpec(externally_provisioned=True, consumer_ref=Reference(name="a")))
    assert plan(settled, machine=None, provisioning=True, now=NOW).change == {}


# --- the DNS's address ------------------------------------------------------------------------------------------------


def a_service(space: str, name: str, *addresses: str) -> Service:
    return Service(metadata=Metadata(name=name, namespace=space), spec=ServiceSpec(cluster_ips=addresses))


def test_only_who_has_the_address_of_the_dns_is_in_its_way() -> None:
    text = "networking:\n  serviceNetwork:\n  - 172.30.0.0/16\n  - fd02::/112\nplatform: {baremetal: {}}\n"
    config = read_install_config(text)
    assert config.platform_type == "baremetal"
    addresses = config.dns_addresses()
    assert {str(one) for one in addresses} == {"172.30.0.10", "fd02::a"}
    near, squatter = a_service("a", "near", "172.30.0.11"), a_service("b", "six", "172.30.9.9", "fd02::a")
    assert [*squatters([near, squatter], addresses)] == [squatter]
    assert [*squatters([squatter, a_service("openshift-dns", "dns-default", "172.30.0.10")], addresses)] == []
    with pytest.raises(Invalid):
        read_install_config('{"networking": {"serviceNetwork": ["nonsense"]}}').dns_addresses()
    with pytest.raises(Invalid):
        read_install_config('{"networking": []}')
