"""Machines start from what the image service streams, and Ignition writes what the environment says."""

import shlex
from concurrent.futures import Future

import pytest

from lab.live_iso import KARGS
from tests.lab.images.conftest import BOOTS, Boot, Booted
from tests.lab.images.environments import ARGUMENTS, enabled_units, files_of
from tests.lab.images.reports import MARKED, MARKER

APPENDED = " ".join(ARGUMENTS)
NAMES = [boot.name for boot in BOOTS]
BY_NAME: dict[str, Boot] = {boot.name: boot for boot in BOOTS}

pytestmark = [pytest.mark.timeout(1800), pytest.mark.parametrize("boot", NAMES)]


@pytest.fixture
def booted(boot: str, boots: dict[str, Future[Booted]]) -> Booted:
    return boots[boot].result()


def words(arguments: str) -> list[str]:
    return shlex.split(arguments)


def test_every_file_and_unit_of_the_config_is_there(booted: Booted) -> None:
    wanted = {file.path: (file.content, file.mode) for file in files_of(booted.ignition)}
    assert wanted[MARKER] == (MARKED, 0o640)
    assert booted.report.files == wanted
    assert enabled_units(booted.ignition) <= booted.report.enabled


def test_the_machine_was_started_as_intended(boot: str, booted: Booted) -> None:
    way = BY_NAME[boot]
    assert booted.report.is_uefi == (way.firmware == "uefi")
    # Boot loaders may move quotation marks, which the kernel does not mind.
    assert words(booted.report.arguments)[-len(words(APPENDED)) :] == words(APPENDED)
    assert (KARGS in booted.report.arguments) == (way.image == "full.iso")
    assert ("coreos.live.rootfs_url=" in booted.report.arguments) == (way.image != "full.iso")


def test_the_network_is_the_one_that_was_described(boot: str, booted: Booted) -> None:
    """By DHCP a machine has QEMU's first address; a static one must have reached us without any."""
    expected = BY_NAME[boot].address or "10.0.2.15"
    assert {one for one in booted.report.addresses if one.startswith("10.")} == {expected}
