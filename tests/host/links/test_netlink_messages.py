"""Netlink: hostile bytes are nothing; the tables of this machine agree with what `ip` prints."""

import json
import shutil
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.links import netlink
from firstlight.host.links import netlink_messages as wire
from firstlight.host.links.rows import MAIN_TABLE

needs_ip = pytest.mark.skipif(shutil.which("ip") is None, reason="the program ip (package iproute2) is missing")


def shown(*words: str) -> list[dict[str, object]]:
    done = subprocess.run(["ip", "-json", "-details", *words], check=True, capture_output=True)
    return json.loads(done.stdout)


@given(st.binary(max_size=300))
def test_hostile_bytes_are_nothing(data: bytes) -> None:
    for _, _, payload in wire.messages(data):
        assert len(payload) < len(data)
    wire.link_of(data)
    wire.address_of(data)
    wire.route_of(data)
    wire.error_number(data)


@given(st.lists(st.tuples(st.integers(0, 0x3FFF), st.binary(max_size=40)), max_size=8))
def test_attributes_are_read_back(pairs: list[tuple[int, bytes]]) -> None:
    data = b"".join(wire.attribute(kind, value) for kind, value in pairs)
    assert wire.attributes(data) == dict(pairs)


@given(st.sampled_from([2, 10]), st.integers(0, 255), st.binary(max_size=120))
def test_a_hostile_route_is_read_or_nothing(family: int, prefix: int, attributes: bytes) -> None:
    header = struct.pack("=BBBBBBBBI", family, prefix, 0, 0, 254, 2, 0, 1, 0)
    route = wire.route_of(header + attributes)
    assert route is None or route.prefix_length <= route.destination.max_prefixlen


@needs_ip
def test_links_agree_with_ip() -> None:
    expected = {(row["ifname"], row["mtu"], row.get("address", "")) for row in shown("link")}
    assert {(link.name, link.mtu, link.mac) for link in netlink.links()} == expected


@needs_ip
def test_addresses_agree_with_ip() -> None:
    expected = {
        (str(row["ifname"]), f"{item['local']}/{item['prefixlen']}")
        for row in shown("address")
        for item in row["addr_info"]
    }
    names = {link.index: link.name for link in netlink.links()}
    assert {(names[row.link], str(row.interface)) for row in netlink.addresses()} == expected


@needs_ip
@pytest.mark.parametrize(("option", "family"), [("-4", 2), ("-6", 10)])
def test_routes_agree_with_ip(option: str, family: int) -> None:
    rows = [row for row in shown(option, "route", "show", "table", "main") if row.get("type", "unicast") == "unicast"]
    names = {link.index: link.name for link in netlink.links()}
    expected = sorted(
        (str(row.get("dev", "")), str(row.get("gateway", "")), int(str(row.get("metric", 0)))) for row in rows
    )
    found = [row for row in netlink.routes() if row.family == family and row.table == MAIN_TABLE]
    assert sorted((names.get(row.link, ""), str(row.gateway or ""), row.metric) for row in found) == expected
