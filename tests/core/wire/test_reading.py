from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core import wire

CREATE = wire.Reader(wire.ClusterCreateParams)
REQUIRED = b'"name":"ostest","openshift_version":"4.18","pull_secret":"{}"'


def create(extra: bytes) -> bytes:
    return b"{" + REQUIRED + extra + b"}"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(create(b""), {}, id="plain"),
        pytest.param(create(b',"TAGS":"a"'), {"tags": "a"}, id="upper-case-key"),
        pytest.param(
            create(b',"Api_Vips":[{"IP":"192.0.2.1"}]'), {"api_vips": (wire.ApiVip(ip="192.0.2.1"),)}, id="nested"
        ),
        pytest.param(create(b',"tags":null'), {}, id="null-is-absent"),
        pytest.param(
            create(b',"platform":{"type":"none","external":null}'), {"platform": wire.Platform(type="none")}, id="n"
        ),
        pytest.param(create(b"") + b" {more}", {}, id="trailing-data"),
        pytest.param(create(b"") + b"\n", {}, id="trailing-newline"),
        pytest.param(b" \t" + create(b""), {}, id="leading-space"),
        pytest.param(create(b',"ssh_public_key":""'), {"ssh_public_key": ""}, id="empty-is-not-absent"),
        pytest.param(create(b',"machine_networks":[]'), {"machine_networks": ()}, id="empty-list-is-not-absent"),
        pytest.param(create(b',"tags":"a","tags":"b"'), {"tags": "b"}, id="last-of-two"),
    ],
)
def test_accepted(data: bytes, expected: dict[str, object]) -> None:
    wanted = wire.ClusterCreateParams(name="ostest", openshift_version="4.18", pull_secret="{}")
    assert CREATE.read(data) == msgspec.structs.replace(wanted, **expected)


@pytest.mark.parametrize(
    ("data", "field", "sentence"),
    [
        (b'{"openshift_version":"4","pull_secret":""}', "name", "name in body is required"),
        (b'{"name":null,"openshift_version":"4","pull_secret":""}', "name", "name in body is required"),
        (
            b'{"name":"","openshift_version":"4","pull_secret":""}',
            "name",
            "name in body should be at least 1 chars long",
        ),
        (
            b'{"name":"%s","openshift_version":"4","pull_secret":""}' % (b"a" * 55),
            "name",
            "name in body should be at most 54 chars long",
        ),
        (create(b',"nmae":1'), "", 'json: unknown field "nmae"'),
        (create(b',"api_vips":[{"address":"x"}]'), "", 'json: unknown field "address"'),
        (
            create(b',"high_availability_mode":"Half"'),
            "high_availability_mode",
            "high_availability_mode in body should be one of [Full None]",
        ),
        (
            create(b',"platform":{"type":"moon"}'),
            "platform.type",
            "platform.type in body should be one of [baremetal nutanix vsphere none external]",
        ),
        (
            create(b',"load_balancer":{"type":"none\\n"}'),
            "load_balancer.type",
            "load_balancer.type in body should be one of [cluster-managed user-managed]",
        ),
        (create(b',"platform":{}'), "platform.type", "platform.type in body is required"),
        (create(b',"tags":1'), "tags", "tags in body must be of type string, not integer"),
        (create(b',"api_vips":{}'), "api_vips", "api_vips in body must be of type array, not object"),
        (create(b',"api_vips":[null]'), "api_vips.0", "api_vips.0 in body must be of type object, not null"),
        (
            create(b',"cluster_networks":[{"host_prefix":1},{"host_prefix":129}]'),
            "cluster_networks.1.host_prefix",
            "cluster_networks.1.host_prefix in body should be less than or equal to 128",
        ),
        (
            create(b',"control_plane_count":99999999999999999999'),
            "control_plane_count",
            "control_plane_count in body should be less than or equal to 9223372036854775807",
        ),
        (b"[]", "", "the value in body must be of type object, not array"),
        (b"{", "", "Input data was truncated"),
        (b"\xff", "", "JSON is malformed: invalid character (byte 0)"),
        (create(b',"tags":"\xff"'), "", "the document is not valid UTF-8"),
        (create(b',"control_plane_count":NaN'), "", None),
        (create(b',"control_plane_count":1e999'), "", None),
        (create(b',"control_plane_count":' + b"1" * 10_000), "", None),
        (b"[" * 100_000, "", "the document is nested too deeply"),
        (b'{"name":' * 100_000, "", "the document is nested too deeply"),
    ],
)
def test_refused(data: bytes, field: str, sentence: str | None) -> None:
    with pytest.raises(wire.Unreadable) as caught:
        CREATE.read(data)
    assert caught.value.field == field
    if sentence is not None:
        assert str(caught.value) == sentence


