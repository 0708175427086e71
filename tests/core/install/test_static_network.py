"""Static network: what is refused, and what reaches the host."""

import io
import json
import subprocess
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.install.keyfiles import Keyfile
from firstlight.core.install.static_network import (
    HostNetwork,
    MacMapping,
    StaticNetwork,
    applied_by,
    connected_network,
    described_network,
    full_iso_delivery,
    network_tar,
    policy,
    require_valid,
)
from firstlight.core.install.static_network_files import AppliedBy, full_iso_unit, initramfs_unit
from firstlight.core.install.unit_files import unit_file_problem

MAC_A, MAC_B = "02:00:00:80:12:1a", "02:00:00:80:12:1b"


def mapped(*pairs: tuple[str, str], yaml: str = "x") -> HostNetwork:
    entries = tuple(MacMapping(mac_address=mac, logical_nic_name=name) for mac, name in pairs)
    return HostNetwork(network_yaml=yaml, mac_interface_map=entries)


def ethernet(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "type": "ethernet", "state": "up", **more}


BOND = {"name": "bond0", "type": "bond", "link-aggregation": {"mode": "active-backup", "port": ["eth0", "eth1"]}}


@pytest.mark.parametrize(
    ("network", "document"),
    [
        pytest.param(mapped((MAC_A, "eth0")), {"interfaces": [ethernet("eth0")]}, id="mapped"),
        pytest.param(mapped((MAC_A, "x")), {"interfaces": [ethernet("ens3")]}, id="predictable-name"),
        pytest.param(mapped((MAC_A, "x")), {"interfaces": [ethernet("n", identifier="mac-address")]}, id="identified"),
        pytest.param(mapped((MAC_A, "eth0"), (MAC_B, "eth1")), {"interfaces": [BOND]}, id="bond"),
        pytest.param(mapped((MAC_A, "eth0")), {"interfaces": [{"name": "br0", "type": "linux-bridge"}]}, id="bridge"),
        pytest.param(mapped((MAC_A, "eth0")), {}, id="nothing-described"),
        pytest.param(mapped((MAC_A, "eth0")), {"interfaces": "odd"}, id="odd-shape"),
    ],
)
def test_accepted(network: HostNetwork, document: object) -> None:
    require_valid(network, document, position=0)


