"""Kubernetes label syntax."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.validate.labels import check_label_key, check_label_value, check_node_labels


@pytest.mark.parametrize(
    "key",
    ["a", "A-b_c.D", "node-role.kubernetes.io/infra", "example.com/a", "a" * 63, "b" * 253 + "/a", "x/y", "0"],
)
def test_keys(key: str) -> None:
    assert check_label_key(key) == key


@pytest.mark.parametrize(
    "key",
    [
        "", "/", "a/", "/a", "-a", "a-", "_a", "a.", "a b", "a/b/c", "Example.com/a", "a..b/c", "-a/b", "a" * 64,
        "b" * 254 + "/a", "é", "a\n", "a" * 100_000, "a." * 50_000, "/" * 100_000,
    ],
)  # fmt: skip
def test_bad_keys(key: str) -> None:
    with pytest.raises(Invalid, match="label key"):
        check_label_key(key)


@pytest.mark.parametrize("value", ["", "a", "True", "a.b-c_d", "v" * 63, "1"])
def test_values(value: str) -> None:
    assert check_label_value(value) == value


@pytest.mark.parametrize("value", ["-a", "a-", "a b", "a/b", "v" * 64, ".", "é", "a\n", "a" * 100_000])
def test_bad_values(value: str) -> None:
    with pytest.raises(Invalid, match="label value"):
        check_label_value(value)


def test_labels() -> None:
    assert check_node_labels([("zone", "a"), ("empty", "")]) == {"zone": "a", "empty": ""}
    assert check_node_labels([]) == {}
    with pytest.raises(Invalid, match="'zone' is given twice"):
        check_node_labels([("zone", "a"), ("zone", "b")])


@given(st.text(max_size=70))
def test_a_key_without_slash_that_is_accepted_is_also_a_value(text: str) -> None:
    try:
        check_label_key(text)
    except Invalid:
        return
    if "/" not in text:
        assert check_label_value(text) == text
