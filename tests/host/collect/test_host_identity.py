"""The original's host id, and a fingerprint that does not move when the machine does not."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from firstlight.core.model.fingerprint import make_fingerprint
from firstlight.host.collect.identity import NO_SERIAL, NOBODY, fingerprint, host_id, permanent_macs
from firstlight.host.collect.lab import Lab
from firstlight.host.links.rows import LOOPBACK, Link
from firstlight.host.root import Root
from tests.host.collect.trees import plant

SERIAL, SERIAL_ID = "CN7220016A00B7", UUID("d626ff1d-7374-6dea-7559-e2240d8124fa")
MAC, MAC_ID = "52:54:00:aa:bb:01", UUID("a0d9e086-ae60-bd63-5910-fed4736ccffa")
SYSTEM = "4C4C4544-0044-4810-8031-B4C04F4B3533"
LOOP = Link(index=1, name="lo", mac="00:00:00:00:00:00", flags=LOOPBACK)
CARDS = (LOOP, Link(index=3, name="eth1", mac="52:54:00:aa:bb:02"), Link(index=2, name="eth0", mac=MAC))


def firmware(folder: Path, **values: str) -> Root:
    return plant(folder, {f"sys/class/dmi/id/{name}": f"{value}\n" for name, value in values.items()})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({"board_serial": SERIAL, "product_uuid": SYSTEM}, SERIAL_ID, id="board-serial"),
        pytest.param({"board_serial": f"  {SERIAL} "}, SERIAL_ID, id="blanks-around"),
        pytest.param({"product_uuid": SYSTEM}, UUID(SYSTEM), id="no-serial"),
        pytest.param({"board_serial": "None", "product_uuid": "not a uuid"}, MAC_ID, id="neither"),
        pytest.param({"product_uuid": "00000000-0000-0000-0000-000000000000"}, MAC_ID, id="all-zeroes"),
        pytest.param({"product_uuid": "03000200-0400-0500-0006-000700080009"}, MAC_ID, id="everybodys-uuid"),
        pytest.param({}, MAC_ID, id="nothing-readable"),
    ],
)
def test_the_first_sound_source_wins(tmp_path: Path, values: dict[str, str], expected: UUID) -> None:
    assert host_id(firmware(tmp_path, **values), CARDS) == expected


@pytest.mark.parametrize("serial", sorted(NO_SERIAL))
@pytest.mark.parametrize("spelling", [str.lower, str.upper, str.title])
def test_words_for_no_serial_number(tmp_path: Path, serial: str, spelling: Callable[[str], str]) -> None:
    root = firmware(tmp_path, board_serial=spelling(serial), product_uuid=SYSTEM)
    assert host_id(root, CARDS) == UUID(SYSTEM)


def test_case_makes_another_serial_number(tmp_path: Path) -> None:
    assert host_id(firmware(tmp_path, board_serial=SERIAL.lower()), CARDS) != SERIAL_ID


def test_a_machine_without_anything(tmp_path: Path) -> None:
    assert host_id(Root(tmp_path), [LOOP]) == NOBODY


def test_the_laboratory_decides(tmp_path: Path) -> None:
    root = firmware(tmp_path, board_serial="OTHER")
    assert host_id(root, CARDS, lab=Lab(dmi={"board_serial": SERIAL})) == SERIAL_ID
    assert host_id(root, CARDS, lab=Lab(host_id=MAC_ID, dmi={"board_serial": SERIAL})) == MAC_ID
    assert host_id(root, CARDS, lab=Lab()) == MAC_ID


def places(**at: str) -> dict[str, str | bytes]:
    return {f"sys/class/net/{name}": f"-> ../../devices/{place}" for name, place in at.items()}


def test_permanent_addresses_of_built_in_cards(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        places(eth0="pci0/net/eth0", eth1="pci0/net/eth1", bond0="virtual/net/bond0", usb0="pci0/usb1/net/usb0"),
    )
    cards = [
        Link(index=2, name="eth0", mac=MAC, permanent_mac=MAC),
        Link(index=3, name="eth1", mac=MAC, permanent_mac="52:54:00:aa:bb:02", member_kind="bond"),
        Link(index=4, name="bond0", mac=MAC, kind="bond"),
        Link(index=5, name="usb0", mac="be:3a:f2:b6:05:9f"),
    ]
    assert permanent_macs(root, cards) == (MAC, "52:54:00:aa:bb:02")
    assert permanent_macs(root, cards[2:]) == ("be:3a:f2:b6:05:9f",)
    assert fingerprint(root, cards) == fingerprint(root, cards[::-1])


def test_each_fact_of_the_board_counts(tmp_path: Path) -> None:
    facts = {"product_uuid": SYSTEM, "product_serial": "A", "board_serial": "B", "chassis_serial": "C"}
    seen = {fingerprint(Root(tmp_path), (), lab=Lab(dmi=facts)).board}
    for name in facts:
        seen.add(fingerprint(Root(tmp_path), (), lab=Lab(dmi=facts | {name: "X"})).board)
    assert len(seen) == 5


def test_a_virtual_cable_is_a_card_in_the_laboratory(tmp_path: Path) -> None:
    root = plant(tmp_path, places(eth0="virtual/net/eth0"))
    veth = Link(index=2, name="eth0", mac=MAC, kind="veth")
    assert permanent_macs(root, [veth]) == ()
    found = fingerprint(root, [veth], lab=Lab())
    assert found == make_fingerprint(board=found.board, macs=[MAC])
