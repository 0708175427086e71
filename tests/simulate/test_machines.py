"""Simulated machines: repeatable, distinct, and good enough for the role they are named after."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.steps.inventory_reply import parse_inventory
from firstlight.simulate.inventory import inventory_text
from firstlight.simulate.machines import GIB, Plan, make_machines
from firstlight.simulate.networks import SMALL, Network

plans = st.builds(
    Plan,
    masters=st.integers(0, 5),
    workers=st.integers(0, 20),
    any_role=st.integers(0, 20),
).filter(lambda plan: plan.count > 0)


@given(plan=plans, seed=st.integers(0, 10_000))
def test_the_same_seed_gives_the_same_machines(plan: Plan, seed: int) -> None:
    first, second = (make_machines(plan, seed=seed, salt="a") for _ in range(2))
    assert [inventory_text(machine) for machine in first] == [inventory_text(machine) for machine in second]
    assert [machine.id for machine in first] == [machine.id for machine in second]


@given(plan=plans, seed=st.integers(0, 10_000))
def test_two_fleets_on_one_service_never_share_a_machine(plan: Plan, seed: int) -> None:
    one, other = make_machines(plan, seed=seed, salt="one"), make_machines(plan, seed=seed, salt="other")
    assert not {machine.id for machine in one} & {machine.id for machine in other}


@pytest.mark.parametrize("count", [1, SMALL, SMALL + 1, 5_000])
def test_every_machine_has_an_address_of_its_own_beside_the_virtual_ones(count: int) -> None:
    machines = make_machines(Plan(any_role=count), seed=3)
    network = machines[0].network
    addresses = {machine.address for machine in machines}
    taken = {network.gateway, network.ntp_server, network.api_vip, network.ingress_vip, *network.leased_vips}
    assert len(addresses) == count
    assert len({machine.mac for machine in machines}) == count
    assert not addresses & taken
    assert all(ip_address(address) in ip_network(network.cidr) for address in addresses | taken)


@pytest.mark.parametrize(
    ("cidr", "address", "inside"), [("10.0.0.0/16", "10.0.3.4", True), ("10.0.0.0/16", "fe80::1", False)]
)
def test_a_network_knows_what_lies_in_it(cidr: str, address: str, inside: bool) -> None:
    assert Network(cidr).contains(address) is inside


def test_masters_and_workers_are_sized_for_their_roles() -> None:
    for machine in make_machines(Plan(masters=5, workers=20), seed=1):
        facts, _ = parse_inventory(inventory_text(machine))
        least_cores, least_memory = (2, 8) if machine.name.startswith("worker") else (8, 16)
        assert facts.cpu.count >= least_cores
        assert facts.memory.physical_bytes >= least_memory * GIB
        assert facts.hostname == machine.name
        assert [disk.id for disk in facts.disks] == [f"/dev/disk/by-id/wwn-{disk.wwn}" for disk in machine.disks]
