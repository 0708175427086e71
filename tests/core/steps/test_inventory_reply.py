"""Inventories: tolerance, caps, and the one normal form."""

import json
from typing import Any

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.model.inventory import Disk, Interface, Inventory, Route
from firstlight.core.steps.inventory_reply import LARGEST_LISTS, MOST_ADDRESSES, parse_inventory

WHOLE: dict[str, Any] = {
    "hostname": "host-1",
    "bmc_address": "192.0.2.250",
    "bmc_v6address": "::/0",
    "boot": {
        "current_boot_mode": "uefi",
        "pxe_interface": "52:54:00:aa:bb:01",
        "command_line": "BOOT_IMAGE=/vmlinuz\n",
        "secure_boot_state": "Disabled",
        "device_type": "ephemeral",
    },
    "cpu": {
        "architecture": "x86_64",
        "count": 8,
        "frequency": 3200.5,
        "model_name": "Example",
        "flags": ["fpu", "vmx"],
    },
    "disks": [
        {
            "by_id": "/dev/disk/by-id/wwn-0x5",
            "by_path": "/dev/disk/by-path/pci-1",
            "name": "sda",
            "path": "/dev/sda",
            "drive_type": "SSD",
            "size_bytes": 128849018880,
            "wwn": "0x5",
            "hctl": "0:0:0:0",
            "has_uuid": True,
            "bootable": True,
            "holders": "dm-0,dm-1",
            "iscsi": {"host_ip_address": "192.0.2.11"},
            "installation_eligibility": {"eligible": False, "not_eligible_reasons": ["mounted"]},
        }
    ],
    "gpus": [{"address": "0000:00:02.0", "vendor_id": "10de", "device_id": "1db6", "vendor": "N", "name": "V100"}],
    "interfaces": [
        {
            "name": "enp1s0",
            "type": "physical",
            "mac_address": "52:54:00:AA:BB:01",
            "mtu": 1500,
            "has_carrier": True,
            "flags": ["up"],
            "ipv4_addresses": ["192.0.2.11/24"],
            "ipv6_addresses": ["2001:DB8::11/64"],
            "speed_mbps": -1,
            "vendor": "0x1af4",
            "product": "0x1041",
        }
    ],
    "memory": {"physical_bytes": 17179869184, "usable_bytes": 16694951936, "physical_bytes_method": "dmidecode"},
    "routes": [{"interface": "enp1s0", "destination": "0.0.0.0", "gateway": "192.0.2.1", "family": 2, "metric": 100}],
    "system_vendor": {"manufacturer": "QEMU", "product_name": "Standard PC", "serial_number": "7", "virtual": True},
    "tpm_version": "2.0",
    "truncation": {"type": "partial", "reasons": ["too long"]},
}


def facts_of(document: object, **options: Any) -> Inventory:
    return parse_inventory(json.dumps(document), **options)[0]


def document_of(document: object, **options: Any) -> dict[str, Any]:
    return json.loads(parse_inventory(json.dumps(document).encode(), **options)[1])


def test_every_field_arrives() -> None:
    facts = facts_of(WHOLE)
    assert facts.hostname == "host-1"
    assert (facts.cpu.count, facts.cpu.frequency, facts.cpu.flags) == (8, 3200.5, ("fpu", "vmx"))
    assert (facts.memory.physical_bytes, facts.memory.usable_bytes, facts.memory.method) == (
        17179869184,
        16694951936,
        "dmidecode",
    )
    assert facts.disks == (
        Disk(
            id="/dev/disk/by-id/wwn-0x5",
            name="sda",
            path="/dev/sda",
            by_id="/dev/disk/by-id/wwn-0x5",
            by_path="/dev/disk/by-path/pci-1",
            drive_type="SSD",
            size_bytes=128849018880,
            wwn="0x5",
            hctl="0:0:0:0",
            has_uuid=True,
            bootable=True,
            holders=("dm-0", "dm-1"),
            iscsi_host_ip="192.0.2.11",
            refusals=("mounted",),
        ),
    )
    assert facts.interfaces == (
        Interface(
            name="enp1s0",
            mac="52:54:00:aa:bb:01",
            type="physical",
            mtu=1500,
            speed_mbps=-1,
            has_carrier=True,
            vendor="0x1af4",
            product="0x1041",
            ipv4=("192.0.2.11/24",),
            ipv6=("2001:db8::11/64",),
        ),
    )
    assert facts.routes == (
        Route(destination="0.0.0.0", gateway="192.0.2.1", interface="enp1s0", family=2, metric=100),
    )
    assert facts.vendor is not None
    assert (facts.vendor.manufacturer, facts.vendor.virtual) == ("QEMU", True)
    assert facts.gpus[0].vendor_id == "10de"
    assert facts.boot.secure_boot == "Disabled"
    assert facts.tpm_version == "2.0"
    assert facts.bmc_address == "192.0.2.250"
    assert facts.truncation is not None
    assert facts.truncation.reasons == ("too long",)


