"""Eligibility of disks, the choice of one, and the list of disks to wipe."""

from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.hosts.disks import (
    choose_installation_disk,
    default_route_interface,
    disk_named,
    disks_to_be_formatted,
    eligible_disks,
    installable_types,
    judge_disks,
)
from firstlight.core.hosts.facts import DiskVerdict
from firstlight.core.model.inventory import Disk, Inventory
from tests.builders.inventories import GB, a_disk, a_route, an_interface, an_inventory


def judged(*disks: Disk, version: str = "4.18.3", minimum_gb: int = 100, **inventory: Any) -> list[DiskVerdict]:
    return list(judge_disks(an_inventory(disks=disks, **inventory), minimum_gb=minimum_gb, version=version))


def problem(*disks: Disk, **changes: Any) -> str:
    """All problems of the first disk."""
    return " ".join(judged(*disks, **changes)[0].problems)


class TestSize:
    @pytest.mark.parametrize(
        ("size", "eligible"), [(100 * GB, True), (100 * GB - 1, False), (100 * GB + 1, True), (0, False)]
    )
    def test_threshold(self, size: int, eligible: bool) -> None:
        assert judged(a_disk(size_bytes=size))[0].eligible is eligible

    def test_both_sizes_are_told(self) -> None:
        assert "has 20.5 GB, 100 GB are needed" in problem(a_disk(size_bytes=20_500_000_000))

    def test_a_difference_too_small_to_print_is_told_in_bytes(self) -> None:
        assert "7 bytes short of 100 GB" in problem(a_disk(size_bytes=100 * GB - 7))

    def test_sizes_beyond_all_floats(self) -> None:
        assert "too small" in problem(a_disk(size_bytes=-(10**400)), minimum_gb=10**400)

    def test_large_round_sizes_keep_their_zeros(self) -> None:
        assert "has 100 GB, 120 GB are needed" in problem(a_disk(size_bytes=100 * GB), minimum_gb=120)


class TestType:
    @pytest.mark.parametrize(
        ("architecture", "version", "types"),
        [
            ("x86_64", "4.13.9", "HDD SSD Multipath FC"),
            ("x86_64", "4.14.0", "HDD SSD Multipath RAID FC"),
            ("x86_64", "4.14.0-rc.1", "HDD SSD Multipath RAID FC"),
            ("x86_64", "4.15", "HDD SSD Multipath RAID iSCSI FC"),
            ("aarch64", "4.15", "HDD SSD Multipath RAID iSCSI"),
            ("s390x", "4.13", "HDD SSD Multipath FC ECKD_(ESE) ECKD FBA"),
            ("ppc64le", "4.13", "HDD SSD Multipath"),
            ("x86_64", "", "HDD SSD Multipath RAID iSCSI FC"),
        ],
    )
    def test_by_architecture_and_version(self, architecture: str, version: str, types: str) -> None:
        wanted = tuple(name.replace("_", " ") for name in types.split())
        assert installable_types(architecture, version=version) == wanted

    @pytest.mark.parametrize("drive_type", ["ODD", "FDD", "LVM", "Unknown", "", "virtual"])
    def test_others_are_refused(self, drive_type: str) -> None:
        assert "is not one of" in problem(a_disk(drive_type=drive_type))


def iscsi(number: int = 1, address: str = "198.51.100.1", **changes: Any) -> Disk:
    return a_disk(number, drive_type="iSCSI", iscsi_host_ip=address, **changes)


def multipath(**changes: Any) -> Disk:
    return a_disk(9, name="dm-1", path="/dev/dm-1", drive_type="Multipath", **changes)


