"""Log lines are cut where they are too long, but neither within a secret nor before the reason of a failure."""

from pathlib import Path

import pytest

from firstlight.host.agent.logs import sender
from firstlight.host.agent.logs.writing import LONGEST_LINE, Log
from firstlight.host.controller.log import LONGEST_LINE as LONGEST_OF_CONTROLLER
from firstlight.host.controller.log import Log as ControllerLog
from firstlight.host.installer.log import Log as InstallerLog
from firstlight.host.settings import Logging

SECRET = "token-nobody-may-see"
IDS = {
    "-cluster-id": "11111111-2222-4333-8444-555555555555",
    "-host-id": "33333333-2222-4333-8444-555555555555",
    "-infra-env-id": "22222222-2222-4333-8444-555555555555",
}


def surprise(size: int) -> Exception:
    return surprise_about("w" * size)


def surprise_about(history: str) -> Exception:
    """With a long history, as those of HTTP clients have."""
    try:
        raise ValueError("the very reason") from RuntimeError(history)
    except ValueError as reason:
        return reason


def test_the_agent_s_log(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log(Logging(journal=False, stdout=True), secrets=(SECRET,))
    log.info("x" * (LONGEST_LINE - 5) + SECRET)
    log.failure("It failed.", surprise(LONGEST_LINE))
    text = capsys.readouterr().out
    assert SECRET[:5] not in text
    assert "It failed." in text
    assert "the very reason" in text


@pytest.mark.parametrize("end", ["", "y"])
def test_the_cut_beginning_of_a_trace_leaves_no_half_of_a_secret(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, end: str
) -> None:
    """Wherever the cut falls: by one letter more or less it falls within a secret."""
    logs = (
        Log(Logging(journal=False, stdout=True), secrets=(SECRET,)),
        ControllerLog(secrets=(SECRET,)),
        InstallerLog(tmp_path / "log", secrets=(SECRET,), journal=None),
    )
    for log in logs:
        log.failure("It failed.", surprise_about(SECRET * 2000 + end))
        text = capsys.readouterr().out
        assert SECRET[-1:] + "*" not in text
        assert SECRET[-1:] + "<" not in text
        assert "the very reason" in text


def test_the_controller_s_log_tells_a_failure_once() -> None:
    """A loop that fails in the same way at each ring must not fill the disk of its node."""
    log = ControllerLog(quiet=True)
    for size in (LONGEST_OF_CONTROLLER, LONGEST_OF_CONTROLLER, 1):
        log.failure("A loop failed.", surprise(size))
    lines = log.text().decode().splitlines()
    assert len(lines) == 2
    assert all("ValueError: the very reason" in line for line in lines)


@pytest.mark.parametrize(("flag", "wanted"), [("", False), ("true", True), ("false", False)])
def test_everything_is_gathered_only_when_somebody_asks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flag: str, wanted: bool
) -> None:
    """Before a reboot an installer sends its logs without that flag: gathering a cluster would keep it waiting."""
    asked: list[bool] = []

    async def send(settings: object, request: sender.LogsRequest, how: object, place: object) -> int:
        asked.append(request.installer_gather)
        return 0

    monkeypatch.setattr(sender, "_send", send)
    flags = [word for pair in IDS.items() for word in pair] + ["-url", "http://127.0.0.1:1", "-bootstrap=true"]
    flags += [f"-with-installer-gather-logging={flag}"] if flag else []
    assert sender.send_logs(flags, {"FIRSTLIGHT_AGENT_ROOT": str(tmp_path)}) == 0
    assert asked == [wanted]
