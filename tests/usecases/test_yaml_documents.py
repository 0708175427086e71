"""YAML from strangers: nothing but Invalid ever comes out of it, and what is refused is refused quickly."""

import contextlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.server.usecases.yaml_documents import DEEPEST, MOST_VALUES, parse_manifest


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
@pytest.mark.parametrize("pair", [(b"[", b"]"), (b'{"a":', b"}")])
@pytest.mark.parametrize(("depth", "accepted"), [(DEEPEST, True), (DEEPEST + 1, False), (900, False), (9000, False)])
def test_depth(name: str, pair: tuple[bytes, bytes], depth: int, accepted: bool) -> None:
    text = pair[0] * depth + b"1" + pair[1] * depth
    if accepted:
        assert len(parse_manifest(name, text)) == 1
    else:
        with pytest.raises(Invalid, match=r"nested deeper|recursion depth"):
            parse_manifest(name, text)


@pytest.mark.parametrize(("aliases", "accepted"), [(1, True), (MOST_VALUES // 1001 - 1, True), (210, False)])
def test_aliases_count_as_what_they_stand_for(aliases: int, accepted: bool) -> None:
    text = f"a: &a [{','.join('1' * 1000)}]\nb: [{','.join(['*a'] * aliases)}]\n".encode()
    if accepted:
        assert len(parse_manifest("a.yaml", text)) == 1
    else:
        with pytest.raises(Invalid, match="unfolds"):
            parse_manifest("a.yaml", text)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("12:30", "12:30"), ("52:54:00:12:34:56", "52:54:00:12:34:56"), ("1:30.5", "1:30.5"),
        ("2024-13-45", "2024-13-45"), ("2025-01-01", "2025-01-01"),
        ("2025-01-01T12:00:00Z", "2025-01-01T12:00:00Z"), ("10.0.0.1", "10.0.0.1"),
        ("0o644", 420), ("0644", 420), ("0x1F", 31), ("0b11", 3), ("-7", -7), ("1_000", 1000), ("0", 0), ("08", "08"),
        ("1.5", 1.5), ("-.5", -0.5), ("1.", 1.0), ("1.5e+3", 1500.0), ("yes", True), ("off", False), ("~", None),
    ],
)  # fmt: skip
def test_plain_words_are_read_as_the_cluster_reads_them(word: str, value: object) -> None:
    found = parse_manifest("a.yaml", f"a: {word}".encode())
    assert found == [{"a": value}]
    assert type(found[0]["a"]) is type(value)  # type: ignore[index]


def test_many_documents_count_together() -> None:
    with pytest.raises(Invalid, match="unfolds"):
        parse_manifest("a.yaml", b"--- 1\n" * (MOST_VALUES + 1))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(st.characters(codec="utf-8"), max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=4),
        max_leaves=20,
    )
)
def test_what_was_written_comes_back(value: object) -> None:
    assert parse_manifest("a.json", json.dumps(value).encode()) == [value]
    assert parse_manifest("a.yaml", yaml.safe_dump(value).encode()) == [value]


@given(st.text("{}[]&*!:-?|>%@`'\"\n\t #a1,.<~", max_size=60) | st.binary(max_size=60))
def test_anything_at_all_is_read_or_refused(text: str | bytes) -> None:
    for name in ("a.yaml", "a.json", "a.yaml.patch_1"):
        with contextlib.suppress(Invalid):
            parse_manifest(name, text if isinstance(text, bytes) else text.encode())