class TestNetworkedDisks:
    @pytest.mark.parametrize("drive_type", ["FC", "iSCSI"])
    def test_a_path_of_a_multipath_device_is_refused(self, drive_type: str) -> None:
        path = a_disk(drive_type=drive_type, iscsi_host_ip="198.51.100.1", holders=("dm-1",))
        assert "multipath device dm-1" in problem(path, multipath())

    @pytest.mark.parametrize("holder", ["dm-10", "dm-", "dm-2"])
    def test_holders_match_whole_names(self, holder: str) -> None:
        assert problem(a_disk(drive_type="FC", holders=(holder,)), multipath()) == ""

    def test_other_holders_do_not_count(self) -> None:
        raid = a_disk(2, name="dm-1", drive_type="RAID")
        assert problem(a_disk(drive_type="FC", holders=("dm-1",)), raid) == ""
        assert problem(a_disk(drive_type="SSD", holders=("dm-1",)), multipath()) == ""

    def test_multipath_over_local_disks_is_refused(self) -> None:
        assert "neither FC nor iSCSI" in problem(multipath())
        assert "neither FC nor iSCSI" in problem(multipath(), a_disk(holders=("dm-1",)))

    def test_multipath_over_fc(self) -> None:
        assert problem(multipath(), a_disk(drive_type="FC", holders=("dm-1",))) == ""

    def test_mixed_multipath_is_refused(self) -> None:
        found = problem(multipath(), a_disk(1, drive_type="FC", holders=("dm-1",)), iscsi(2, holders=("dm-1",)))
        assert "mixes" in found

    def test_problems_of_iscsi_paths_count(self) -> None:
        assert "Path sda" in problem(multipath(), iscsi(address="", holders=("dm-1",)))
        assert problem(multipath(), iscsi(holders=("dm-1",))) == ""

    @pytest.mark.parametrize(
        ("address", "told"),
        [
            pytest.param("198.51.100.1", "", id="own-interface"),
            pytest.param("", "is not known", id="no-address"),
            pytest.param("eth0", "cannot be read", id="no-address-at-all"),
            pytest.param("192.0.2.11", "default route", id="default-route"),
            pytest.param("2001:db8::1", "", id="no-default-route-of-that-family"),
        ],
    )
    def test_address_of_an_iscsi_disk(self, address: str, told: str) -> None:
        found = problem(iscsi(address=address))
        assert (told in found) if told else (found == "")

    def test_the_interface_of_the_default_route_must_be_known(self) -> None:
        assert "not in the inventory" in problem(iscsi(), routes=(a_route(interface="gone"),))

    def test_v6_has_its_own_default_route(self) -> None:
        route = a_route(destination="::", gateway="2001:db8::ff", family=10)
        nic = an_interface(ipv6=("2001:db8::1/64",))
        assert "default route" in problem(iscsi(address="2001:db8::1"), routes=(route,), interfaces=(nic,))


def test_the_agents_refusal_is_final_but_not_repeated() -> None:
    assert judged(a_disk(refusals=("is mounted",))) == [DiskVerdict(id=a_disk().id, eligible=False)]


@pytest.mark.parametrize(("metrics", "interface"), [((100, 50), "b"), ((50, 100), "a"), ((7, 7), "a")])
def test_the_default_route_with_the_lowest_metric_counts(metrics: tuple[int, int], interface: str) -> None:
    routes = tuple(a_route(interface=name, metric=metric) for name, metric in zip("ab", metrics, strict=True))
    assert default_route_interface(an_inventory(routes=routes), family=2) == interface
    assert default_route_interface(an_inventory(routes=routes), family=10) is None


def test_other_routes_are_no_default_routes() -> None:
    routes = (a_route(destination="10.0.0.0"), a_route(destination="oops"))
    assert default_route_interface(an_inventory(routes=routes), family=2) is None


def yes(*disks: Disk) -> list[DiskVerdict]:
    return [DiskVerdict(id=disk.id, eligible=True) for disk in disks]


