"""The scripts on the host, run by bash in a root of their own: which host am I, and what are my cards called?"""

import os
import subprocess
from pathlib import Path

import pytest

from firstlight.core.install.keyfiles import Keyfile
from firstlight.core.install.static_network import HostNetwork, MacMapping, connected_network, described_network

A, B, C = "02:00:00:80:12:1a", "02:00:00:80:12:1b", "02:00:00:80:12:1c"


def host(*pairs: tuple[str, str]) -> HostNetwork:
    entries = tuple(MacMapping(mac_address=mac, logical_nic_name=name) for mac, name in pairs)
    return HostNetwork(network_yaml="", mac_interface_map=entries)


def connection(name: str, *lines: str) -> Keyfile:
    content = "\n".join(["[connection]", f"id={name}", f"interface-name={name}", *lines]) + "\n"
    return Keyfile(name=f"{name}.nmconnection", content=content)


class Machine:
    """A root file system with network cards."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "sys/class/net").mkdir(parents=True)

    def card(self, name: str, mac: str, *, hardware: bool = True, permanent: str = "") -> None:
        folder = self.root / "sys/class/net" / name
        folder.mkdir()
        (folder / "address").write_text(f"{mac}\n")
        if hardware:
            (folder / "device").touch()
        if permanent:
            (folder / "bonding_slave").mkdir()
            (folder / "bonding_slave/perm_hwaddr").write_text(f"{permanent}\n")

    def carry(self, network: object) -> None:
        for one in (*network.files, *network.scripts):  # type: ignore[attr-defined]
            path = self.root / one.path.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(one.content)
            path.chmod(one.mode)

    def late_card(self, name: str, mac: str, *, sleeps: int) -> None:
        """A card whose driver comes up after the script has slept so many times; the kernel's name for it is eth0."""
        net, count = self.root / "sys/class/net", self.root / "slept"
        lines = [
            "#!/bin/bash",
            f"echo >> {count}",
            f"case $(wc -l < {count}) in",
            f"{sleeps}) mkdir {net}/eth0; touch {net}/eth0/device; echo {mac} > {net}/eth0/address ;;",
            f"{sleeps + 2}) mv {net}/eth0 {net}/{name} ;;",
            "esac",
        ]
        (self.root / "programs").mkdir()
        (self.root / "programs/sleep").write_text("\n".join(lines))
        (self.root / "programs/sleep").chmod(0o755)

    def boot(self, *, quiet_seconds: int = 0) -> str:
        programs = self.root / "programs"
        programs.mkdir(exist_ok=True)
        (programs / "nmstatectl").write_text('#!/bin/bash\necho "nmstatectl $*"\n')
        (programs / "nmstatectl").chmod(0o755)
        ended = subprocess.run(
            ["bash", str(self.root / "usr/local/bin/pre-network-manager-config.sh")],
            env={
                "ROOT": str(self.root),
                "QUIET_SECONDS": str(quiet_seconds),
                "PATH": f"{programs}:{os.environ['PATH']}",
            },
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        assert ended.stderr == ""
        return ended.stdout

    def connections(self, folder: str = "etc/NetworkManager/system-connections") -> dict[str, list[str]]:
        found = sorted((self.root / folder).iterdir())
        assert all(path.stat().st_mode & 0o777 == 0o600 for path in found)
        return {path.name.removesuffix(".nmconnection"): path.read_text().splitlines() for path in found}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_card_that_comes_late_and_is_renamed_later(machine: Machine) -> None:
    """Seen on a slow machine: the script began before any driver, and gave up because nothing changed."""
    machine.card("lo", "00:00:00:00:00:00", hardware=False)
    machine.late_card("enp1s0", A, sleeps=8)
    machine.carry(connected_network([host((A, "nic0"))], [[connection("nic0", "a=1")]]))
    machine.boot(quiet_seconds=3)
    assert "a=1" in machine.connections()["enp1s0"]


def test_names_that_change_places(machine: Machine) -> None:
    """The logical eth0 is the real eth1 and the other way round: renaming one after the other would mix them up."""
    machine.card("eth0", B)
    machine.card("eth1", A)
    machine.carry(
        connected_network([host((A, "eth0"), (B, "eth1"))], [[connection("eth0", "a=1"), connection("eth1", "b=2")]])
    )
    machine.boot()
    found = machine.connections()
    assert "a=1" in found["eth1"]
    assert "interface-name=eth1" in found["eth1"]
    assert "b=2" in found["eth0"]
    assert "id=eth0" in found["eth0"]


def test_references_follow_and_words_stay(machine: Machine) -> None:
    machine.card("enp1s0", A)
    machine.card("enp0s20f0u1u6c2", B)
    machine.carry(
        connected_network(
            [host((A, "ethernet"), (B, "eth1"))],
            [
                [
                    connection("ethernet", "type=ethernet", "master=bond0", "slave-type=bond"),
                    connection("bond0", "[bond]", "primary=ethernet", "mode=active-backup"),
                    connection("eth1.100", "[vlan]", "id=100", "parent=eth1", "[ipv4]", "dns-search=eth1.example.com"),
                ]
            ],
        )
    )
    machine.boot()
    found = machine.connections()
    assert sorted(found) == ["bond0", "enp0s20f0u1.100", "enp1s0"]
    assert {"type=ethernet", "master=bond0", "slave-type=bond"} <= {*found["enp1s0"]}
    assert "primary=enp1s0" in found["bond0"]
    vlan = {"interface-name=enp0s20f0u1.100", "id=100", "parent=enp0s20f0u1u6c2", "dns-search=eth1.example.com"}
    assert vlan <= {*found["enp0s20f0u1.100"]}


def test_only_this_host_s_connections(machine: Machine) -> None:
    machine.card("ens3", C.upper())
    (machine.root / "etc/NetworkManager/system-connections").mkdir(parents=True)
    (machine.root / "etc/NetworkManager/system-connections/old.nmconnection").write_text("x")
    machine.carry(
        connected_network(
            [host((A, "eth0")), host((C, "eth0")), host((B, "eth0"))],
            [[connection("eth0", "a=1")], [connection("eth0", "c=3")], [connection("eth0", "b=2")]],
        )
    )
    assert machine.boot() == ""
    found = machine.connections()
    assert [*found] == ["ens3"]
    assert "c=3" in found["ens3"]


def test_a_machine_nobody_described_keeps_its_network(machine: Machine) -> None:
    machine.card("ens3", C)
    machine.carry(connected_network([host((A, "eth0"))], [[connection("eth0")]]))
    assert "None of the described hosts" in machine.boot()
    assert not (machine.root / "etc/NetworkManager").exists()


def test_addresses_of_ports_and_of_what_is_no_hardware(machine: Machine) -> None:
    machine.card("bond7", A, hardware=False)
    machine.card("ens3", A)
    machine.card("ens4", A, permanent=B)
    machine.carry(connected_network([host((A, "eth0"), (B, "eth1"))], [[connection("eth0"), connection("eth1")]]))
    machine.boot()
    assert sorted(machine.connections()) == ["ens3", "ens4"]


def test_in_the_initramfs(machine: Machine) -> None:
    machine.card("ens3", A)
    machine.carry(connected_network([host((A, "eth0"))], [[connection("eth0")]]))
    (machine.root / "etc/initrd-release").touch()
    machine.boot()
    assert [*machine.connections("etc/coreos-firstboot-network")] == ["ens3"]
    assert not (machine.root / "etc/NetworkManager").exists()


def test_descriptions_are_handed_to_nmstate(machine: Machine) -> None:
    machine.card("ens3", B)
    machine.carry(described_network([host((A, "eth0")), host((B, "eth0"))], [{}, {"interfaces": []}]))
    assert machine.boot() == "nmstatectl service\n"
    assert [path.name for path in (machine.root / "etc/nmstate").iterdir()] == ["ymlFile1.yml"]