def test_a_bad_uuid_is_quoted() -> None:
    with pytest.raises(wire.Unreadable, match='cluster_id in body must be of type uuid: "x"'):
        wire.Reader(wire.BindHostParams).read(b'{"cluster_id":"x"}')


def test_a_bad_date_is_quoted() -> None:
    with pytest.raises(wire.Unreadable, match='event_time in body must be of type date-time: "now"'):
        wire.Reader(wire.EventTriggerParams).read(b'{"severity":"info","message":"m","event_time":"now"}')


@pytest.mark.parametrize(("sent", "read"), [(b'"all"', "all"), (b'["a","b"]', ("a", "b"))])
def test_ignored_validations_as_text_or_list(sent: bytes, read: object) -> None:
    ignored = wire.Reader(wire.IgnoredValidations).read(b'{"cluster-validation-ids":' + sent + b"}")
    assert ignored.cluster_validation_ids == read


def test_payloads_tolerate_strangers_and_nulls() -> None:
    inventory = wire.Reader(wire.Inventory).read(
        b'{"hostname":null,"new_fact":1,"disks":[{"name":"sda","partitionTypes":null,'
        b'"installation_eligibility":{"eligible":true,"not_eligible_reasons":null}}]}'
    )
    eligibility = wire.InstallationEligibility(eligible=True)
    assert inventory == wire.Inventory(disks=(wire.Disk(name="sda", installation_eligibility=eligibility),))


def test_free_members_stay_as_they_were_sent() -> None:
    read = wire.Reader(wire.CompletionParams).read(b'{"IS_SUCCESS":true,"data":{"A":[1,null],"b":null}}')
    assert read.data is not None
    assert {name: bytes(value) for name, value in read.data.items()} == {"A": b"[1,null]", "b": b"null"}


@pytest.mark.parametrize("field", ["api_vips", "cluster_network_cidr", "kernel"])
def test_patterns_do_not_backtrack_without_bound(field: str) -> None:
    """Hostile text for the patterns: with a backtracking one this does not end."""
    hostile = b"a:" * 20_000 + b"!"
    documents = {
        "api_vips": (CREATE, create(b',"api_vips":[{"ip":"' + hostile + b'"}]')),
        "cluster_network_cidr": (CREATE, create(b',"cluster_network_cidr":"' + hostile + b'"')),
        "kernel": (wire.Reader(wire.KernelArgument), b'{"value":"' + b"a" * 40_000 + b' "}'),
    }
    reader, document = documents[field]
    with pytest.raises(wire.Unreadable, match="should match"):
        reader.read(document)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
REQUESTS = [
    value
    for value in vars(wire).values()
    if isinstance(value, type) and issubclass(value, wire.Body | wire.Payload) and value.__struct_fields__
]


@given(st.sampled_from(REQUESTS), st.data())
def test_any_json_is_read_or_refused(form: type[msgspec.Struct], data: st.DataObject) -> None:
    names = st.sampled_from(form.__struct_encode_fields__)
    keys = names | names.map(str.upper) | st.text(max_size=5)
    document = data.draw(st.dictionaries(keys, json_values, max_size=5) | json_values)
    try:
        read = wire.Reader(form).read(msgspec.json.encode(document))
    except wire.Unreadable:
        return
    assert wire.Reader(form).read(msgspec.json.encode(read)) == read


@given(st.sampled_from(REQUESTS), st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(form: type[msgspec.Struct], data: bytes) -> None:
    with suppress(wire.Unreadable):
        wire.Reader(form).read(data)
