"""The journal of steps that must run once: what a killed agent leaves is read by its successor."""

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.host import keeping
from firstlight.host.agent.documents import Step, StepReply
from firstlight.host.agent.once import MOST_ENTRIES, Once, digest_of
from firstlight.host.keeping import keep, kept

ARGS = ('{"path":"/dev/sda"}',)
STEP = Step(step_type="disk", step_id="disk-1", args=ARGS)
REPLY = StepReply(step_type="disk", exit_code=0, output="4 ms")


def test_the_life_of_a_step(tmp_path: Path) -> None:
    def anew() -> Once:
        return Once(tmp_path, boot_id="boot")

    assert anew().verdict("disk", ARGS) == ("begin", None)
    anew().begin(STEP)
    assert anew().verdict("disk", ARGS) == ("interrupted", None)
    assert anew().unsettled == ((STEP, False),)
    assert anew().verdict("disk", ("other",)) == ("begin", None)
    anew().end(STEP, REPLY)
    assert anew().verdict("disk", ARGS) == ("answer", REPLY)
    assert anew().unsettled == ((STEP, True),)
    anew().delivered("disk", ARGS)
    assert anew().unsettled == ()
    assert "/dev/sda" not in (tmp_path / "once.json").read_text()
    assert anew().verdict("disk", ARGS) == ("begin", None)


@pytest.mark.parametrize(("code", "succeeded"), [(0, True), (3, False)])
def test_how_it_ended_is_known_after_the_answer_is_gone(tmp_path: Path, code: int, succeeded: bool) -> None:
    once = Once(tmp_path, boot_id="boot")
    once.begin(STEP)
    once.end(STEP, replace(REPLY, exit_code=code))
    assert not once.has_succeeded("disk"), "the service does not know yet"
    once.delivered("disk", ARGS)
    assert Once(tmp_path, boot_id="boot").has_succeeded("disk") is succeeded
    assert not Once(tmp_path, boot_id="boot").has_succeeded("install")
    assert not Once(tmp_path, boot_id="other").has_succeeded("disk")


def test_another_boot_knows_nothing(tmp_path: Path) -> None:
    Once(tmp_path, boot_id="one").begin(STEP)
    assert Once(tmp_path, boot_id="two").verdict("disk", ARGS) == ("begin", None)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"boot_id":1}', b"\xff\xfe"])
def test_a_damaged_journal_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "once.json").write_bytes(content)
    assert Once(tmp_path, boot_id="boot").verdict("disk", ARGS) == ("begin", None)


def test_a_full_disk_leaves_the_old_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once = Once(tmp_path, boot_id="boot")
    once.begin(STEP)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(keeping.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        once.end(STEP, REPLY)
    monkeypatch.undo()
    assert Once(tmp_path, boot_id="boot").verdict("disk", ARGS) == ("interrupted", None)
    assert [path.name for path in tmp_path.iterdir()] == ["once.json"]


def test_the_journal_is_bounded_and_forgets_what_was_delivered_first(tmp_path: Path) -> None:
    once = Once(tmp_path, boot_id="boot")
    once.begin(Step(step_type="install"))
    for number in range(MOST_ENTRIES + 5):
        step = Step(step_type="disk", args=(str(number),))
        once.begin(step)
        once.end(step, REPLY)
        once.delivered("disk", (str(number),))
    assert [step.step_type for step, _ in once.unsettled] == ["install"]
    assert once.verdict("install", ()) == ("interrupted", None)


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_other_arguments_are_another_step(one: list[str], two: list[str]) -> None:
    same = "\0".join(one) == "\0".join(two)
    assert (digest_of(tuple(one)) == digest_of(tuple(two))) == same


def test_what_is_kept_is_for_us_alone(tmp_path: Path) -> None:
    keep(tmp_path / "sub" / "file", {"a": 1})
    assert (tmp_path / "sub" / "file").stat().st_mode & 0o077 == 0
    assert kept(tmp_path / "sub" / "file", dict[str, int]) == {"a": 1}
    assert kept(tmp_path / "missing", dict[str, int]) is None
