"""Nothing that a variable held may reach the log."""

import pytest
import structlog

from firstlight.server.telemetry.logging import set_up_logging

SECRET = "do-not-" + "tell"


def fail(token: str) -> None:
    raise ValueError(f"a token of {len(token)} characters is wrong")


def logged(capsys: pytest.CaptureFixture[str], *, json_lines: bool) -> str:
    set_up_logging(level="info", json_lines=json_lines)
    try:
        fail(SECRET)
    except ValueError:
        structlog.get_logger("test").exception("something failed", subject="cluster:1")
    finally:
        structlog.reset_defaults()
    return capsys.readouterr().err


def test_tracebacks_have_no_local_variables(capsys: pytest.CaptureFixture[str]) -> None:
    for json_lines in (True, False):
        text = logged(capsys, json_lines=json_lines)
        assert "something failed" in text
        assert "a token of 11 characters is wrong" in text
        assert SECRET not in text


@pytest.mark.parametrize("json_lines", [True, False])
def test_callers_cannot_write_to_the_terminal(capsys: pytest.CaptureFixture[str], json_lines: bool) -> None:
    set_up_logging(level="info", json_lines=json_lines)
    structlog.get_logger("test").info("request answered", path="/a\x1b[2J\nb", name="Zürich")
    structlog.reset_defaults()
    text = capsys.readouterr().err
    assert "\x1b[2J" not in text
    assert text.count("\n") == 1
    assert "[2J" in text
    assert json_lines or "Zürich" in text
