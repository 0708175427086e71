"""DHCP messages and the lease text made of them."""

import struct
from datetime import UTC, datetime
from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.steps.leases import parse_dhcp
from firstlight.host.links.dhcp_lease import address_in, lease_text
from firstlight.host.links.dhcp_packets import (
    ACKNOWLEDGE,
    DISCOVER,
    DOMAIN,
    KIND,
    LEASE_SECONDS,
    MASK,
    REQUEST,
    ROUTERS,
    SERVER,
    WANTED_ADDRESS,
    DhcpAnswer,
    dhcp_answer_of,
    dhcp_message,
)
from firstlight.host.links.frames import checksum

MAC = bytes.fromhex("001a4a112233")
NOW = datetime(2026, 11, 15, 7, 30, tzinfo=UTC)
"""A Sunday."""


def answer(*options: tuple[int, bytes], transaction: int = 7, mac: bytes = MAC, file: bytes = b"") -> bytes:
    """A server's answer for 192.0.2.100 in its frame."""
    head = struct.pack("!BBBBIHH", 2, 1, 6, 0, transaction, 0, 0) + bytes(4) + bytes((192, 0, 2, 100)) + bytes(8)
    head += mac.ljust(16, b"\0") + bytes(64) + file.ljust(128, b"\0") + b"\x63\x82\x53\x63"
    body = head + b"".join(bytes((code, len(value))) + value for code, value in options) + b"\xff"
    datagram = struct.pack("!HHHH", 67, 68, 8 + len(body), 0xBEEF) + body
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 0, 0, 64, 17, 0, bytes(4), b"\xff" * 4)
    return b"\xff" * 6 + mac + b"\x08\x00" + header + datagram


GRANTED = (
    (KIND, bytes((ACKNOWLEDGE,))),
    (SERVER, bytes((192, 0, 2, 1))),
    (LEASE_SECONDS, struct.pack("!I", 7200)),
    (MASK, bytes((255, 255, 255, 0))),
    (ROUTERS, bytes((192, 0, 2, 1))),
    (DOMAIN, b"lab.example\0"),
)


def granted() -> DhcpAnswer:
    read = dhcp_answer_of(answer(*GRANTED), transaction=7, mac=MAC)
    assert read is not None
    return read


def test_a_message_is_a_sound_packet() -> None:
    frame = dhcp_message(REQUEST, transaction=7, mac=MAC, host_name="a", wanted=IPv4Address("192.0.2.9"))
    packet = frame[14:]
    assert checksum(packet[:20]) == 0
    assert struct.unpack_from("!H", packet, 2)[0] == len(packet)
    assert struct.unpack_from("!HHH", packet, 20) == (68, 67, len(packet) - 20)
    assert bytes((WANTED_ADDRESS, 4, 192, 0, 2, 9)) in packet
    assert dhcp_answer_of(frame, transaction=7, mac=MAC) is None  # our own question is no answer


def test_an_answer_is_read() -> None:
    read = granted()
    assert (read.kind, str(read.address), str(read.server), read.seconds) == (5, "192.0.2.100", "192.0.2.1", 7200)


@pytest.mark.parametrize(("transaction", "mac"), [(8, MAC), (7, bytes(6))])
def test_answers_to_others_are_nothing(transaction: int, mac: bytes) -> None:
    assert dhcp_answer_of(answer(*GRANTED, transaction=transaction, mac=mac), transaction=7, mac=MAC) is None


def test_options_may_spill_into_the_file_field() -> None:
    spilled = bytes((SERVER, 4, 192, 0, 2, 5, 255))
    frame = answer((KIND, b"\2"), (52, b"\1"), file=spilled)
    read = dhcp_answer_of(frame, transaction=7, mac=MAC)
    assert read is not None
    assert str(read.server) == "192.0.2.5"


@given(st.binary(max_size=600))
def test_hostile_bytes_are_nothing(data: bytes) -> None:
    dhcp_answer_of(data, transaction=7, mac=MAC)
    whole = answer(*GRANTED)
    dhcp_answer_of(whole[:14] + data, transaction=7, mac=MAC)
    dhcp_answer_of(whole[: len(whole) - 40] + data, transaction=7, mac=MAC)


def test_the_lease_text() -> None:
    assert lease_text(granted(), interface="api", now=NOW) == (
        "lease {\n"
        '  interface "api";\n'
        "  fixed-address 192.0.2.100;\n"
        "  option subnet-mask 255.255.255.0;\n"
        "  option routers 192.0.2.1;\n"
        '  option domain-name "lab.example";\n'
        "  option dhcp-lease-time 7200;\n"
        "  option dhcp-message-type 5;\n"
        "  option dhcp-server-identifier 192.0.2.1;\n"
        "  renew 0 2026/11/15 08:30:00;\n"
        "  rebind 0 2026/11/15 09:15:00;\n"
        "  expire 0 2026/11/15 09:30:00;\n"
        "}\n"
    )


@given(st.dictionaries(st.integers(0, 255), st.binary(max_size=12), max_size=20))
def test_the_service_accepts_every_lease(options: dict[int, bytes]) -> None:
    """Whatever options a server sends, the text stays one block of statements."""
    lease = DhcpAnswer(kind=5, address=IPv4Address("192.0.2.100"), server=None, options=options)
    text = lease_text(lease, interface="api", now=NOW)
    quoted = text.replace("\n", "\\n").replace('"', '\\"')
    report = f'{{"api_vip_address":"192.0.2.100","ingress_vip_address":"192.0.2.101","api_vip_lease":"{quoted}"}}'
    assert parse_dhcp(report).api_lease == text
    assert address_in(text) == lease.address


@pytest.mark.parametrize("text", ["", "lease {}", "fixed-address 1.2.3;", "fixed-address 300.1.1.1;"])
def test_a_text_without_an_address(text: str) -> None:
    assert address_in(text) is None


def test_a_lease_for_ever() -> None:
    lease = dhcp_answer_of(answer((KIND, b"\5"), (LEASE_SECONDS, b"\xff" * 4)), transaction=7, mac=MAC)
    assert lease is not None
    assert "  expire never;\n" in lease_text(lease, interface="api", now=NOW)


def test_discovery_asks_for_no_address_by_itself() -> None:
    assert bytes((WANTED_ADDRESS, 4)) not in dhcp_message(DISCOVER, transaction=1, mac=MAC, host_name="x")
