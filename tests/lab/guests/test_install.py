"""The installer's whole command in a machine, once per role: what is on the disk, and what starts from it."""

import json
import re

import pytest

from tests.lab.guests.conftest import ROLES
from tests.lab.guests.guests import RUNS, Guest
from tests.lab.guests.scenario import KERNEL_ARGUMENT
from tests.lab.guests.scripts import SIBLING

pytestmark = pytest.mark.timeout(3600)
every_role = pytest.mark.parametrize("role", ROLES)
COURSES = {
    "bootstrap": ["Starting installation", "Installing", "Waiting for bootkube", "Writing image to disk", "Rebooting"],
    "master": ["Starting installation", "Installing", "Writing image to disk", "Rebooting"],
    "worker": [
        *("Starting installation", "Installing", "Writing image to disk", "Waiting for control plane", "Rebooting"),
    ],
}
IN_PASSING = {"Starting installation", "Installing", "Waiting for bootkube", "Waiting for control plane"}
"""May be over between two looks at the service."""


@pytest.fixture
def guest(role: str, guests: dict[str, Guest]) -> Guest:
    return guests[role]


@every_role
def test_the_service_saw_every_stage(role: str, guest: Guest) -> None:
    course, seen = COURSES[role], guest.stage_names[: guest.stage_names.index("Rebooting") + 1]
    assert seen == [stage for stage in course if stage in seen]
    assert set(course) - set(seen) <= IN_PASSING
    percents = [int(info[:-1]) for stage, info in guest.stages if stage == "Writing image to disk" and info[-1:] == "%"]
    assert percents == sorted(percents)
    assert percents[-1] >= 90


@every_role
def test_the_disk_carries_what_was_asked_for(guest: Guest) -> None:
    disk = guest.on_disk
    assert disk.partitions == ["BIOS-BOOT", "EFI-SYSTEM", "boot", "root"]
    assert disk.ignition_mode == 0o600
    assert KERNEL_ARGUMENT in disk.options.split()
    assert "ignition.firstboot" in disk.boot_files


@every_role
def test_ignition_is_the_hosts_own(role: str, guest: Guest) -> None:
    """A single node has what bootkube rendered with the host's own on top; the others have what the service serves."""
    if role == "bootstrap":
        paths = {file["path"] for file in json.loads(guest.on_disk.ignition)["storage"]["files"]}
        assert {"/etc/lab/rendered", "/etc/hostname", "/usr/local/bin/firstlight-first-boot.sh"} <= paths
        assert json.loads(guest.on_disk.ignition)["ignition"].get("config", {}).get("merge", []) == []
    else:
        assert guest.on_disk.ignition == guest.ignition


@every_role
def test_the_network_is_carried_over(role: str, guest: Guest) -> None:
    """Static profiles by `--copy-network`, byte for byte; where there is DHCP, by a kernel argument."""
    if role == "bootstrap":
        assert f"ip={guest.machine.mac.replace(':', '-')}:dhcp" in guest.on_disk.options.split()
        assert guest.on_disk.profiles == {}
    else:
        live = {name.removeprefix("profiles/"): text for name, text in guest.live.files.items() if "profiles/" in name}
        assert guest.on_disk.profiles == live
        assert "console=tty0" not in guest.on_disk.options.split()


@pytest.mark.parametrize("role", ["master", "worker"])
def test_what_was_on_the_disk_is_gone_and_nothing_else(role: str, guest: Guest) -> None:
    before, after = (set(guest.live.lines(f"groups-{moment}")) for moment in ("before", "after"))
    if role == "master":
        assert before == {"old", "arrayed"}
        assert re.search(r"^md\d+ : active", guest.live.text("arrays-before"), re.MULTILINE)
        assert after == set()
        assert "active" not in guest.live.text("arrays-after")
    else:
        assert before == {"gone", SIBLING}
        assert after == {SIBLING}, "sdaa is not sda"
        assert guest.live.text("sibling") == "Nobody may touch this.\n"
    assert "could not be cleaned" not in guest.live.text("installer.log")


@every_role
def test_it_starts_from_its_disk(guest: Guest) -> None:
    booted = guest.booted
    words = booted.text("cmdline").split()
    assert {"ignition.firstboot", KERNEL_ARGUMENT} <= set(words)
    assert booted.lines("root") == [f"/dev/disk/by-id/wwn-{guest.machine.disks[1].wwn}-part4"]
    assert not {"ignition", "ignition.firstboot"} & set(booted.lines("boot")), "the next boot is an ordinary one"
    assert booted.lines("name")[0].startswith(guest.name)


@every_role
def test_it_has_all_of_its_configuration(role: str, guest: Guest) -> None:
    """From the machine-config server, by the certificate in the pointer; a single node has it with it."""
    if role == "bootstrap":
        assert guest.booted.text("rendered") == "rendered by bootkube"
    else:
        assert "client-certificate-data" in guest.booted.text("kubeconfig")


@every_role
def test_the_service_sees_light(role: str, guest: Guest) -> None:
    told = [info for stage, info in guest.stages if stage == "Rebooting" and RUNS in info]
    assert told
    assert role == "bootstrap" or "the machine-config server answers" in told[-1]


@pytest.mark.parametrize("role", ["bootstrap"])
def test_firmware_starts_the_disk_first(guest: Guest) -> None:
    """With the discovery image still in the drive, which it had started from before; BIOS has no order to be set."""
    shown = guest.booted.text("boot-order")
    first = re.search(r"BootOrder: ([0-9A-F]{4})", shown)
    current = re.search(r"BootCurrent: ([0-9A-F]{4})", shown)
    assert first is not None
    assert current is not None
    assert first[1] == current[1]
    assert f"Boot{first[1]}* Red Hat Enterprise Linux" in shown
