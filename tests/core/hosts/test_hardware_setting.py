"""The hardware table an administrator writes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.hosts.hardware_setting import parse_hardware
from firstlight.core.hosts.requirements import hardware_for
from firstlight.core.model.policy import DEFAULT_HARDWARE


def limits(cpu_cores: int, ram_mib: int, disk_size_gb: int, **more: Any) -> dict[str, Any]:
    return {
        "cpu_cores": cpu_cores,
        "ram_mib": ram_mib,
        "disk_size_gb": disk_size_gb,
        "installation_disk_speed_threshold_ms": 10,
        **more,
    }


def a_default(**changes: Any) -> dict[str, Any]:
    whole = {
        "version": "default",
        "master": limits(4, 16384, 100, network_latency_threshold_ms=100, packet_loss_percentage=0),
        "arbiter": limits(2, 8192, 50, network_latency_threshold_ms=1000, packet_loss_percentage=0),
        "worker": limits(2, 8192, 100, network_latency_threshold_ms=1000, packet_loss_percentage=10),
        "sno": limits(8, 16384, 100),
        "edge-worker": limits(2, 8192, 15),
    }
    return {key: value for key, value in (whole | changes).items() if value is not None}


NEWER = {"version": "4.22", "match_type": "min_version", "sno": {"cpu_cores": 4}}


def test_the_original_text_is_the_built_in_table() -> None:
    assert parse_hardware([a_default(), NEWER]) == DEFAULT_HARDWARE


def test_nothing_means_the_built_in_table() -> None:
    assert parse_hardware([]) == DEFAULT_HARDWARE


def test_gaps_are_filled_from_the_default() -> None:
    special = {"version": "4.15", "worker": {"disk_size_gb": 20, "packet_loss_percentage": 0}}
    table = parse_hardware([special, a_default()])
    found = hardware_for(table, version="4.15")
    assert found.match_type == "exact"
    assert found.worker.disk_size_gb == 20
    assert found.worker.packet_loss_percentage == 0
    assert found.worker.cpu_cores == 2
    assert found.worker.network_latency_threshold_ms == 1000
    assert found.master == hardware_for(table, version="4.1").master


def test_roles_that_are_left_out_are_like_workers() -> None:
    (entry,) = parse_hardware([a_default(arbiter=None, **{"edge-worker": None})])
    assert entry.arbiter == entry.edge_worker == entry.worker


def test_without_a_default_an_entry_must_be_whole() -> None:
    (entry,) = parse_hardware([a_default(version="4.11")])
    assert entry.version == "4.11"
    with pytest.raises(Invalid, match="sno"):
        parse_hardware([a_default(version="4.11", sno=None)])


def test_unknown_keys_are_left_alone() -> None:
    assert parse_hardware([a_default(comment="ours")])[0].version == "default"


@pytest.mark.parametrize(
    ("decoded", "told"),
    [
        pytest.param({}, "cannot be read", id="no-list"),
        pytest.param(None, "cannot be read", id="null"),
        pytest.param([{"master": {}}], "cannot be read", id="no-version"),
        pytest.param([a_default(master={"cpu_cores": "4"})], "cannot be read", id="text-for-a-number"),
        pytest.param([a_default(), a_default()], "twice", id="two-defaults"),
        pytest.param([a_default(), NEWER, NEWER], "twice", id="two-minimums"),
        pytest.param([a_default(), {"version": "4.11"}, {"version": "4.11.0"}], "twice", id="twice-in-disguise"),
        pytest.param([a_default(), {"version": "4.11", "match_type": "max"}], "match_type", id="unknown-match"),
        pytest.param([a_default(match_type="min_version")], "default", id="default-as-minimum"),
        pytest.param([a_default(), {"version": "new"}], "not for a version", id="no-such-version"),
        pytest.param([a_default(version="4.11", match_type="min_version")], "default", id="minimum-without-default"),
        pytest.param([a_default(master=None)], "master", id="no-master"),
        pytest.param([a_default(worker=None)], "worker", id="no-worker"),
        pytest.param([a_default(worker=limits(0, 1, 1))], "cpu_cores", id="no-cores"),
        pytest.param([a_default(worker=limits(1, 0, 1))], "ram_mib", id="no-memory"),
        pytest.param([a_default(worker=limits(1, 1, -1))], "disk_size_gb", id="negative-disk"),
        pytest.param([a_default(worker={"cpu_cores": 1, "ram_mib": 1})], "disk_size_gb", id="disk-not-given"),
        pytest.param(
            [a_default(sno=limits(1, 1, 1, installation_disk_speed_threshold_ms=-1))], "threshold", id="speed"
        ),
        pytest.param([a_default(sno=limits(1, 1, 1, network_latency_threshold_ms=-0.1))], "latency", id="latency"),
        pytest.param([a_default(sno=limits(1, 1, 1, packet_loss_percentage=float("nan")))], "loss", id="loss"),
    ],
)
def test_what_cannot_be_meant_is_refused(decoded: object, told: str) -> None:
    with pytest.raises(Invalid, match=told) as refused:
        parse_hardware(decoded)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize("match_type", ["", "exact", "min_version"])
def test_match_types(match_type: str) -> None:
    table = parse_hardware([a_default(), {"version": "4.11", "match_type": match_type}])
    assert table[1].match_type == (match_type or "exact")


def test_one_version_may_be_both_exact_and_a_minimum() -> None:
    table = parse_hardware([a_default(), {"version": "4.11"}, {"version": "4.11", "match_type": "min_version"}])
    assert hardware_for(table, version="4.11") == table[1]
    assert hardware_for(table, version="4.12") == table[2]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["version", "match_type", "master", "worker", "sno", "cpu_cores", "x"]), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@given(decoded=JSON)
def test_anything_is_read_or_refused(decoded: object) -> None:
    try:
        table = parse_hardware(decoded)
    except Invalid:
        return
    assert table
