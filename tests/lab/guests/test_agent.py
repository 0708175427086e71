"""Our agent's image in a machine that was started from our discovery image, by the unit in it."""

import json
import shlex
import sys

import pytest

from tests.lab.guests.guests import Guest
from tests.lab.guests.wards import DISK_BYTES, IMAGE_NAMES

pytestmark = [pytest.mark.timeout(3600), pytest.mark.parametrize("role", ["bootstrap"])]
RESIDENT_MB = 60


@pytest.fixture
def guest(role: str, guests: dict[str, Guest]) -> Guest:
    return guests[role]


def test_the_unit_is_as_the_service_wrote_it(guest: Guest) -> None:
    """It copies the launcher out of the image; what runs is the agent itself, with the unit's flags."""
    unit = guest.live.text("unit")
    before, start = (
        [shlex.split(line.partition("=")[2]) for line in unit.splitlines() if line.startswith(f"{name}=")]
        for name in ("ExecStartPre", "ExecStart")
    )
    assert before[-1][-4:] == [IMAGE_NAMES["AGENT_DOCKER_IMAGE"], "cp", "/usr/bin/agent", "/hostbin"]
    assert start[0][0] == "/usr/local/bin/agent"
    flags = start[0][1:]
    words = guest.live.lines("words")
    assert words[words.index("--url") :][: len(flags)] == flags
    assert dict(line.split("=") for line in guest.live.lines("state")) == {"ActiveState": "active", "NRestarts": "0"}


def test_the_inventory_is_the_machines(guest: Guest) -> None:
    listed = {one["name"]: one for one in json.loads(guest.live.text("disks"))["blockdevices"] if one["type"] == "disk"}
    disks = {one["name"]: one for one in guest.inventory["disks"]}
    assert disks["sda"]["size_bytes"] == listed["sda"]["size"] == DISK_BYTES
    assert disks["sda"]["by_id"] == f"/dev/disk/by-id/wwn-{guest.machine.disks[1].wwn}"
    assert disks["sda"]["installation_eligibility"].get("eligible")
    assert not disks["vda"]["installation_eligibility"].get("eligible"), "it carries the images, and is in use"
    [card] = [one for one in guest.inventory["interfaces"] if one["mac_address"] == guest.machine.mac]
    assert card["ipv4_addresses"] == ["10.0.2.15/24"]
    assert guest.inventory["hostname"] == "alone"
    assert guest.inventory["boot"]["current_boot_mode"] == "uefi"
    assert guest.inventory["system_vendor"]["virtual"]


def test_it_is_small(guest: Guest) -> None:
    """Processor time on an emulated processor is shown, not judged: `tests/lab/agent_image` does that on a real one."""
    status = dict(line.split(":", 1) for line in guest.live.lines("status") if ":" in line)
    resident = int(status["VmHWM"].split()[0]) / 1024
    ticks = guest.live.text("stat").rpartition(")")[2].split()[11:13]
    cpu = sum(map(int, ticks)) / int(guest.live.text("ticks"))
    sys.stdout.write(f"\nlab: the agent, registered: {resident:.1f} MB, {cpu:.1f} seconds of an emulated processor\n")
    assert resident <= RESIDENT_MB
