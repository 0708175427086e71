"""One reply, whatever it is: a report, nothing, or a refusal with a sentence."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.model.plan import StepType
from firstlight.core.model.reports import DiskSpeed, ImageStatus, ReportKind, Reports, TangReply
from firstlight.core.steps.digests import digest
from firstlight.core.steps.leases import parse_dhcp
from firstlight.core.steps.measurements import parse_upgrade
from firstlight.core.steps.replies import REPORT_OF, Reading, Reply, Surroundings, read_reply
from tests.builders.hosts import some_reports

AROUND = Surroundings(earlier=some_reports(), asked_disk="/dev/sda")

GOOD: dict[StepType, str] = {
    StepType.INVENTORY: '{"hostname":"a"}',
    StepType.CONNECTIVITY_CHECK: '{"remote_hosts":[]}',
    StepType.NTP: '{"ntp_sources":[]}',
    StepType.DOMAIN_RESOLUTION: '{"resolutions":[]}',
    StepType.IMAGE_AVAILABILITY: '{"images":[]}',
    StepType.DISK_SPEED: '{"path":"/dev/sda"}',
    StepType.TANG: '{"is_success":true}',
    StepType.API_VIP: '{"is_success":true}',
    StepType.FREE_ADDRESSES: '[{"network":"192.0.2.0/24"}]',
    StepType.VERIFY_VIPS: "[]",
}


def read(step: StepType, output: str | bytes = "", **parts: Any) -> Reading | None:
    return read_reply(Reply(step=step, output=output, **parts), surroundings=AROUND)


def test_every_measuring_step_has_a_report() -> None:
    assert REPORT_OF.keys() == GOOD.keys()
    assert set(REPORT_OF.values()) == set(ReportKind)


@pytest.mark.parametrize("step", GOOD)
def test_a_good_reply_is_read_with_its_digest(step: StepType) -> None:
    reading = read(step, GOOD[step])
    assert reading is not None
    assert reading.kind is REPORT_OF[step]
    assert reading.digest == digest(reading.kind, reading.facts)
    assert bool(reading.document) is (step is StepType.INVENTORY)


@pytest.mark.parametrize("step", sorted(set(StepType) - GOOD.keys()))
def test_other_steps_carry_no_report(step: StepType) -> None:
    assert read(step, "anything") is None


@pytest.mark.parametrize(
    "step", sorted(GOOD.keys() - {StepType.TANG, StepType.DISK_SPEED, StepType.IMAGE_AVAILABILITY})
)
def test_a_failed_step_tells_nothing(step: StepType) -> None:
    assert read(step, GOOD[step], exit_code=1) is None


def test_failures_that_tell_something() -> None:
    tang = read(StepType.TANG, "", exit_code=-1, error="refused")
    assert tang is not None
    assert tang.facts == TangReply(success=False, error="refused")
    images = read(StepType.IMAGE_AVAILABILITY, '{"images":[{"name":"a","result":"failure"}]}', exit_code=2)
    assert images is not None
    assert images.facts == {"a": ImageStatus(success=False)}
    speed = read(StepType.DISK_SPEED, "", exit_code=124)
    assert speed is not None
    assert speed.facts == {"/dev/sda": DiskSpeed(exit_code=124)}


@pytest.mark.parametrize("step", [StepType.DISK_SPEED, StepType.IMAGE_AVAILABILITY])
def test_a_second_run_beside_the_first_says_nothing(step: StepType) -> None:
    assert read(step, "") is None
    unasked = Surroundings(earlier=Reports())
    assert read_reply(Reply(step=step, exit_code=1), surroundings=unasked) is None


@pytest.mark.parametrize("step", sorted(GOOD.keys() - {StepType.DISK_SPEED, StepType.IMAGE_AVAILABILITY}))
def test_empty_output_is_refused(step: StepType) -> None:
    with pytest.raises(Invalid, match="empty"):
        read(step, "")


def test_virtual_interfaces_are_kept_where_wanted() -> None:
    reply = Reply(step=StepType.INVENTORY, output='{"interfaces":[{"name":"br0","type":"bridge"}]}')
    reading = read_reply(reply, surroundings=Surroundings(virtual_interfaces=True))
    assert reading is not None
    assert b"br0" in reading.document


# Documents that are nearly right: known keys at every level, values of every type.
_KEYS = sorted(
    {
        *(
            "hostname",
            "cpu",
            "count",
            "frequency",
            "flags",
            "memory",
            "physical_bytes",
            "disks",
            "id",
            "name",
            "size_bytes",
        ),
        *("installation_eligibility", "not_eligible_reasons", "interfaces", "ipv4_addresses", "mac_address", "routes"),
        *(
            "destination",
            "gateway",
            "gpus",
            "truncation",
            "remote_hosts",
            "host_id",
            "l2_connectivity",
            "l3_connectivity",
        ),
        *(
            "remote_ip_address",
            "remote_mac",
            "successful",
            "average_rtt_ms",
            "mtu_report",
            "ntp_sources",
            "source_name",
        ),
        *("resolutions", "domain_name", "cnames", "images", "result", "path", "io_sync_duration", "is_success", "url"),
        *("ignition", "network", "free_addresses", "vip", "verification", "agent_image", "api_vip_address", "iscsi"),
    }
)
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(
        ["192.0.2.1", "192.0.2.0/24", "2001:db8::1/64", "fe80::1%x", "1/2", "a0000000-0000-4000-8000-000000000001"]
    )
)
_DOCUMENTS = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=6),
    max_leaves=25,
)


def _outcome(read_it: Callable[[], object]) -> object:
    """What a reader returned, or the sentence it refused with."""
    try:
        return read_it()
    except Invalid as refusal:
        return str(refusal)


def _read_all(output: str | bytes) -> None:
    """Every reader either returns or refuses with a sentence; nothing else may come out."""
    for step in GOOD:
        for exit_code in (0, 1):
            found = _outcome(lambda step=step, exit_code=exit_code: read(step, output, exit_code=exit_code, error="x"))
            match found:
                case str():
                    assert found.endswith(".")
                case Reading():
                    assert found.kind is REPORT_OF[step]
                case _:
                    assert found is None
    for parse in (parse_dhcp, parse_upgrade):
        found = _outcome(lambda parse=parse: parse(output))
        assert not isinstance(found, str) or found.endswith(".")


@settings(max_examples=300, deadline=None)
@given(_DOCUMENTS)
@example({"disks": [{"size_bytes": 2**63}]})
@example({"interfaces": [{"ipv4_addresses": ["1" * 5000]}]})
def test_nearly_right_documents_never_break_a_reader(document: object) -> None:
    _read_all(json.dumps(document))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_arbitrary_bytes_never_break_a_reader(output: str | bytes) -> None:
    _read_all(output)


@pytest.mark.parametrize(
    "output",
    [
        b'{"a":' * 50_000,
        b"[" * 200_000,
        b'{"hostname":' + b'"' + b"a" * 1_048_576 + b'"}',
        b'{"ntp_sources":[{"source_name":1e400}]}',
        b"\xff\xfe{}",
        b"NaN",
        b'{"cpu":{"frequency":Infinity}}',
        '{"hostname":"\udcff"}',
    ],
    ids=range(8),
)
def test_hostile_bytes_never_break_a_reader(output: str | bytes) -> None:
    _read_all(output)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_the_same_reply_has_the_same_digest(data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(sorted(GOOD)))
    first, second = read(step, GOOD[step]), read(step, GOOD[step].encode())
    assert first == second
