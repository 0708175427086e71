"""The installer's log on its way into the agent's: whole lines, each once, masked, whatever happens to the file."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.host.agent.logs import following
from firstlight.host.agent.logs.following import BACKLOG, MOST_AT_ONCE, OLD_BYTES, Followed
from firstlight.host.agent.logs.writing import LONGEST_LINE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "assisted-installer.log"


def add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_lines_come_whole_and_once_and_without_secrets(path: Path) -> None:
    followed = Followed(path, secrets=("a-secret-token",))
    assert followed.news() == []
    add(path, "one\ntw")
    assert followed.news() == ["one"]
    assert followed.news() == []
    add(path, "o\nWriting 10%\rWriting 20%\rpassword=hunter2 a-secret-token\n\x1b[31mred\n")
    assert followed.news() == ["two", "Writing 10%", "Writing 20%", "password=*** ***", " [31mred"]


def test_a_private_key_over_several_looks(path: Path) -> None:
    followed = Followed(path)
    add(path, "-----BEGIN PRIVATE KEY-----\nabc\n")
    first = followed.news()
    add(path, "def\n-----END PRIVATE KEY-----\nafter\n")
    text = "".join(first + followed.news())
    assert ("abc" in text, "def" in text, text.endswith("after")) == (False, False, True)


@pytest.mark.parametrize("how", ["rotated", "cut", "removed"])
def test_a_file_that_begins_anew(path: Path, how: str) -> None:
    followed = Followed(path)
    add(path, "a long first line\nhalf of the sec")
    assert followed.news() == ["a long first line"]
    if how == "rotated":
        path.rename(path.with_suffix(".1"))
    elif how == "cut":
        path.write_text("")
    else:
        path.unlink()
        assert followed.news() == []
        path.with_suffix(".other").touch()
    add(path, "new\n")
    assert followed.news() == ["new"]


def test_of_a_file_that_was_there_before_only_the_end_is_shown(path: Path) -> None:
    add(path, "".join(f"line {number:06d}\n" for number in range(5000)))
    lines = Followed(path).news()
    assert lines[-1] == "line 004999"
    assert 0.9 * OLD_BYTES < sum(len(line) + 1 for line in lines) <= OLD_BYTES
    assert all(len(line) == len("line 000000") for line in lines)


def test_a_short_file_that_was_there_before_is_shown_whole(path: Path) -> None:
    add(path, "one\ntwo\n")
    assert Followed(path).news() == ["one", "two"]


def test_what_is_written_too_quickly_is_passed_over_and_that_is_said(path: Path) -> None:
    followed = Followed(path)
    add(path, "x" * 99 + "\n")
    assert len(followed.news()) == 1
    add(path, ("y" * 99 + "\n") * (BACKLOG // 100 + 1))
    said = followed.news()
    assert "bytes were written too quickly" in said[0]
    assert MOST_AT_ONCE - 200 <= sum(len(line) + 1 for line in said[1:]) <= MOST_AT_ONCE
    add(path, "last\n")
    assert followed.news() == ["last"]


def test_an_endless_line_is_shown_in_pieces_and_not_kept(path: Path) -> None:
    followed = Followed(path)
    add(path, "z" * (LONGEST_LINE + 1))
    assert [len(line) for line in followed.news()] == [LONGEST_LINE]
    assert followed._rest == b""


def test_what_is_no_file_is_left_alone(path: Path) -> None:
    path.mkdir()
    followed = Followed(path)
    assert followed.news() == []


@settings(deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=20))
def test_any_bytes_in_any_pieces_give_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("log") / "file"
    followed = Followed(path)
    seen: list[str] = []
    for piece in pieces:
        with path.open("ab") as file:
            file.write(piece)
        seen += followed.news()
    at_once = Followed(path, most_old=following.MOST_AT_ONCE).news()
    assert seen == at_once