@pytest.mark.parametrize(
    ("network", "document", "reason"),
    [
        pytest.param(mapped(), {}, "configuration 3 maps no MAC", id="no-mapping"),
        pytest.param(mapped(("02:00", "eth0")), {}, "not a MAC address", id="short-mac"),
        pytest.param(mapped((MAC_A, "")), {}, "empty interface name", id="no-name"),
        pytest.param(mapped((MAC_A, "a"), (MAC_A.upper(), "b")), {}, "appears twice", id="mac-twice"),
        pytest.param(mapped((MAC_A, "a"), (MAC_B, "a")), {}, "name a appears twice", id="name-twice"),
        pytest.param(mapped((MAC_A, "a")), [], "YAML mapping", id="a-list"),
        pytest.param(mapped((MAC_A, "a")), None, "YAML mapping", id="empty"),
        pytest.param(mapped((MAC_A, "a")), {"interfaces": [ethernet("eth7")]}, "mapped to eth7", id="unmapped"),
        pytest.param(mapped((MAC_A, "eth0")), {"interfaces": [BOND]}, "mapped to eth1", id="bond-port"),
        pytest.param(mapped((MAC_A, "eth0")), {"interfaces": [ethernet("enq1")]}, "enq1", id="unknown-prefix"),
    ],
)
def test_refused(network: HostNetwork, document: object, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        require_valid(network, document, position=2)


def test_names_become_captures_and_words_stay() -> None:
    document = {
        "interfaces": [
            ethernet("ethernet", ipv4={"enabled": True, "address": [{"ip": "192.0.2.1", "prefix-length": 24}]}),
            {"name": "vlan", "type": "vlan", "vlan": {"base-iface": "ethernet", "id": 5}},
            {"name": "b", "type": "bond", "link-aggregation": {"mode": "802.3ad", "port": ["ethernet"]}},
        ],
        "routes": {"config": [{"next-hop-interface": "ethernet"}]},
    }
    made = policy(mapped((MAC_A, "ethernet")), document)
    name = "{{ capture.iface0.interfaces.0.name }}"
    assert made["capture"] == {"iface0": f'interfaces.mac-address == "{MAC_A.upper()}"'}
    assert made["desiredState"] == {
        "interfaces": [
            {
                "name": name,
                "type": "ethernet",
                "state": "up",
                "ipv4": {"dhcp": False, "enabled": True, "address": [{"ip": "192.0.2.1", "prefix-length": 24}]},
            },
            {"name": "vlan", "type": "vlan", "vlan": {"base-iface": name, "id": 5}},
            {"name": "b", "type": "bond", "link-aggregation": {"mode": "802.3ad", "port": [name]}},
        ],
        "routes": {"config": [{"next-hop-interface": name}]},
    }


@given(st.booleans(), st.booleans())
def test_what_the_user_says_about_dhcp_stays(dhcp: bool, autoconf: bool) -> None:
    settings = {"dhcp": dhcp, "autoconf": autoconf}
    made = policy(mapped((MAC_A, "eth0")), {"interfaces": [ethernet("eth0", ipv6=settings)]})
    assert made["desiredState"]["interfaces"][0]["ipv6"] == settings


def test_files_per_host() -> None:
    networks = [mapped((MAC_B, "eth1"), (MAC_A, "eth0")), mapped((MAC_B, "eth0"))]
    files = {one.path: one for one in described_network(networks, [{}, {}]).files}
    assert sorted(files) == [
        "/etc/assisted/network/host0/mac_interface.ini",
        "/etc/assisted/network/host0/ymlFile0.yml",
        "/etc/assisted/network/host1/mac_interface.ini",
        "/etc/assisted/network/host1/ymlFile1.yml",
    ]
    assert files["/etc/assisted/network/host0/mac_interface.ini"].content == (
        f"{MAC_A.upper()}=eth0\n{MAC_B.upper()}=eth1\n".encode()
    )
    assert json.loads(files["/etc/assisted/network/host1/ymlFile1.yml"].content)["desiredState"] == {}
    assert {one.mode for one in files.values()} == {0o600}


def test_the_tar_holds_the_files() -> None:
    files = described_network([mapped((MAC_A, "eth0"))], [{}]).files
    tar = network_tar(files)
    assert tar == network_tar(files)
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        for one in files:
            member = archive.extractfile(one.path)
            assert member is not None
            assert member.read() == one.content
            assert archive.getmember(one.path).mode == 0o600


@pytest.mark.parametrize(
    ("version", "by"),
    [
        ("", AppliedBy.KEYFILES),
        ("4.17", AppliedBy.KEYFILES),
        ("4.17.99", AppliedBy.KEYFILES),
        ("4.18", AppliedBy.NMSTATE),
        ("4.18.0-ec.0", AppliedBy.NMSTATE),
        ("4.9.3", AppliedBy.KEYFILES),
        ("5.0", AppliedBy.NMSTATE),
    ],
)
def test_who_applies_it(version: str, by: AppliedBy) -> None:
    assert applied_by(version) is by


def test_connections_per_host() -> None:
    keyfile = Keyfile(name="eth0.nmconnection", content="[connection]\nautoconnect=false\nid=eth0\n\n[ipv4]\nx=1\n")
    made = connected_network([mapped((MAC_A, "eth0")), mapped((MAC_B, "eth0"))], [[keyfile], []])
    assert made.applied_by is AppliedBy.KEYFILES
    assert {one.path: (one.content.decode(), one.mode) for one in made.files} == {
        "/etc/assisted/network/host0/mac_interface.ini": (f"{MAC_A.upper()}=eth0\n", 0o600),
        "/etc/assisted/network/host0/eth0.nmconnection": (
            "[connection]\nautoconnect=true\nautoconnect-priority=1\nid=eth0\n\n[ipv4]\nx=1\n",
            0o600,
        ),
        "/etc/assisted/network/host1/mac_interface.ini": (f"{MAC_B.upper()}=eth0\n", 0o600),
    }


@pytest.mark.parametrize("name", ["../x.nmconnection", "a/b", ".hidden", "new\nline"])
def test_connections_stay_in_their_folder(name: str) -> None:
    with pytest.raises(Invalid, match="no file name"):
        connected_network([mapped((MAC_A, "eth0"))], [[Keyfile(name=name, content="")]])


@pytest.mark.parametrize("by", AppliedBy)
def test_scripts_are_shell_and_units_are_units(by: AppliedBy) -> None:
    delivery = full_iso_delivery(StaticNetwork(files=(), applied_by=by))
    assert unit_file_problem(delivery.unit) == ""
    assert unit_file_problem(initramfs_unit(by, delay_seconds=5)) == ""
    for one in delivery.files:
        subprocess.run(["bash", "-n"], input=one.content, check=True)


def test_units_come_at_their_time() -> None:
    assert "Before=NetworkManager.service" in full_iso_unit(AppliedBy.KEYFILES)
    assert "Before=nmstate.service" in full_iso_unit(AppliedBy.NMSTATE)
    assert "Before=coreos-copy-firstboot-network.service" in initramfs_unit(AppliedBy.KEYFILES)
    assert "Before=coreos-livepxe-rootfs.service" in initramfs_unit(AppliedBy.NMSTATE)
    # Being after something means nothing unless somebody wants it.
    assert all("Wants=systemd-udev-settle.service" in initramfs_unit(by) for by in AppliedBy)