class TestChoice:
    @pytest.mark.parametrize(
        ("better", "worse"),
        [
            pytest.param({"bootable": True}, {"bootable": False}, id="bootable"),
            pytest.param({"bootable": True, "name": "nvme0n1"}, {"name": "sdb"}, id="bootable-before-nvme"),
            pytest.param({"name": "sdz", "drive_type": "SSD"}, {"name": "nvme0n1", "drive_type": "HDD"}, id="no-nvme"),
            pytest.param({"drive_type": "HDD", "size_bytes": 9}, {"drive_type": "SSD", "size_bytes": 1}, id="type"),
            pytest.param({"drive_type": "SSD"}, {"drive_type": "iSCSI"}, id="capitals-first"),
            pytest.param({"size_bytes": 1, "hctl": "9"}, {"size_bytes": 2, "hctl": "1"}, id="smaller"),
            pytest.param({"hctl": "0:0:0:1"}, {"hctl": "0:0:0:2"}, id="hctl"),
            pytest.param({"hctl": "0:0:0:10"}, {"hctl": "0:0:0:2"}, id="hctl-is-text"),
        ],
    )
    def test_preference(self, better: dict[str, Any], worse: dict[str, Any]) -> None:
        # The better disk has the later id, so that the id alone would choose wrongly.
        first, second = a_disk(2, **{"hctl": "", **better}), a_disk(1, **{"hctl": "", **worse})
        for order in permutations((first, second)):
            assert choose_installation_disk(order, yes(*order)) == first

    @pytest.mark.parametrize("key", ["id", "by_path", "path"])
    def test_the_current_one_is_kept(self, key: str) -> None:
        small, large = a_disk(1, size_bytes=1), a_disk(2, size_bytes=2)
        assert choose_installation_disk((small, large), yes(small, large)) == small
        current = getattr(large, key)
        assert choose_installation_disk((small, large), yes(small, large), current_id=current) == large
        assert choose_installation_disk((small, large), yes(small, large), current_path=current) == large

    def test_the_id_of_the_current_one_weighs_more_than_its_path(self) -> None:
        one, two = a_disk(1), a_disk(2)
        chosen = choose_installation_disk((one, two), yes(one, two), current_id=two.id, current_path=one.path)
        assert chosen == two

    def test_the_current_one_goes_when_it_will_no_longer_do(self) -> None:
        one, two = a_disk(1), a_disk(2)
        verdicts = [DiskVerdict(id=one.id, eligible=False), DiskVerdict(id=two.id, eligible=True)]
        assert choose_installation_disk((one, two), verdicts, current_id=one.id, current_path=one.path) == two

    def test_no_disk_will_do(self) -> None:
        assert choose_installation_disk((), ()) is None
        assert choose_installation_disk((a_disk(),), ()) is None

    def test_two_disks_with_one_id_stand_or_fall_together(self) -> None:
        twin = a_disk(1, path="/dev/sdx")
        verdicts = [DiskVerdict(id=twin.id, eligible=True), DiskVerdict(id=twin.id, eligible=False)]
        assert eligible_disks((a_disk(1), twin), verdicts) == []

    def test_disks_are_found_by_every_name(self) -> None:
        disk = a_disk(3)
        for name in (disk.id, disk.by_path, disk.path, f"/dev/{disk.name}"):
            assert disk_named((a_disk(1), disk), "", name) == disk
        assert disk_named((a_disk(1, by_path=""),), "") is None


FACTS = st.fixed_dictionaries(
    {
        "bootable": st.booleans(),
        "name": st.sampled_from(["sda", "nvme0n1", ""]),
        "drive_type": st.sampled_from(["HDD", "SSD", "FC", ""]),
        "size_bytes": st.sampled_from([1, 2]),
        "hctl": st.sampled_from(["", "0:0:0:0"]),
    }
)


@given(facts=st.lists(FACTS, min_size=1, max_size=8), shuffled=st.randoms(use_true_random=False))
def test_the_choice_does_not_depend_on_the_order_of_the_disks(facts: list[dict[str, Any]], shuffled: Random) -> None:
    disks = [a_disk(number, **changes) for number, changes in enumerate(facts, start=1)]
    chosen = choose_installation_disk(disks, yes(*disks))
    other_order = disks.copy()
    shuffled.shuffle(other_order)
    assert choose_installation_disk(other_order, yes(*other_order)) == chosen


@given(facts=st.lists(FACTS, min_size=1, max_size=8))
def test_a_choice_stands(facts: list[dict[str, Any]]) -> None:
    disks = [a_disk(number, **changes) for number, changes in enumerate(facts, start=1)]
    for disk in disks:
        assert choose_installation_disk(disks, yes(*disks), current_id=disk.id) == disk


@pytest.mark.parametrize(
    ("changes", "wiped"),
    [
        pytest.param({}, True, id="bootable"),
        pytest.param({"bootable": False}, False, id="not-bootable"),
        pytest.param({"removable": True}, False, id="removable"),
        pytest.param({"name": "mmcblk0"}, False, id="memory-card"),
        pytest.param({"is_installation_media": True}, False, id="installation-medium"),
        pytest.param({"drive_type": "FC"}, False, id="fc"),
        pytest.param({"drive_type": "iSCSI"}, False, id="iscsi"),
        pytest.param({"drive_type": "LVM"}, False, id="lvm"),
        pytest.param({"drive_type": "Multipath"}, False, id="multipath"),
        pytest.param({"drive_type": "RAID"}, True, id="raid"),
        pytest.param({"refusals": ("mounted",)}, True, id="eligible-or-not"),
    ],
)
def test_disks_to_be_formatted(changes: dict[str, Any], wiped: bool) -> None:
    disk = replace(a_disk(bootable=True), **changes)
    assert disks_to_be_formatted((disk,)) == ((disk.id,) if wiped else ())


def test_verdicts_come_in_inventory_order() -> None:
    inventory: Inventory = an_inventory(disks=(a_disk(3), a_disk(1), a_disk(2)))
    verdicts = judge_disks(inventory, minimum_gb=1, version="4.18")
    assert [verdict.id for verdict in verdicts] == [disk.id for disk in inventory.disks]
