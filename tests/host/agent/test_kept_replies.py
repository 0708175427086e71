"""Replies that wait are found by the next agent of the same boot, bounded, and not for ever."""

from pathlib import Path

import pytest

from firstlight.host.agent.delivering import Delivery
from firstlight.host.agent.documents import Step, StepReply
from firstlight.host.agent.kept_replies import MOST_BYTES, OLDEST_SECONDS, KeptReplies
from firstlight.host.agent.once import Once
from firstlight.host.agent.session import ServiceSession
from firstlight.host.root import Root
from tests.host.agent.scripted import Asked, Said, scripted
from tests.host.agent.setting import HOST_ID, a_log, settings_for


def a_reply(number: int, output: str = "out") -> tuple[tuple[str, tuple[str, ...]], StepReply]:
    key = (f"step-{number}", ("a", str(number)))
    return key, StepReply(step_type=key[0], step_id=f"id-{number}", output=output)


def notes(folder: Path, *, boot_id: str = "boot", at: float = 100.0) -> KeptReplies:
    return KeptReplies(folder, boot_id=boot_id, clock=lambda: at)


def test_they_are_read_as_they_were(tmp_path: Path) -> None:
    waiting = tuple(a_reply(number) for number in range(3))
    notes(tmp_path).write(waiting)
    assert notes(tmp_path).read() == waiting
    notes(tmp_path).write(())
    assert notes(tmp_path).read() == ()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("boot_id", "at", "there"),
    [
        ("boot", 100.0 + OLDEST_SECONDS, True),
        ("boot", 101.0 + OLDEST_SECONDS, False),
        ("boot", 99.0, False),
        ("other", 100.0, False),
    ],
)
def test_another_boot_and_old_ones_do_not_count(tmp_path: Path, boot_id: str, at: float, there: bool) -> None:
    notes(tmp_path).write([a_reply(1)])
    assert bool(notes(tmp_path, boot_id=boot_id, at=at).read()) is there


def test_the_newest_that_fit_are_kept(tmp_path: Path) -> None:
    waiting = [a_reply(number, "x" * (MOST_BYTES // 4)) for number in range(6)]
    notes(tmp_path).write(waiting)
    assert notes(tmp_path).read() == tuple(waiting[3:])
    assert (tmp_path / "replies.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"{", b'{"boot_id":"boot"}', b'{"boot_id":"boot","noted_at":1,"waiting":3}'])
def test_what_makes_no_sense_is_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "replies.json").write_bytes(content)
    assert notes(tmp_path).read() == ()


@pytest.mark.anyio
async def test_the_next_agent_delivers_them_once_and_leaves_steps_with_a_journal_to_it(tmp_path: Path) -> None:
    away = True
    once = Once(tmp_path, boot_id="boot")
    journalled = Step(step_type="install", step_id="i", args=("{}",))
    once.begin(journalled)
    once.end(journalled, StepReply(step_type="install", step_id="i"))

    def script(asked: Asked) -> Said:
        return Said(503, b"{}") if away else Said(204, b"")

    async with (
        scripted(script) as server,
        ServiceSession(settings_for(server.url, tmp_path), root=Root(tmp_path)) as session,
    ):

        def delivery() -> Delivery:
            clock = {"clock": lambda: 100.0, "notes": notes(tmp_path)}
            return Delivery(session, host_id=HOST_ID, once=once, log=a_log(), **clock)  # type: ignore[arg-type]

        first = delivery()
        for key, reply in (a_reply(1), a_reply(2), (("install", ("{}",)), StepReply(step_type="install"))):
            await first.send(key, reply)
        assert first.waiting == 3
        away = False
        server.asked.clear()
        second = delivery()
        await second.flush()
        assert [asked.json()["step_id"] for asked in server.asked] == ["id-1", "id-2"]
        assert delivery().waiting == 0
