"""External programs have bounds on time and output, and leave nothing behind."""

import asyncio
from pathlib import Path

import pytest

from firstlight.host.programs import LocalPrograms

pytestmark = pytest.mark.anyio


async def test_output_errors_and_code_come_back() -> None:
    outcome = await LocalPrograms().run("sh", "-c", "cat; echo oops >&2; exit 3", limit=20, given=b"hello")
    assert (outcome.exit_code, outcome.output, outcome.complaint) == (3, b"hello", "oops")


async def test_a_missing_program_is_an_outcome_and_no_exception() -> None:
    outcome = await LocalPrograms().run("no-such-program", limit=20)
    assert outcome.exit_code == -1
    assert "no-such-program could not start" in outcome.complaint


async def test_an_argument_with_a_nul_is_an_outcome_too() -> None:
    assert (await LocalPrograms().run("echo", "a\0b", limit=20)).exit_code == -1


async def test_too_much_output_is_read_but_not_kept() -> None:
    outcome = await LocalPrograms().run("head", "-c", "1000000", "/dev/zero", limit=20, keep=1000)
    assert (outcome.exit_code, len(outcome.output), outcome.truncated) == (0, 1000, True)


async def test_output_of_exactly_the_limit_is_whole() -> None:
    outcome = await LocalPrograms().run("head", "-c", "1000", "/dev/zero", limit=20, keep=1000)
    assert (len(outcome.output), outcome.truncated) == (1000, False)


async def test_a_program_past_its_limit_ends_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! >{tmp_path}/child; echo begun; wait"
    outcome = await LocalPrograms().run("sh", "-c", script, limit=2.0)
    assert (outcome.exit_code, outcome.output) == (124, b"begun\n")
    await _gone(tmp_path)


async def test_a_program_that_ignores_the_request_to_end_is_ended() -> None:
    outcome = await LocalPrograms().run("sh", "-c", "trap '' TERM; while :; do sleep 0.1; done", limit=0.3)
    assert outcome.exit_code == 124


async def test_a_program_that_goes_on_speaking_is_not_ended_for_its_silence() -> None:
    script = "for part in 1 2 3 4 5 6; do echo $part; sleep 0.6; done"
    outcome = await LocalPrograms().run("sh", "-c", script, limit=60, silence_limit=3.0)
    assert (outcome.exit_code, outcome.output) == (0, b"1\n2\n3\n4\n5\n6\n")


@pytest.mark.parametrize("script", ["sleep 600", "echo begun; exec sleep 600", "echo begun >&2; exec sleep 600"])
async def test_a_program_that_falls_silent_is_ended_before_its_time(script: str) -> None:
    outcome = await LocalPrograms().run("sh", "-c", script, limit=600, silence_limit=0.3)
    assert (outcome.exit_code, outcome.complaint) == (124, "sh said nothing for 0.3 seconds and was stopped.")


async def test_speaking_does_not_lengthen_the_whole_time() -> None:
    outcome = await LocalPrograms().run(
        "sh", "-c", "while :; do echo more; sleep 0.1; done", limit=1.0, silence_limit=60
    )
    assert (outcome.exit_code, outcome.complaint) == (124, "sh did not end within 1 seconds and was stopped.")


async def test_cancelling_the_caller_ends_the_program(tmp_path: Path) -> None:
    begun = tmp_path / "child"
    running = asyncio.create_task(
        LocalPrograms().run("sh", "-c", f"echo $$ >{begun}.new; mv {begun}.new {begun}; sleep 600", limit=600)
    )
    while not begun.exists():
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await _gone(tmp_path)


async def test_death_by_a_signal_is_told() -> None:
    outcome = await LocalPrograms().run("sh", "-c", "kill -9 $$", limit=20)
    assert (outcome.exit_code, outcome.complaint) == (-1, "sh was ended by signal 9.")


async def _gone(folder: Path) -> None:
    """A child that was told to end does so when it gets its turn, which we do not wait for."""
    async with asyncio.timeout(60):
        while _alive(folder):
            await asyncio.sleep(0.01)


def _alive(folder: Path) -> bool:
    """Whether the noted process still runs; one that waits for its parent to read its end does not."""
    status = Path(f"/proc/{(folder / 'child').read_text().strip()}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
