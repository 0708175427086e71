"""Which hardware minimum counts."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.errors import Invalid
from firstlight.core.hosts.requirements import (
    NeedsOf,
    hardware_for,
    least_of_any_role,
    minimum_of,
    needs_of,
    pool_minimum,
    release_number,
    role_minimum,
)
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import Inventory, SystemVendor
from firstlight.core.model.policy import DEFAULT_HARDWARE, HardwareMinimum, VersionedHardware
from tests.builders.clusters import a_cluster, a_policy
from tests.builders.inventories import an_inventory

DEFAULT = DEFAULT_HARDWARE[0]


def entry(version: str, match_type: str = "exact") -> VersionedHardware:
    return replace(DEFAULT, version=version, match_type=match_type)


class TestLookup:
    TABLE = (
        entry("4.10", "min_version"),
        entry("default"),
        entry("4.12", "min_version"),
        entry("4.11"),
        entry("4.14.3"),
    )

    @pytest.mark.parametrize(
        ("version", "found"),
        [
            ("4.9.99", "default"),
            ("4.10", "4.10"),
            ("4.10.0-rc.1", "4.10"),
            ("4.10.7", "4.10"),
            ("4.11", "4.11"),
            ("4.11.0", "4.11"),
            ("4.11.0-ec.2", "4.11"),
            ("4.11.1", "4.10"),
            ("4.12.0-rc.1", "4.12"),
            ("4.14.3", "4.14.3"),
            ("4.14.4", "4.12"),
            ("5.0.0", "4.12"),
            ("4.14.3-multi", "4.14.3"),
            ("", "default"),
            ("latest", "default"),
            ("default", "default"),
        ],
    )
    def test_entry(self, version: str, found: str) -> None:
        assert hardware_for(self.TABLE, version=version).version == found

    def test_no_entry(self) -> None:
        with pytest.raises(Invalid, match=r"4\.18"):
            hardware_for((entry("4.11"),), version="4.18")

    @pytest.mark.parametrize(("version", "cores"), [("4.21.9", 8), ("4.22.0-ec.1", 4), ("4.22", 4), ("4.23.1", 4)])
    def test_single_nodes_became_smaller(self, version: str, cores: int) -> None:
        assert hardware_for(DEFAULT_HARDWARE, version=version).sno.cpu_cores == cores


@given(
    minimums=st.sets(st.integers(0, 40), max_size=6),
    minor=st.integers(0, 45),
    patch=st.integers(0, 99),
    order=st.randoms(use_true_random=False),
)
def test_the_newest_reached_minimum_wins(minimums: set[int], minor: int, patch: int, order: Random) -> None:
    table = [entry("default"), *(entry(f"4.{number}", "min_version") for number in minimums)]
    order.shuffle(table)
    reached = [number for number in minimums if number <= minor]
    wanted = f"4.{max(reached)}" if reached else "default"
    assert hardware_for(tuple(table), version=f"4.{minor}.{patch}").version == wanted


BLUEFIELD = an_inventory(architecture="aarch64", vendor=SystemVendor(product_name="BlueField SoC"))


@pytest.mark.parametrize(
    ("role", "masters", "inventory", "name"),
    [
        (HostRole.MASTER, 3, an_inventory(), NeedsOf.MASTER),
        (HostRole.BOOTSTRAP, 3, an_inventory(), NeedsOf.MASTER),
        (HostRole.MASTER, 1, an_inventory(), NeedsOf.SINGLE_NODE),
        (HostRole.MASTER, 2, an_inventory(), NeedsOf.MASTER),
        (HostRole.MASTER, 3, BLUEFIELD, NeedsOf.MASTER),
        (HostRole.ARBITER, 2, BLUEFIELD, NeedsOf.ARBITER),
        (HostRole.WORKER, 3, an_inventory(), NeedsOf.WORKER),
        (HostRole.WORKER, 3, None, NeedsOf.WORKER),
        (HostRole.WORKER, 1, an_inventory(), NeedsOf.WORKER),
        (HostRole.AUTO_ASSIGN, 3, an_inventory(), NeedsOf.WORKER),
        (HostRole.WORKER, 3, BLUEFIELD, NeedsOf.EDGE_WORKER),
        (HostRole.AUTO_ASSIGN, 3, BLUEFIELD, NeedsOf.EDGE_WORKER),
        (
            HostRole.WORKER,
            3,
            replace(BLUEFIELD, vendor=SystemVendor(product_name="blue field  soc")),
            NeedsOf.EDGE_WORKER,
        ),
        (HostRole.WORKER, 3, replace(BLUEFIELD, vendor=SystemVendor(product_name="BlueField")), NeedsOf.WORKER),
        (HostRole.WORKER, 3, replace(BLUEFIELD, vendor=None), NeedsOf.WORKER),
        (HostRole.WORKER, 3, an_inventory(vendor=BLUEFIELD.vendor), NeedsOf.WORKER),
    ],
)
def test_under_which_name(role: HostRole, masters: int, inventory: Inventory | None, name: NeedsOf) -> None:
    cluster = a_cluster(control_plane_count=masters)
    assert needs_of(role, cluster=cluster, inventory=inventory, policy=a_policy()) is name


@pytest.mark.parametrize("name", NeedsOf)
def test_every_name_has_its_minimum(name: NeedsOf) -> None:
    field = name.value.replace("-", "_")
    marked = replace(DEFAULT, **{field: HardwareMinimum(cpu_cores=99, ram_mib=1, disk_size_gb=1)})
    assert minimum_of(marked, name).cpu_cores == 99


@pytest.mark.parametrize(
    ("role", "changes", "needs"),
    [
        (HostRole.MASTER, {}, (4, 16384, 100)),
        (HostRole.WORKER, {}, (2, 8192, 100)),
        (HostRole.ARBITER, {}, (2, 8192, 50)),
        (HostRole.MASTER, {"control_plane_count": 1}, (8, 16384, 100)),
        (HostRole.MASTER, {"control_plane_count": 1, "openshift_version": "4.22.1"}, (4, 16384, 100)),
    ],
)
def test_what_openshift_asks(role: HostRole, changes: dict[str, object], needs: tuple[int, int, int]) -> None:
    found = role_minimum(role, cluster=a_cluster(**changes), inventory=an_inventory(), policy=a_policy())
    assert (found.cpu_cores, found.ram_mib, found.disk_size_gb) == needs


@pytest.mark.parametrize("single_node", [True, False])
def test_least_of_any_role(single_node: bool) -> None:
    least = least_of_any_role(DEFAULT_HARDWARE, version="4.18.3", single_node=single_node)
    assert (least.cpu_cores, least.ram_mib, least.disk_size_gb) == (2, 8192, 100)


def test_least_of_any_role_takes_the_least_of_each() -> None:
    small_master = replace(DEFAULT.master, cpu_cores=1, ram_mib=99_999, disk_size_gb=7)
    least = least_of_any_role((replace(DEFAULT, master=small_master),), version="4.18", single_node=False)
    assert (least.cpu_cores, least.ram_mib, least.disk_size_gb) == (1, 8192, 7)


def test_the_pool_needs_what_the_role_with_the_smallest_disk_needs() -> None:
    assert pool_minimum(DEFAULT_HARDWARE, version="") == DEFAULT.arbiter
    large_arbiter = replace(DEFAULT, arbiter=replace(DEFAULT.arbiter, disk_size_gb=100))
    assert pool_minimum((large_arbiter,), version="") == DEFAULT.worker


@pytest.mark.parametrize(
    ("text", "number"), [("4.18", (4, 18, 0)), ("4.18.3", (4, 18, 3)), ("4.18.3-rc.1", (4, 18, 3)), ("x", None)]
)
def test_release_numbers(text: str, number: tuple[int, int, int] | None) -> None:
    assert release_number(text) == number
