"""Many agents on one machine, as in a load test: each shows one interface with the values it was given."""

from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firstlight.host.collect.collecting import inventory_document
from firstlight.host.collect.view import Network, View
from firstlight.host.links.rows import UP, Address, Link
from firstlight.host.settings import DryRun
from tests.host.collect.trees import Scripted, plant

pytestmark = pytest.mark.anyio


def a_link(index: int, name: str) -> Link:
    return Link(index=index, name=name, mac=f"52:54:00:00:00:{index:02x}", mtu=1500, flags=UP)


NETWORK = Network(
    links=(a_link(1, "eth0"), a_link(2, "eth1"), a_link(3, "eth2")),
    addresses=tuple(
        Address(link=index, interface=ip_interface(text))
        for index, text in ((1, "fd00::1/64"), (2, "192.0.2.5/25"), (2, "192.0.2.6/25"), (3, "198.51.100.7/24"))
    ),
)


async def seen(folder: Path, dry_run: DryRun | None) -> tuple[dict[str, Any], list[str]]:
    root = plant(folder, {"dev/ipmi0": "", "proc/sys/kernel/hostname": "box\n"})
    programs = Scripted({})
    view = View(root=root, programs=programs, network=lambda: NETWORK, dry_run=dry_run)
    return msgspec.json.decode(await inventory_document(view)), programs.asked


@pytest.mark.parametrize(
    ("dry_run", "hostname", "mac", "addresses"),
    [
        pytest.param(DryRun(), "box", "52:54:00:00:00:02", ["192.0.2.5/25", "192.0.2.6/25"], id="nothing-forced"),
        pytest.param(
            DryRun(hostname="sim-1", mac="AA:BB:CC:00:00:01", ipv4="10.0.0.1"),
            "sim-1",
            "aa:bb:cc:00:00:01",
            ["10.0.0.1/25", "192.0.2.6/25"],
            id="the-prefix-is-the-real-one",
        ),
        pytest.param(
            DryRun(ipv4="10.0.0.1/8"), "box", "52:54:00:00:00:02", ["10.0.0.1/8", "192.0.2.6/25"], id="or-its-own"
        ),
    ],
)
async def test_one_interface_with_the_values_given(
    tmp_path: Path, dry_run: DryRun, hostname: str, mac: str, addresses: list[str]
) -> None:
    inventory, asked = await seen(tmp_path, dry_run)
    [interface] = inventory["interfaces"]
    assert (inventory["hostname"], interface["name"], interface["mac_address"]) == (hostname, "eth1", mac)
    assert interface["ipv4_addresses"] == addresses
    assert "truncation" not in inventory
    assert not any(command.startswith("ipmitool") for command in asked), "the machine's board is nobody's"


async def test_otherwise_all_are_shown(tmp_path: Path) -> None:
    inventory, _ = await seen(tmp_path, None)
    assert [interface["name"] for interface in inventory["interfaces"]] == ["eth0", "eth1", "eth2"]
