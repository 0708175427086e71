"""Image names: full ones are read, everything else is refused."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.versions.image_reference import parse_reference

DIGEST = "sha256:" + "0123456789abcdef" * 4
GOOD = (
    "registry.example/release",
    "registry.example:5000/ocp/release:4.19.1-x86_64",
    f"registry.example/ocp/release@{DIGEST}",
    f"registry.example/ocp/release:4.19@{DIGEST}",
    "127.0.0.1:5000/a__b/c-d.e",
    "[::1]:5000/a",
    "localhost/a",
)
BAD = (
    "",
    "release",
    "registry.example/",
    "registry.example/Upper",
    "registry.example/a:",
    "registry.example/a@sha256:short",
    "registry.example/a@md5:0123",
    "registry.example/../a",
    "registry.example//a",
    "https://registry.example/a",
    "registry.example/a b",
    "registry.example/a\n",
    "registry.example:123456/a",
    "r/" + "a" * 1024,
)


@pytest.mark.parametrize("name", GOOD)
def test_a_full_name_is_read_and_written_alike(name: str) -> None:
    assert str(parse_reference(name)) == name


@pytest.mark.parametrize("name", BAD)
def test_anything_else_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(Invalid, match="registry.example/ocp/release"):
        parse_reference(name)


def test_the_digest_is_asked_for_before_the_tag() -> None:
    assert parse_reference(f"r.example/a:tag@{DIGEST}").version == DIGEST
    assert parse_reference("r.example/a:tag").version == "tag"
    assert parse_reference("r.example/a").version == "latest"


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(Invalid):
        assert str(parse_reference(text)) == text
