"""The ramdisk of minimal images, read back as the kernel reads it."""

import gzip

import pytest

from firstlight.core.install.inputs import HostFile, ProxySettings
from firstlight.core.install.ramdisk import minimal_ramdisk
from firstlight.core.install.static_network import StaticNetwork
from firstlight.core.install.static_network_files import AppliedBy

FILES = (
    HostFile(path="/etc/assisted/network/host0/mac_interface.ini", content=b"52:54:00:00:00:01=eth0\n", mode=0o600),
    HostFile(path="/etc/assisted/network/host0/ymlFile0.yml", content=b"{}\n", mode=0o600),
)
NETWORK = StaticNetwork(files=FILES, applied_by=AppliedBy.NMSTATE)
PROXY = ProxySettings(http="http://a:1", https="https://b%40:2", no_proxy="c")


def members(archive: bytes) -> dict[str, tuple[int, bytes]]:
    """Name → (mode, content), in order, until the trailer."""
    data, at = gzip.decompress(archive), 0
    found: dict[str, tuple[int, bytes]] = {}
    while True:
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * index : at + 14 + 8 * index], 16) for index in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = data[at + 110 : at + 110 + name_size - 1].decode()
        at = (at + 110 + name_size + 3) // 4 * 4
        content = data[at : at + size]
        at = (at + size + 3) // 4 * 4
        if name == "TRAILER!!!":
            assert at == len(data)
            return found
        assert name not in found
        found[name] = (mode, content)


def test_nothing_to_tell() -> None:
    assert minimal_ramdisk(None, proxy=ProxySettings()) == b""
    assert minimal_ramdisk(None, proxy=ProxySettings(no_proxy="a")) == b""


def test_static_network() -> None:
    found = members(minimal_ramdisk(NETWORK, proxy=ProxySettings(), delay_seconds=7))
    files = {name: mode for name, (mode, _) in found.items() if mode & 0o170000 != 0o040000}
    unit = "/etc/systemd/system/pre-network-manager-config.service"
    link = "/etc/systemd/system/initrd.target.wants/pre-network-manager-config.service"
    assert files == {
        "/etc/assisted/network/host0/mac_interface.ini": 0o100600,
        "/etc/assisted/network/host0/ymlFile0.yml": 0o100600,
        "/usr/local/bin/pre-network-manager-config.sh": 0o100755,
        "/usr/local/bin/common_network_script.sh": 0o100755,
        unit: 0o100644,
        link: 0o120777,
    }
    assert found[link][1] == unit.encode()
    assert b"DISCOVERY_DELAY_SECONDS=7" in found[unit][1]
    assert b"TimeoutSec=67" in found[unit][1]
    assert found[FILES[0].path][1] == FILES[0].content


def test_every_folder_comes_before_what_lies_in_it() -> None:
    seen: set[str] = set()
    for name, (mode, _) in members(minimal_ramdisk(NETWORK, proxy=PROXY)).items():
        parent = name.rpartition("/")[0]
        assert not parent or parent in seen
        if mode & 0o170000 == 0o040000:
            assert mode == 0o040755
            seen.add(name)


def test_proxy() -> None:
    found = members(minimal_ramdisk(None, proxy=PROXY))
    mode, content = found["/etc/systemd/system/coreos-livepxe-rootfs.service.d/10-proxy.conf"]
    assert mode == 0o100664
    lines = content.decode().splitlines()
    assert lines[0] == "[Service]"
    assert len(lines) == 7
    assert 'Environment="HTTPS_PROXY=https://b%%40:2"' in lines


@pytest.mark.parametrize("proxy", [ProxySettings(), PROXY])
def test_equal_inputs_give_equal_bytes(proxy: ProxySettings) -> None:
    assert minimal_ramdisk(NETWORK, proxy=proxy) == minimal_ramdisk(NETWORK, proxy=proxy)
