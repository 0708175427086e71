"""The administrator's token of this machine goes to this machine, whatever an address looks like."""

from pathlib import Path

import pytest

from firstlight.cli.own_token import FILE, token_for

TOKEN = "the-administrators"


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FILE).write_text(f"{TOKEN}\n")
    monkeypatch.setenv("FIRSTLIGHT_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("FIRSTLIGHT_TOKEN", raising=False)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8090",
        "http://127.0.0.1",
        "https://localhost:8090/",
        "http://LOCALHOST",
        "http://[::1]:8090",
        "http://127.9.9.9:1",
    ],
)
def test_this_machine_is_given_its_own(url: str) -> None:
    assert token_for(url) == TOKEN


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.evil.example:8090",
        "http://127.evil.example:8090",
        "http://localhost:x@evil.example/",
        "http://localhost.evil.example:8090",
        "http://192.0.2.1:8090",
        "http://[2001:db8::1]:8090",
        "localhost:8090",
        "http://[::1",
        "",
    ],
)
def test_nobody_else_is(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert token_for(url) == ""
    monkeypatch.setenv("FIRSTLIGHT_TOKEN", "given")
    assert token_for(url) == "given"
