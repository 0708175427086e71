"""Any Range of a described file must be the same bytes as of the file written out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.images.ranges import ByteRange, Unsatisfiable, multipart, wanted_ranges
from firstlight.core.images.virtual import FileSlice, Memory, Region, VirtualFile, materialised, whole_file
from tests.builders.live_isos import noise, reader

BASE = noise("base", 1_000)
FILES = {"base": reader(BASE), "other": reader(noise("other", 500))}


@st.composite
def regions(draw: st.DrawFn) -> list[Region]:
    found: list[Region] = []
    at = 0
    for _ in range(draw(st.integers(0, 5))):
        offset = draw(st.integers(at, 1_000))
        data = draw(st.binary(max_size=min(200, 1_000 - offset)))
        found.append(Region(offset, data))
        at = offset + len(data)
    return draw(st.permutations(found))


@st.composite
def virtual_files(draw: st.DrawFn) -> VirtualFile:
    slices = st.builds(FileSlice, st.just("other"), st.integers(0, 250), st.integers(0, 250))
    memory = st.builds(Memory, st.binary(max_size=50))
    tail = draw(st.lists(slices | memory, max_size=5))
    return VirtualFile((*whole_file("base", size=1_000).patched(draw(regions())).segments, *tail))


@given(virtual_files(), st.integers(0, 3_000), st.integers(0, 3_000))
def test_any_part_is_the_same_part_of_the_whole(file: VirtualFile, start: int, stop: int) -> None:
    whole = materialised(file.segments, FILES)
    assert len(whole) == file.size
    assert materialised(file.between(start, stop), FILES) == whole[start:stop]


@given(regions())
def test_a_patched_file_differs_only_where_it_was_patched(changes: list[Region]) -> None:
    expected = bytearray(BASE)
    for change in changes:
        expected[change.offset : change.end] = change.data
    assert materialised(whole_file("base", size=1_000).patched(changes).segments, FILES) == bytes(expected)


@given(virtual_files(), regions())
def test_patching_a_patched_file(file: VirtualFile, changes: list[Region]) -> None:
    expected = bytearray(materialised(file.segments, FILES))
    for change in changes:
        expected[change.offset : change.end] = change.data
    assert materialised(file.patched(changes).segments, FILES) == bytes(expected)


def test_neighbours_in_a_file_become_one_segment() -> None:
    file = VirtualFile((FileSlice("base", 0, 10), FileSlice("base", 10, 5), Memory(b""), FileSlice("base", 15, 1)))
    assert file.segments == (FileSlice("base", 0, 16),)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([Region(10, b"ab"), Region(11, b"c")], id="overlapping"),
        pytest.param([Region(999, b"ab")], id="past-the-end"),
        pytest.param([Region(-1, b"a")], id="before-the-beginning"),
    ],
)
def test_impossible_patches_are_refused(changes: list[Region]) -> None:
    with pytest.raises(Invalid):
        whole_file("base", size=1_000).patched(changes)


def test_a_file_that_shrank_is_noticed() -> None:
    with pytest.raises(Invalid, match="shorter"):
        materialised((FileSlice("base", 900, 101),), FILES)


# --- Range ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-0", [(0, 1)]),
        ("bytes=0-", [(0, 100)]),
        ("bytes=99-99", [(99, 100)]),
        ("bytes=99-5000", [(99, 100)]),
        ("bytes=-1", [(99, 100)]),
        ("bytes=-100", [(0, 100)]),
        ("bytes=-101", [(0, 100)]),
        ("Bytes = 5-9", [(5, 10)]),
        ("bytes=5-9, 20-29 ,-5", [(5, 10), (20, 30), (95, 100)]),
        ("bytes=5-9,200-300", [(5, 10)]),
        ("bytes=,5-9,", [(5, 10)]),
        pytest.param("bytes=0-98,1-99", [], id="more-than-everything-at-once"),
        ("", []),
        ("bytes", []),
        ("bytes=", []),
        ("bytes=-", []),
        ("bytes=9-5", []),
        ("bytes=a-b", []),
        ("bytes=1-2-3", []),
        ("bytes=٣-٤", []),
        ("bytes=0-" + "9" * 30, []),
        ("items=0-5", []),
        pytest.param("bytes=" + ",".join(["1-1"] * 64), [(1, 2)] * 64, id="64-pieces"),
        pytest.param("bytes=" + ",".join(["1-1"] * 65), [], id="65-pieces"),
    ],
)
def test_what_a_range_header_asks_for(header: str, expected: list[Any]) -> None:
    assert [(one.start, one.stop) for one in wanted_ranges(header, size=100)] == expected


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=500-600,700-"])
def test_ranges_beyond_the_end(header: str) -> None:
    with pytest.raises(Unsatisfiable):
        wanted_ranges(header, size=100)


@given(st.text(max_size=60), st.integers(0, 10_000))
def test_no_header_is_beyond_understanding(header: str, size: int) -> None:
    for text in (header, f"bytes={header}"):
        try:
            found = wanted_ranges(text, size=size)
        except Unsatisfiable:
            continue
        assert all(0 <= one.start < one.stop <= size for one in found)


@given(virtual_files(), st.lists(st.tuples(st.integers(0, 900), st.integers(1, 90)), min_size=2, max_size=5))
def test_several_ranges_in_one_body(file: VirtualFile, wanted: list[tuple[int, int]]) -> None:
    ranges = [ByteRange(start, start + length) for start, length in wanted]
    body = multipart(file, ranges, content_type="application/x-test", boundary="XyZ")
    written = materialised(body.segments, FILES)
    assert len(written) == body.size
    expected = b"\r\n".join(
        b"--XyZ\r\nContent-Type: application/x-test\r\nContent-Range: bytes %d-%d/%d\r\n\r\n"
        % (one.start, one.stop - 1, file.size)
        + materialised(file.between(one.start, one.stop), FILES)
        for one in ranges
    )
    assert written == expected + b"\r\n--XyZ--\r\n"
