"""Files of a machine: whatever is there or is not, reading it is bounded and never raises."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.root import PAGE, Root


@pytest.mark.parametrize("size", [0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 2 * PAGE + 1, 40 * PAGE + 7])
@pytest.mark.parametrize("most", [1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 2**20])
def test_files_are_read_to_their_end_or_to_the_limit(tmp_path: Path, size: int, most: int) -> None:
    content = bytes(number % 251 for number in range(size))
    (tmp_path / "file").write_bytes(content)
    assert Root(tmp_path).bytes("/file", most=most) == content[:most]


def test_files_of_the_kernel_that_claim_to_be_empty() -> None:
    assert (Root().text("/proc/self/status") or "").startswith("Name:")
    assert len(Root().bytes("/dev/zero", most=100_000) or b"") == 100_000


@given(name=st.text(max_size=40))
def test_no_name_makes_it_raise(name: str) -> None:
    root = Root(Path(__file__).parent)
    found = (root.bytes(name), root.line(name), root.number(name), root.names(name), root.link(name))
    assert root.exists(name) or found == (None, None, None, (), None)


def test_what_is_something_else_than_asked_for(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text(" 12 \n")
    (tmp_path / "link").symlink_to("../far/away")
    root = Root(tmp_path)
    assert root.bytes("folder") is None
    assert root.names("file") == ()
    assert root.link("file") is None
    assert root.link("link") == "../far/away"
    assert (root.line("file"), root.number("/file"), root.number("folder")) == ("12", 12, None)
    assert root.names("/") == ("file", "folder", "link")
    assert (root.is_folder("folder"), root.is_folder("file")) == (True, False)
    assert (root.exists("file"), root.exists("link")) == (True, False)