@pytest.mark.parametrize("empty", [{}, dict.fromkeys(WHOLE), {"disks": [None], "interfaces": [None], "gpus": [None]}])
def test_absent_null_and_zero_are_the_same(empty: dict[str, object]) -> None:
    facts = facts_of(empty)
    assert facts == facts_of({})
    assert facts.cpu.count == 0
    assert facts.disks == facts.interfaces == facts.routes == ()


def test_the_document_reads_back_to_the_same_facts_and_to_itself() -> None:
    facts, document = parse_inventory(json.dumps(WHOLE))
    again, second = parse_inventory(document)
    assert again == facts
    assert second == document


def test_unknown_keys_are_dropped_and_lists_are_always_there() -> None:
    document = document_of({"surprise": 1, "disks": [{"name": "sda", "surprise": []}]})
    assert "surprise" not in document
    assert document["interfaces"] == document["routes"] == document["gpus"] == []
    assert document["disks"] == [
        {"id": "/dev/sda", "name": "sda", "installation_eligibility": {"eligible": True, "not_eligible_reasons": []}}
    ]


@pytest.mark.parametrize(
    ("disk", "disk_id"),
    [
        ({"id": "given", "by_id": "b"}, "given"),
        ({"by_id": "b", "by_path": "p", "path": "d"}, "b"),
        ({"by_path": "p", "path": "d"}, "p"),
        ({"path": "/dev/sda"}, "/dev/sda"),
        ({"name": "sda"}, "/dev/sda"),
    ],
)
def test_a_disk_without_id_gets_its_best_name(disk: dict[str, str], disk_id: str) -> None:
    assert facts_of({"disks": [disk]}).disks[0].id == disk_id


def test_a_disk_nothing_names_is_left_out() -> None:
    assert facts_of({"disks": [{"size_bytes": 1}]}).disks == ()


@pytest.mark.parametrize(
    ("eligibility", "refusals", "eligible"),
    [
        (None, (), True),
        ({}, (), True),
        ({"eligible": True}, (), True),
        ({"eligible": False, "not_eligible_reasons": ["why"]}, ("why",), False),
        ({"eligible": True, "not_eligible_reasons": ["why"]}, ("why",), False),
    ],
)
def test_reasons_alone_make_a_disk_ineligible(
    eligibility: object, refusals: tuple[str, ...], *, eligible: bool
) -> None:
    inventory = {"disks": [{"name": "sda", "installation_eligibility": eligibility}]}
    assert facts_of(inventory).disks[0].refusals == refusals
    assert document_of(inventory)["disks"][0]["installation_eligibility"]["eligible"] is eligible


@pytest.mark.parametrize(
    ("kind", "kept"),
    [("physical", True), ("bond", True), ("vlan", True), ("", True), ("bridge", False), ("device", False)],
)
def test_only_real_interfaces_count_unless_virtual_ones_are_wanted(kind: str, *, kept: bool) -> None:
    inventory = {"interfaces": [{"name": "x", "type": kind}]}
    assert bool(facts_of(inventory).interfaces) is kept
    assert bool(document_of(inventory)["interfaces"]) is kept
    assert facts_of(inventory, virtual_interfaces=True).interfaces[0].type == kind


def test_what_is_no_address_stays_out_of_the_facts() -> None:
    nic = {"ipv4_addresses": ["192.0.2.1/24", "nonsense", "192.0.2.2"], "ipv6_addresses": ["fe80::1%eth0/64"]}
    interface = facts_of({"interfaces": [nic]}).interfaces[0]
    assert interface.addresses == ("192.0.2.1/24", "192.0.2.2/32")
    assert document_of({"interfaces": [nic]})["interfaces"][0]["ipv4_addresses"][1] == "nonsense"


