"""`tools/record-host` on the machine that runs the tests: what is collected from the recording is what is there."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from firstlight.host.collect.collecting import collect_inventory
from firstlight.host.collect.view import View, read_network
from firstlight.host.root import Root
from tests.host.collect.trees import NoPrograms, recorded_view

pytestmark = pytest.mark.anyio

TOOL = Path(__file__).parents[3] / "tools" / "record-host"


def record(folder: Path, *options: str) -> Path:
    archive = folder / "record.tar.gz"
    subprocess.run([sys.executable, TOOL, archive, *options], check=True, capture_output=True, timeout=120)
    with tarfile.open(archive) as tree:
        assert all(member.isfile() or member.issym() for member in tree)
        assert all(member.size <= 262_144 for member in tree)
        tree.extractall(folder / "tree", filter="data")
    return folder / "tree"


async def test_a_recording_gives_the_same_inventory(tmp_path: Path) -> None:
    recorded = await collect_inventory(recorded_view(record(tmp_path)))
    live = await collect_inventory(View(root=Root(), programs=NoPrograms()))
    assert recorded.disks == live.disks
    assert recorded.cpu == live.cpu
    assert recorded.memory == live.memory
    assert recorded.boot == live.boot
    assert recorded.gpus == live.gpus
    assert {one.name for one in recorded.interfaces or ()} >= {"lo"}


async def test_a_disguised_recording_names_no_address_of_ours(tmp_path: Path) -> None:
    tree = record(tmp_path, "--anonymous")
    hidden = recorded_view(tree).network().links
    ours = {link.mac for link in read_network().links if link.mac.strip("0:")}
    assert hidden
    assert not ours & {link.mac for link in hidden}
    inventory = await collect_inventory(recorded_view(tree))
    live = await collect_inventory(View(root=Root(), programs=NoPrograms()))
    assert [disk.size_bytes for disk in inventory.disks or ()] == [disk.size_bytes for disk in live.disks or ()]
