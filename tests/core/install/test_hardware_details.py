"""What a cluster is told about its machines."""

from typing import Any

import pytest

from firstlight.core.install.hardware_details import cards, hardware_of, with_hardware
from firstlight.core.install.kube_objects import Manifest, manifest
from tests.builders.clusters import cluster_state
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import a_disk, an_interface, an_inventory

V4, V6 = "192.0.2.0/24", "2001:db8::/64"
BOTH = an_interface(1, ipv4=("198.51.100.7/24", "192.0.2.11/24"), ipv6=("fe80::1/64", "2001:db8::7/64"))


@pytest.mark.parametrize(
    ("networks", "addresses"),
    [
        ((V4,), ["192.0.2.11"]),
        ((V6,), ["2001:db8::7"]),
        ((V4, V6), ["192.0.2.11", "2001:db8::7"]),
        (("203.0.113.0/24",), ["198.51.100.7"]),
        ((), ["198.51.100.7"]),
    ],
)
def test_which_address_a_card_shows(networks: tuple[str, ...], addresses: list[str]) -> None:
    assert [card["ip"] for card in cards(BOTH, networks=networks)] == addresses


@pytest.mark.parametrize("networks", [(V4,), (V4, V6)])
def test_a_card_without_address_is_still_a_card(networks: tuple[str, ...]) -> None:
    assert [card["ip"] for card in cards(an_interface(1, ipv4=()), networks=networks)] == [""]


def test_disks_and_missing_parts() -> None:
    inventory = an_inventory(1, disks=(a_disk(1, drive_type="HDD", by_path=""), a_disk(2)), vendor=None)
    state = cluster_state(hosts=[host_state(1, reports=some_reports(1, inventory=inventory))])
    known: Any = hardware_of(state)["host-1"]["hardware"]
    assert [(disk["name"], disk["rotational"]) for disk in known["storage"]] == [
        ("/dev/sda", True),
        (a_disk(2).by_path, False),
    ]
    assert "systemVendor" not in known
    assert hardware_of(cluster_state(hosts=[host_state(1, reports=some_reports(1, inventory=None))])) == {}


@pytest.mark.parametrize(
    "other",
    [
        manifest("openshift", "a.yaml", {"kind": "Machine", "metadata": {"name": "host-1"}}),
        manifest("openshift", "a.yaml", {"kind": "BareMetalHost", "metadata": {"name": "stranger"}}),
        Manifest(folder="openshift", name="a.yaml", content=""),
    ],
)
def test_other_manifests_stay_as_they_are(other: Manifest) -> None:
    assert with_hardware(other, {"host-1": {}}) is other
