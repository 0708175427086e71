"""A service that cannot start says why in one sentence, and touches nothing it does not own."""

import socket
from pathlib import Path

import pytest

from tests.cli.running import run_cli
from tests.services import run_service


def refusal(folder: Path, *, code: int, **environment: str) -> str:
    surroundings = {"FIRSTLIGHT_LISTEN": "127.0.0.1:0", "FIRSTLIGHT_IMAGES_LISTEN": "127.0.0.1:0", **environment}
    ended = run_cli("serve", "--data-dir", str(folder), env=surroundings, code=code)
    assert ended.stdout == ""
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr
    return ended.stderr


@pytest.mark.parametrize("setting", ["FIRSTLIGHT_LISTEN", "FIRSTLIGHT_IMAGES_LISTEN"])
def test_an_address_in_use(setting: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        said = refusal(tmp_path / "data", code=1, **{setting: listen})
    assert f"The address {listen} cannot be listened on: Address already in use." in said
    assert setting in said
    assert not (tmp_path / "data").exists()


def test_a_database_in_use(tmp_path: Path) -> None:
    with run_service(tmp_path):
        assert "is in use by another service" in refusal(tmp_path / "data", code=1)


def test_machines_for_an_infra_env_that_is_not_there(tmp_path: Path) -> None:
    nowhere = "00000000-0000-0000-0000-000000000001"
    with run_service(tmp_path) as service:
        ended = run_cli("simulate", "--infra-env-id", nowhere, "--url", service.url, code=3)
    assert f"There is no infra-env {nowhere}." in ended.stderr


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert str(tmp_path / "file") in refusal(tmp_path / "file" / "data", code=1)


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("FIRSTLIGHT_DATABASE_URL", "mysql://db/firstlight", "begins with 'mysql', which is not known"),
        ("FIRSTLIGHT_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/x", "Check that PostgreSQL runs"),
    ],
)
def test_a_database_that_is_none(setting: str, value: str, said: str, tmp_path: Path) -> None:
    assert said in refusal(tmp_path, code=1, **{setting: value})


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("FIRSTLIGHT_LISTEN", "nonsense", "is no address with a port. Write it like 127.0.0.1:8090"),
        ("FIRSTLIGHT_LISTEN", "127.0.0.1:65536", "is no address with a port"),
        ("FIRSTLIGHT_IMAGES_LISTEN", "127.0.0.1:", "is no address with a port"),
        ("LOG_LEVEL", "loud", "'debug', 'info', 'warning', 'error' or 'critical'"),
        ("FIRSTLIGHT_CONFIG", "/no/such/file.toml", "Path does not point to a file"),
    ],
)
def test_a_setting_that_cannot_be(setting: str, value: str, said: str, tmp_path: Path) -> None:
    assert said in refusal(tmp_path, code=2, **{setting: value})


def test_a_setting_nobody_knows(tmp_path: Path) -> None:
    file = tmp_path / "firstlight.toml"
    file.write_text('listn = "127.0.0.1:1111"\n')
    assert "listn: there is no setting of this name" in refusal(tmp_path, code=2, FIRSTLIGHT_CONFIG=str(file))


def test_log_levels_as_the_original_spells_them(tmp_path: Path) -> None:
    assert '"warning"' in run_cli("serve", "--print-settings", env={"LOG_LEVEL": "WARN"}).stdout
