"""The small reports."""

import json

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.model.reports import ApiVipReply, DiskSpeed, ImageStatus, NtpSource, Resolution, TangReply
from firstlight.core.steps.free_addresses import MOST_NETWORKS, parse_free_addresses
from firstlight.core.steps.leases import VipLeases, parse_dhcp
from firstlight.core.steps.measurements import (
    LONGEST_REASON,
    MOST_ENTRIES,
    UpgradeReply,
    parse_api_vip,
    parse_disk_speed,
    parse_domains,
    parse_images,
    parse_ntp,
    parse_tang,
    parse_upgrade,
    parse_vips,
)


def test_time_servers() -> None:
    text = '{"ntp_sources":[{"source_name":"ntp.lab","source_state":"synced"},{}]}'
    assert parse_ntp(text) == (NtpSource("ntp.lab", "synced"), NtpSource("", ""))
    assert parse_ntp('{"ntp_sources":null}') == ()


def test_names() -> None:
    resolution = {
        "domain_name": "api.c.example.com.",
        "ipv4_addresses": ["192.0.2.5"],
        "ipv6_addresses": ["2001:db8::5"],
        "cnames": ["x."],
    }
    text = json.dumps({"resolutions": [resolution, {"domain_name": "none"}, {}]})
    assert parse_domains(text) == {
        "api.c.example.com.": Resolution(("192.0.2.5", "2001:db8::5"), ("x.",)),
        "none": Resolution(),
    }


def test_images_renew_earlier_ones() -> None:
    earlier = {"a": ImageStatus(success=False), "b": ImageStatus(success=True, size_bytes=1.0)}
    image = {"name": "a", "result": "success", "size_bytes": 333e6, "time": 12.3, "download_rate": 27.1}
    text = json.dumps({"images": [image, {"name": "c", "result": "failure"}, {"result": "success"}]})
    assert parse_images(text, earlier=earlier) == {
        "a": ImageStatus(success=True, size_bytes=333e6, seconds=12.3, megabytes_per_second=27.1),
        "b": earlier["b"],
        "c": ImageStatus(success=False),
    }
    assert parse_images('{"images":null}', earlier=None) == {}


def test_disk_speeds_renew_earlier_ones() -> None:
    earlier = {"/dev/sdb": DiskSpeed(speed_ms=3)}
    text = '{"io_sync_duration":4,"path":"/dev/sda"}'
    assert parse_disk_speed(text, exit_code=0, asked="", earlier=earlier) == {
        "/dev/sda": DiskSpeed(speed_ms=4),
        "/dev/sdb": DiskSpeed(speed_ms=3),
    }
    assert parse_disk_speed("{}", exit_code=7, asked="/dev/sda", earlier=None) == {"/dev/sda": DiskSpeed(exit_code=7)}


def test_a_killed_disk_check_failed_on_the_disk_that_was_asked_for() -> None:
    assert parse_disk_speed("", exit_code=124, asked="/dev/sda", earlier=None) == {"/dev/sda": DiskSpeed(exit_code=124)}


@pytest.mark.parametrize("output", ["", '{"path":"/dev/sda"}'])
def test_why_a_disk_was_not_measured_is_kept_and_bounded(output: str) -> None:
    error = "It is in use.\n" + "x" * 9999
    found = parse_disk_speed(output, asked="/dev/sda", earlier=None, exit_code=1, error=error)["/dev/sda"]
    assert found.error.startswith("It is in use. x")
    assert len(found.error) == LONGEST_REASON
    assert parse_disk_speed('{"path":"/dev/sda"}', asked="", earlier=None, exit_code=0, error="warning") == {
        "/dev/sda": DiskSpeed()
    }


@pytest.mark.parametrize(("output", "exit_code", "asked"), [("", 0, "/dev/sda"), ("", 124, ""), ("{}", 0, "")])
def test_a_disk_check_that_says_nothing_is_refused(output: str, exit_code: int, asked: str) -> None:
    with pytest.raises(Invalid, match="disk speed report"):
        parse_disk_speed(output, exit_code=exit_code, asked=asked, earlier=None)


def test_tang() -> None:
    assert parse_tang('{"is_success":true}', exit_code=0, error="odd") == TangReply(success=True)
    assert parse_tang('{"tang_server_response":null}', exit_code=0, error="no") == TangReply(success=False, error="no")
    assert parse_tang("not json", exit_code=-1, error="refused") == TangReply(success=False, error="refused")


def test_api_vip() -> None:
    text = '{"is_success":true,"url":"http://a/config/worker","ignition":"{}"}'
    assert parse_api_vip(text) == ApiVipReply(success=True, url="http://a/config/worker", ignition="{}")
    assert parse_api_vip('{"download_error":"404"}') == ApiVipReply(success=False, error="404")