@pytest.mark.parametrize(
    "route", [{"destination": "x"}, {"destination": "0.0.0.0", "gateway": "x"}, {"gateway": "192.0.2.1"}]
)
def test_a_route_to_nowhere_stays_out_of_the_facts(route: dict[str, str]) -> None:
    assert facts_of({"routes": [route]}).routes == ()


def test_negative_sizes_count_as_none() -> None:
    facts = facts_of(
        {
            "cpu": {"count": -1},
            "memory": {"physical_bytes": -1, "usable_bytes": -5},
            "disks": [{"name": "a", "size_bytes": -1}],
            "interfaces": [{"mtu": -1}],
        }
    )
    assert (facts.cpu.count, facts.memory.physical_bytes, facts.disks[0].size_bytes) == (0, 0, 0)
    assert facts.interfaces[0].mtu == 0


@pytest.mark.parametrize(("extra", "reasons"), [(0, 0), (1, 1)])
@pytest.mark.parametrize("name", sorted(LARGEST_LISTS))
def test_long_lists_are_cut_and_the_inventory_says_so(name: str, extra: int, reasons: int) -> None:
    largest = LARGEST_LISTS[name]
    item = {"name": "n", "destination": "198.51.100.0"}
    inventory = {name: [item] * (largest + extra)}
    facts = facts_of(inventory)
    assert len(getattr(facts, name)) == largest
    found = () if facts.truncation is None else facts.truncation.reasons
    assert len(found) == reasons
    if reasons:
        assert facts.truncation is not None
        assert facts.truncation.type == "partial"
        assert found[0] == f"The agent reported {largest + 1} {name}; the first {largest} are kept."
        assert document_of(inventory)["truncation"]["reasons"] == list(found)


@pytest.mark.parametrize(("extra", "reasons"), [(0, 0), (1, 1)])
def test_addresses_of_all_interfaces_together_are_cut(extra: int, reasons: int) -> None:
    first = [f"10.0.{number // 250}.{number % 250 + 1}/24" for number in range(MOST_ADDRESSES - 2)]
    second = [f"2001:db8::{number}/64" for number in range(1, 3 + extra)]
    inventory = {"interfaces": [{"name": "a", "ipv4_addresses": first}, {"name": "b", "ipv6_addresses": second}]}
    facts = facts_of(inventory)
    assert [len(interface.addresses) for interface in facts.interfaces] == [MOST_ADDRESSES - 2, 2]
    found = () if facts.truncation is None else facts.truncation.reasons
    assert len(found) == reasons
    if reasons:
        assert found[0] == f"The agent reported {MOST_ADDRESSES + 1} addresses; the first {MOST_ADDRESSES} are kept."


def test_a_cut_keeps_what_the_agent_said_before() -> None:
    inventory = {"disks": [{"name": "n"}] * 513, "truncation": {"type": "full", "reasons": ["mine"]}}
    truncation = facts_of(inventory).truncation
    assert truncation is not None
    assert truncation.type == "full"
    assert truncation.reasons[0] == "mine"
    assert len(truncation.reasons) == 2


def test_a_cut_keeps_the_default_routes() -> None:
    other = {"destination": "198.51.100.0", "interface": "a"}
    default = {"destination": "0.0.0.0", "gateway": "192.0.2.1"}
    facts = facts_of({"routes": [other] * 3000 + [default, {"destination": "::", "gateway": "2001:db8::1"}]})
    assert {route.destination for route in facts.routes} == {"0.0.0.0", "::", "198.51.100.0"}


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (b"", "empty"),
        (b"[]", "object"),
        (b'{"cpu": {"count": "8"}}', "cpu.count"),
        (b'{"cpu": {"frequency": NaN}}', "malformed"),
        (b'{"disks": {}}', "disks"),
        (b'{"hostname": "\xff"}', "cannot be read"),
        ('{"hostname": "\ud800"}', "UTF-8"),
        (b'{"memory": {"physical_bytes": 1e300}}', "physical_bytes"),
        (b'{"memory": {"physical_bytes": 99999999999999999999}}', "physical_bytes"),
        (b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
        (b'{"hostname": "' + b"x" * 10_000 + b'"}', "length"),
    ],
)
def test_hostile_documents_are_refused_with_a_sentence(output: str | bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words) as refused:
        parse_inventory(output)
    assert "inventory" in str(refused.value)


def test_a_mebibyte_of_disks_is_read() -> None:
    disks = [{"name": f"sd{number}", "size_bytes": number} for number in range(15_000)]
    facts = facts_of({"disks": disks})
    assert len(facts.disks) == 512
