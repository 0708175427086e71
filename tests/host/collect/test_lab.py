"""The laboratory setting works only where a laboratory can be, and shows only what it made up."""

from pathlib import Path

import pytest

from firstlight.core.errors import Invalid
from firstlight.host.collect.collecting import collect_inventory
from firstlight.host.collect.lab import VARIABLE, Lab, LabDisk, load_lab
from tests.host.collect.trees import a_disk, plant, planted_view

TOML = """
hostname = "lab-1"
cpu_count = 8
[dmi]
board_serial = "LAB0001"
[[disks]]
device = "/dev/loop3"
model = "Lab"
serial = "L1"
"""


def spaces(own: str, first: str) -> dict[str, str | bytes]:
    return {"proc/self/ns/net": f"-> net:[{own}]", "proc/1/ns/net": f"-> net:[{first}]"}


def kernel(own: str, first: str, *, name: str = "kthreadd") -> dict[str, str | bytes]:
    """A machine whose first process hides its namespaces."""
    return {"proc/self/ns/net": f"-> net:[{own}]", "proc/2/ns/net": f"-> net:[{first}]", "proc/2/comm": f"{name}\n"}


def test_nothing_is_set(tmp_path: Path) -> None:
    assert load_lab({}, root=plant(tmp_path, {})) is None


@pytest.mark.parametrize(
    "tree",
    [
        pytest.param(spaces("1", "1"), id="the-machines-own-network"),
        pytest.param({}, id="nothing-known"),
        pytest.param({"proc/self/ns/net": "-> net:[1]"}, id="not-allowed-to-look"),
        pytest.param(kernel("1", "1"), id="the-kernels-own-network"),
        pytest.param(kernel("1", "2", name="bash"), id="somebody-who-is-not-the-kernel"),
    ],
)
def test_refused_on_real_machines(tmp_path: Path, tree: dict[str, str | bytes]) -> None:
    (tmp_path / "lab.toml").write_text(TOML)
    with pytest.raises(Invalid, match="refused outside a network namespace"):
        load_lab({VARIABLE: str(tmp_path / "lab.toml")}, root=plant(tmp_path, tree))


def test_refused_here() -> None:
    """The tests themselves run in the first network namespace."""
    with pytest.raises(Invalid, match="refused"):
        load_lab({VARIABLE: "anything"})


def test_the_kernel_tells_where_the_first_process_does_not(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text(TOML)
    assert load_lab({VARIABLE: str(tmp_path / "lab.toml")}, root=plant(tmp_path, kernel("2", "1"))) is not None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lab.toml", TOML),
        (
            "lab.json",
            '{"hostname":"lab-1","cpu_count":8,"dmi":{"board_serial":"LAB0001"},'
            '"disks":[{"device":"/dev/loop3","model":"Lab","serial":"L1"}]}',
        ),
    ],
)
def test_both_formats(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    lab = load_lab({VARIABLE: str(tmp_path / name)}, root=plant(tmp_path, spaces("2", "1")))
    assert lab == Lab(
        hostname="lab-1",
        cpu_count=8,
        dmi={"board_serial": "LAB0001"},
        disks=(LabDisk(device="/dev/loop3", model="Lab", serial="L1"),),
    )
    assert lab.devices == {"/dev/loop3"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", "cannot be used", id="no-json"),
        pytest.param('{"disk":[]}', "unknown field", id="misspelt"),
        pytest.param('{"disks":[{"device":"/dev/sda"}]}', "only loop devices are admitted", id="a-real-disk"),
    ],
)
def test_settings_that_make_no_sense(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "lab.json").write_text(text)
    with pytest.raises(Invalid, match=words):
        load_lab({VARIABLE: str(tmp_path / "lab.json")}, root=plant(tmp_path, spaces("2", "1")))


@pytest.mark.anyio
async def test_only_what_was_made_up_is_shown(tmp_path: Path) -> None:
    lab = Lab(
        hostname="lab-1",
        cpu_count=8,
        memory_bytes=2**34,
        dmi={"sys_vendor": "Lab", "product_serial": "L7"},
        disks=(LabDisk(device="/dev/loop3", model="Lab", serial="L1"), LabDisk(device="/dev/loop4")),
    )
    tree = a_disk("sda") | a_disk("loop3", number="7:3", size=2**28)
    inventory = await collect_inventory(planted_view(tmp_path, tree, lab=lab))
    disks = inventory.disks or ()
    assert [(disk.name, disk.model, disk.serial, disk.size_bytes, disk.drive_type) for disk in disks] == [
        ("loop3", "Lab", "L1", 2**37, "SSD"),
        ("loop4", "", "", 0, "SSD"),
    ]
    verdicts = [disk.installation_eligibility for disk in disks]
    assert [verdict is not None and verdict.eligible for verdict in verdicts] == [True, False]
    assert inventory.hostname == "lab-1"
    assert inventory.cpu is not None
    assert inventory.memory is not None
    assert (inventory.cpu.count, inventory.memory.physical_bytes) == (8, 2**34)
    assert inventory.system_vendor is not None
    assert (inventory.system_vendor.manufacturer, inventory.system_vendor.serial_number) == ("Lab", "L7")
