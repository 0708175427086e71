"""Static network: what is refused, and what reaches the host."""

import io
import json
import subprocess
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.install.static_network import (
    HostNetwork,
    MacMapping,
    full_iso_delivery,
    network_files,
    network_tar,
    policy,
    require_valid,
    sorted_networks,
)
from firstlight.core.install.static_network_files import initramfs_unit
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


def test_the_order_of_hosts_and_macs_does_not_matter() -> None:
    first, second = mapped((MAC_A, "a"), (MAC_B, "b"), yaml="1"), mapped((MAC_A, "a"), yaml="2")
    turned = mapped((MAC_B, "b"), (MAC_A, "a"), yaml="1")
    assert sorted_networks([second, first]) == sorted_networks([turned, second])


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
    files = {one.path: one for one in network_files(networks, [{}, {}])}
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
    files = network_files([mapped((MAC_A, "eth0"))], [{}])
    tar = network_tar(files)
    assert tar == network_tar(files)
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        for one in files:
            member = archive.extractfile(one.path)
            assert member is not None
            assert member.read() == one.content
            assert archive.getmember(one.path).mode == 0o600


def test_scripts_are_shell_and_units_are_units() -> None:
    delivery = full_iso_delivery([])
    assert unit_file_problem(delivery.unit) == ""
    assert unit_file_problem(initramfs_unit(delay_seconds=5)) == ""
    for one in delivery.files:
        subprocess.run(["bash", "-n"], input=one.content, check=True)
