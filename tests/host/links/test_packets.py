"""Packets: what is built can be read, known bytes mean what the standards say, hostile bytes are nothing."""

import struct
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.links.arp_packets import ArpReply, arp_reply_of, arp_request
from firstlight.host.links.echo_packets import EchoReply, echo_reply_of, echo_request
from firstlight.host.links.frames import checksum, mac_bytes, mac_text, payload_of
from firstlight.host.links.ndp_packets import (
    Advertisement,
    advertisement,
    advertisement_of,
    group_mac,
    pseudo_header,
    solicitation,
    solicited_node,
)

MAC = bytes.fromhex("525400aabb01")
OTHER = bytes.fromhex("525400aabb02")
macs = st.binary(min_size=6, max_size=6).filter(lambda mac: mac not in (bytes(6), b"\xff" * 6))
hostile = st.binary(max_size=400)


def as_arp_reply(request: bytes, *, mac: bytes) -> bytes:
    """What the owner of the asked address sends back."""
    sender_mac, sender_ip, _, target_ip = struct.unpack_from("!6s4s6s4s", request, 22)
    return sender_mac + mac + request[12:20] + b"\0\2" + mac + target_ip + sender_mac + sender_ip


def as_echo_reply(request: bytes, *, version: int) -> bytes:
    """What the kernel of a pinged host sends back, as a raw socket shows it."""
    if version == 6:
        return b"\x81" + request[1:]
    body = b"\0\0\0\0" + request[4:]
    total = struct.pack("!H", checksum(body))
    return b"\x45" + bytes(19) + body[:2] + total + body[4:]


@given(macs, st.ip_addresses(v=4), st.ip_addresses(v=4))
def test_an_arp_question_is_answered(mac: bytes, target: IPv4Address, source: IPv4Address) -> None:
    frame = arp_request(target, mac=MAC, source=source)
    assert len(frame) == 60
    assert frame[:6] == b"\xff" * 6
    assert arp_reply_of(frame) is None  # a question is no answer
    assert arp_reply_of(as_arp_reply(frame, mac=mac)) == ArpReply(mac=mac, ip=target)


@given(macs, st.ip_addresses(v=6), st.ip_addresses(v=6))
def test_a_solicitation_is_answered(mac: bytes, target: IPv6Address, source: IPv6Address) -> None:
    frame = solicitation(target, mac=MAC, source=source)
    packet = payload_of(frame, protocol=0x86DD)
    assert packet is not None
    group = IPv6Address(packet[24:40])
    assert group == solicited_node(target)
    assert frame[:6] == group_mac(group) == b"\x33\x33" + group.packed[12:]
    assert checksum(pseudo_header(source, group, length=len(packet) - 40) + packet[40:]) == 0
    assert advertisement_of(frame) is None
    answer = advertisement(target, mac=mac, to_mac=MAC, to=source)
    assert advertisement_of(answer) == Advertisement(mac=mac, ip=target)


def test_the_group_of_an_address() -> None:
    assert solicited_node(IPv6Address("2001:db8::2:3:4567")) == IPv6Address("ff02::1:ff03:4567")
    assert group_mac(IPv6Address("ff02::1:ff03:4567")).hex(":") == "33:33:ff:03:45:67"


@given(st.data())
def test_a_damaged_advertisement_is_nothing(data: st.DataObject) -> None:
    frame = bytearray(advertisement(IPv6Address("fd00::1"), mac=MAC, to_mac=OTHER, to=IPv6Address("fd00::2")))
    place = data.draw(st.integers(22, len(frame) - 1))
    frame[place] ^= data.draw(st.integers(1, 255))
    assert advertisement_of(bytes(frame)) is None


def test_a_routed_advertisement_is_nothing() -> None:
    frame = bytearray(advertisement(IPv6Address("fd00::1"), mac=MAC, to_mac=OTHER, to=IPv6Address("fd00::2")))
    frame[21] = 254
    assert advertisement_of(bytes(frame)) is None


@given(st.sampled_from([4, 6]), st.integers(0, 65535), st.integers(0, 65535), st.integers(0, 9000))
def test_an_echo_comes_back(version: int, identifier: int, sequence: int, size: int) -> None:
    request = echo_request(version=version, identifier=identifier, sequence=sequence, size=size)
    assert len(request) == 8 + size
    reply = echo_reply_of(as_echo_reply(request, version=version), version=version)
    assert reply == EchoReply(identifier=identifier, sequence=sequence)
    assert echo_reply_of((b"\x45" + bytes(19) if version == 4 else b"") + request, version=version) is None


@given(hostile)
def test_hostile_bytes_are_nothing(data: bytes) -> None:
    arp_reply_of(data)
    advertisement_of(data)
    for version in (4, 6):
        echo_reply_of(data, version=version)
    # Behind the right protocol numbers too.
    arp_reply_of(bytes(12) + b"\x08\x06" + data)
    advertisement_of(bytes(12) + b"\x86\xdd" + data)


@given(hostile.filter(lambda data: len(data) % 2 == 0))
def test_the_checksum_of_checked_data_is_zero(data: bytes) -> None:
    assert checksum(data + struct.pack("!H", checksum(data))) == 0


@given(st.binary(min_size=6, max_size=6))
def test_mac_addresses_are_read_back(value: bytes) -> None:
    assert mac_bytes(mac_text(value)) == value
    assert mac_bytes(mac_text(value).upper().replace(":", "-")) == value


@pytest.mark.parametrize("text", ["", "52:54", "52:54:00:aa:bb:01:02", "gg:54:00:aa:bb:01"])
def test_what_is_no_mac_address(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        mac_bytes(text)
