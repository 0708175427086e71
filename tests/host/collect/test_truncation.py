"""The document keeps to the size that was asked for and says what is missing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core import wire
from firstlight.host.collect.collecting import collect_inventory
from firstlight.host.collect.truncation import Found, Limits, encode, fit, read_limits
from tests.host.collect.trees import a_disk, planted_view


def a_document(disks: int = 20) -> wire.Inventory:
    refused = wire.InstallationEligibility(not_eligible_reasons=("The disk is in use.",))
    fine = wire.InstallationEligibility(eligible=True)
    listed = tuple(
        wire.Disk(id=f"/dev/sd{number}", name=f"sd{number}", installation_eligibility=fine if number % 2 else refused)
        for number in range(disks)
    )
    return wire.Inventory(hostname="a", cpu=wire.Cpu(count=2, flags=("x",) * 50), disks=listed, routes=())


def cut_to(size: int, document: wire.Inventory | None = None) -> wire.Inventory:
    whole = document or a_document()
    return fit(whole, found=Found(disks=len(whole.disks or ())), limits=Limits(output_max_size=size))


@pytest.mark.parametrize(
    ("arguments", "limits"),
    [
        pytest.param(["d626ff1d-7374-6dea-7559-e2240d8124fa"], Limits(), id="host-id-only"),
        pytest.param(
            ["x", "--output-max-size=1000", "--disk-min-size=2000"],
            Limits(output_max_size=1000, disk_min_size=2000),
            id="both",
        ),
        pytest.param(["x", "--output-max-size=-1", "--disk-min-size=1e3"], Limits(), id="no-numbers"),
        pytest.param(["x", "--something-new=1", "--disk-min-size"], Limits(), id="of-a-newer-service"),
        pytest.param(["--output-max-size=" + "9" * 19], Limits(output_max_size=2**62), id="huge"),
    ],
)
def test_limits(arguments: list[str], limits: Limits) -> None:
    assert read_limits(arguments) == limits


def test_what_fits_is_left_alone() -> None:
    document = a_document()
    assert cut_to(len(encode(document))) == document
    assert cut_to(0) == document


def test_one_byte_too_much_costs_disks_nobody_could_use() -> None:
    document = a_document()
    cut = cut_to(len(encode(document)) - 1)
    assert cut.truncation is not None
    listed = len(cut.disks or ())
    assert 0 < listed < 20
    assert cut.truncation == wire.Truncation(type="partial", reasons=(f"Only {listed} of 20 disks are listed.",))
    assert {disk.name for disk in cut.disks or ()} >= {f"sd{number}" for number in range(1, 20, 2)}


def test_almost_nothing_is_said_to_be_almost_nothing() -> None:
    cut = cut_to(150)
    assert cut.truncation is not None
    assert (cut.truncation.type, cut.disks) == ("full", None)
    assert cut.cpu == wire.Cpu(count=2)


@given(size=st.integers(1, 4_000), disks=st.integers(0, 40))
def test_every_size(size: int, disks: int) -> None:
    document = a_document(disks)
    cut = cut_to(size, document)
    if cut.truncation is None:
        assert cut == document
    elif cut.truncation.type == "partial":
        assert len(encode(cut)) <= size
        assert set(cut.disks or ()) < set(document.disks or ())
        # In the order they came in.
        assert [disk for disk in document.disks or () if disk in (cut.disks or ())] == list(cut.disks or ())


@pytest.mark.anyio
async def test_more_disks_than_anybody_wants(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {}
    for number in range(520):
        tree |= a_disk(f"sd{number:04}", number=f"8:{number}")
    inventory = await collect_inventory(planted_view(tmp_path, tree))
    assert len(inventory.disks or ()) == 512
    assert inventory.truncation == wire.Truncation(type="partial", reasons=("Only 512 of 520 disks are listed.",))


@pytest.mark.anyio
async def test_small_disks_are_left_out_without_a_word(tmp_path: Path) -> None:
    view = planted_view(tmp_path, a_disk("sda") | a_disk("sdb", number="8:16", size=1))
    inventory = await collect_inventory(view, limits=Limits(disk_min_size=513))
    assert ([disk.name for disk in inventory.disks or ()], inventory.truncation) == (["sda"], None)


def test_other_lists_are_counted_too() -> None:
    cut = fit(replace(a_document(0)), found=Found(interfaces=3, routes=9), limits=Limits())
    assert cut.truncation is not None
    assert cut.truncation.reasons == ("Only 0 of 3 interfaces are listed.", "Only 0 of 9 routes are listed.")
