"""Which values may be read after writes that were answered, refused or cut off."""

import pytest

from tests.end_to_end.journal import written
from tests.end_to_end.registers import MISSING, Register

ACKNOWLEDGED, REFUSED, CUT_OFF = "acknowledged", "refused", "cut off"


@pytest.mark.parametrize(
    ("writes", "possible"),
    [
        ([], {MISSING}),
        ([("a", ACKNOWLEDGED)], {"a"}),
        ([("a", REFUSED)], {MISSING}),
        ([("a", CUT_OFF)], {MISSING, "a"}),
        ([("a", ACKNOWLEDGED), ("b", ACKNOWLEDGED)], {"b"}),
        ([("a", ACKNOWLEDGED), ("b", CUT_OFF)], {"a", "b"}),
        ([("a", ACKNOWLEDGED), ("b", CUT_OFF), ("c", CUT_OFF)], {"a", "b", "c"}),
        ([("a", CUT_OFF), ("b", ACKNOWLEDGED)], {"b"}),
        ([("a", ACKNOWLEDGED), ("b", REFUSED)], {"a"}),
        ([("a", ACKNOWLEDGED), (MISSING, ACKNOWLEDGED)], {MISSING}),
    ],
)
def test_one_after_the_other(writes: list[tuple[str, str]], possible: set[str]) -> None:
    register = Register()
    for value, outcome in writes:
        with register.writing(value) as write:
            write.acknowledged, write.refused = outcome == ACKNOWLEDGED, outcome == REFUSED
    assert set(register.possible()) == possible


def test_two_at_once_may_end_either_way() -> None:
    register = Register()
    with register.writing("a") as first, register.writing("b") as second:
        first.acknowledged = second.acknowledged = True
    assert set(register.possible()) == {"a", "b"}
    with register.writing("c") as third:
        third.acknowledged = True
    assert register.possible() == ["c"]
    assert register.counts == 3


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "thing", "value"),
    [
        ("PATCH", "/v2/clusters/1", {}, b'{"name":"n"}', ("cluster-field", "1", "name"), "n"),
        ("DELETE", "/v2/clusters/1", {}, b"", ("cluster", "1"), MISSING),
        (
            "PUT",
            "/v2/infra-envs/1/hosts/2/progress",
            {},
            b'{"current_stage":"Joined"}',
            ("stage", "1", "2"),
            ("Joined", ""),
        ),
        (
            "DELETE",
            "/v2/clusters/1/manifests",
            {"folder": "manifests", "file_name": "f"},
            b"",
            ("manifest", "1", "manifests", "f"),
            MISSING,
        ),
    ],
)
def test_what_a_request_writes(
    method: str, path: str, query: dict[str, str], body: bytes, thing: tuple[str, ...], value: object
) -> None:
    assert written(method, path, query, body) == {thing: value}


def test_reading_writes_nothing() -> None:
    assert written("GET", "/v2/clusters/1", {}, None) == {}
