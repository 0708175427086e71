"""Version numbers: accepted forms, order, lines."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.versions.numbers import Version, at_least, parse

identifiers = st.text(alphabet="0123456789abmultrcXYZ", min_size=1, max_size=6)
numbers = st.integers(min_value=0, max_value=999)


@st.composite
def versions(draw: st.DrawFn) -> Version:
    patch = draw(st.none() | numbers)
    parts = draw(st.lists(identifiers, max_size=3)) if patch is not None else []
    prerelease = ".".join(parts)
    if prerelease == "multi":
        prerelease = "rc.1"
    return Version(
        major=draw(numbers), minor=draw(numbers), patch=patch, prerelease=prerelease, multi=draw(st.booleans())
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4.18", Version(major=4, minor=18)),
        ("4.18.3", Version(major=4, minor=18, patch=3)),
        ("4.18-multi", Version(major=4, minor=18, multi=True)),
        ("4.18.3-multi", Version(major=4, minor=18, patch=3, multi=True)),
        ("4.19.0-rc.1", Version(major=4, minor=19, patch=0, prerelease="rc.1")),
        ("4.19.0-ec.2-multi", Version(major=4, minor=19, patch=0, prerelease="ec.2", multi=True)),
        (
            "4.20.0-0.nightly-2025-07-01-010203",
            Version(major=4, minor=20, patch=0, prerelease="0.nightly-2025-07-01-010203"),
        ),
    ],
)
def test_parse(text: str, expected: Version) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "4", "4.", "4.x", ".18", "v4.18", "4.18.", "4.18.3.1", "4.18-rc.1", "4.18.3-", "4.18.3-rc..1",
        "4.18.3--multi", " 4.18", "4.18\n", "4.1٣", "4.18.3-rc_1", "99999999.1", "4.18.0-" + "a" * 100_000,
        "4" * 100_000, "4." * 50_000,
    ],
)  # fmt: skip
def test_malformed(text: str) -> None:
    with pytest.raises(Invalid, match="is not an OpenShift version") as caught:
        parse(text)
    assert len(str(caught.value)) < 300


def test_order() -> None:
    ascending = [
        "4.9.45", "4.18", "4.18.0-ec.9", "4.18.0-rc.2", "4.18.0-rc.2-multi", "4.18.0-rc.10", "4.18.0-rc.10.1", "4.18.0",
        "4.18.0-multi", "4.18.9", "4.18.10", "4.19", "5.0.0-0.nightly", "5.0.0-ec.1",
    ]  # fmt: skip
    parsed = [parse(text) for text in ascending]
    assert all(a < b and not b < a for a, b in pairwise(parsed))


@pytest.mark.parametrize(
    ("version", "bound", "expected"),
    [
        ("4.12", "4.12", True),
        ("4.12.0-rc.1", "4.12", True),
        ("4.12.0-rc.1-multi", "4.12", True),
        ("4.11.99", "4.12", False),
        ("4.9", "4.10", False),
        ("5.0", "4.22", True),
        ("4.8.0-fc.3", "4.8.0-fc.4", False),
        ("4.8.0-fc.4", "4.8.0-fc.4", True),
        ("4.8.0", "4.8.0-fc.4", True),
        ("4.8", "4.8.0-fc.4", True),
        ("4.7", "4.8.0-fc.4", False),
        ("4.18.3-multi", "4.18.3", True),
        ("4.18.3", "4.18.3-multi", True),
    ],
)
def test_at_least(version: str, bound: str, expected: bool) -> None:
    assert at_least(version, bound) is expected
    assert at_least(parse(version), parse(bound)) is expected


@given(versions())
def test_text_round_trip(version: Version) -> None:
    assert parse(str(version)) == version
    assert hash(parse(str(version))) == hash(version)


@given(versions(), versions(), versions())
def test_total_order(a: Version, b: Version, c: Version) -> None:
    assert (a < b) + (a == b) + (b < a) == 1
    assert not (a <= b <= c) or a <= c


@given(versions())
def test_line(version: Version) -> None:
    assert version.to_minor() <= version
    assert version.to_minor().is_minor
    assert at_least(version, version.to_minor())
    assert not version.single().multi