def test_vips() -> None:
    vips = [
        {"vip": "192.0.2.5", "vip_type": "api", "verification": "succeeded"},
        {"vip": "2001:db8::6", "vip_type": "ingress", "verification": "failed"},
        {"vip": "192.0.2.7", "verification": "unverified"},
        {"vip": "no", "verification": "failed"},
        {"verification": "failed"},
    ]
    assert parse_vips(json.dumps(vips)) == {"192.0.2.5": True, "2001:db8::6": False}
    assert parse_vips("null") == {}


@pytest.mark.parametrize(("result", "succeeded"), [("success", True), ("failure", False), ("", None), (None, None)])
def test_upgrade(result: str | None, *, succeeded: bool | None) -> None:
    text = json.dumps({"agent_image": "a:1", "result": result})
    assert parse_upgrade(text) == UpgradeReply(agent_image="a:1", succeeded=succeeded)


@pytest.mark.parametrize("count", [MOST_ENTRIES, MOST_ENTRIES + 1])
def test_lists_are_bounded(count: int) -> None:
    parsers = {
        "ntp_sources": parse_ntp,
        "resolutions": parse_domains,
        "images": lambda text: parse_images(text, earlier=None),
        "vips": lambda text: parse_vips(text[9:-1]),
    }
    for key, parse in parsers.items():
        text = json.dumps({key: [{}] * count})
        if count <= MOST_ENTRIES:
            parse(text)
        else:
            with pytest.raises(Invalid, match="at most"):
                parse(text)


def test_merged_reports_are_bounded_too() -> None:
    images = {str(number): ImageStatus(success=True) for number in range(MOST_ENTRIES)}
    with pytest.raises(Invalid, match="images"):
        parse_images('{"images":[{"name":"one more"}]}', earlier=images)
    speeds = {str(number): DiskSpeed() for number in range(MOST_ENTRIES)}
    with pytest.raises(Invalid, match="disks"):
        parse_disk_speed('{"path":"one more"}', exit_code=0, asked="", earlier=speeds)


@pytest.mark.parametrize(
    ("network", "free", "bitmap"),
    [
        ("192.0.2.0/30", [], b"\x00"),
        ("192.0.2.0/30", ["192.0.2.0"], b"\x80"),
        ("192.0.2.0/30", ["192.0.2.3", "192.0.2.1", "192.0.2.9", "junk"], b"\x50"),
        ("192.0.2.8/29", ["192.0.2.8", "192.0.2.15"], b"\x81"),
        ("192.0.2.16/28", ["192.0.2.24"], b"\x00\x80"),
    ],
)
def test_free_addresses_become_bits(network: str, free: list[str], bitmap: bytes) -> None:
    text = json.dumps([{"network": network, "free_addresses": free}])
    assert parse_free_addresses(text) == {network: bitmap}


@pytest.mark.parametrize(("count", "refused"), [(MOST_NETWORKS, False), (MOST_NETWORKS + 1, True)])
def test_a_bounded_number_of_networks_is_read(count: int, refused: bool) -> None:
    output = json.dumps([{"network": f"10.0.{number}.0/24"} for number in range(count)])
    if refused:
        with pytest.raises(Invalid, match=f"names {count} networks"):
            parse_free_addresses(output)
    else:
        assert len(parse_free_addresses(output)) == count


def test_large_and_ipv6_networks_are_not_kept() -> None:
    entries = [{"network": name} for name in ("192.0.0.0/21", "2001:db8::/120", "192.0.4.0/22")]
    assert parse_free_addresses(json.dumps(entries)) == {"192.0.4.0/22": bytes(128)}


@pytest.mark.parametrize(
    "text", ["[]", "null", '[{"network":"x"}]', '[{"network":"192.0.2.1/24"}]', "{}", '[{"network":null}]']
)
def test_bad_free_address_reports_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_free_addresses(text)


LEASE = 'lease {\n  interface "api";\n  fixed-address 192.0.2.100;\n  option routers 192.0.2.1;\n}'


def test_leases() -> None:
    document = {
        "api_vip_address": "192.0.2.100",
        "ingress_vip_address": "192.0.2.101",
        "api_vip_lease": LEASE,
        "ingress_vip_lease": None,
    }
    assert parse_dhcp(json.dumps(document)) == VipLeases(
        api_vip="192.0.2.100", ingress_vip="192.0.2.101", api_lease=LEASE, ingress_lease=""
    )


@pytest.mark.parametrize(
    "change",
    [
        {"api_vip_address": None},
        {"api_vip_address": "x"},
        {"ingress_vip_address": "2001:db8::1"},
        {"api_vip_lease": "lease {}"},
        {"api_vip_lease": "lease { a b; } evil"},
        {"ingress_vip_lease": "lease { a { b; } }"},
        {"ingress_vip_lease": "lease {" + "a b;" * 1500 + "!"},
    ],
)
def test_bad_leases_are_refused(change: dict[str, str | None]) -> None:
    document = {"api_vip_address": "192.0.2.100", "ingress_vip_address": "192.0.2.101"} | change
    with pytest.raises(Invalid, match="VIP"):
        parse_dhcp(json.dumps(document))
