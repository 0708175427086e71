"""Commands that need no running service."""

import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.cli.running import run_cli

COMMANDS = (
    ["serve"], ["migrate"], ["reencrypt"], ["doctor"], ["demo"], ["simulate"], ["version"], ["findings"], ["events"],
    ["logs"], ["token"],
    ["images"], ["images", "list"], ["images", "fetch"], ["release"], ["release", "info"], ["release", "extract"],
    ["clusters"], ["clusters", "list"], ["clusters", "show"], ["clusters", "create"], ["clusters", "delete"],
    ["clusters", "install"], ["clusters", "cancel"], ["clusters", "reset"], ["clusters", "kubeconfig"],
    ["infra-envs"], ["infra-envs", "list"], ["infra-envs", "show"], ["infra-envs", "create"],
    ["hosts"], ["hosts", "list"], ["hosts", "show"], ["hosts", "set"], ["hosts", "bind"], ["hosts", "unbind"],
    ["hosts", "findings"], ["hosts", "log"], ["hosts", "retry"], ["hosts", "replace"],
)  # fmt: skip


def test_every_command_has_help_and_every_option_a_word() -> None:
    """Asked in one process: starting thirty would only take longer."""
    from typer.main import get_command

    from firstlight.cli.app import app

    found: list[list[str]] = []

    def walk(command: object, path: list[str]) -> None:
        if path:
            found.append(path)
            assert command.help, path  # pyright: ignore[reportAttributeAccessIssue]
        for parameter in command.params:  # pyright: ignore[reportAttributeAccessIssue]
            if parameter.name not in ("help", "install_completion", "show_completion"):
                assert getattr(parameter, "help", None) or path in (["demo"],), (path, parameter.name)
        for name, child in getattr(command, "commands", {}).items():
            walk(child, [*path, name])

    walk(get_command(app), [])
    assert sorted(found) == sorted([*COMMANDS])


def test_help_loads_neither_server_nor_fleet() -> None:
    script = (
        "import sys\n"
        "from firstlight.cli.app import app\n"
        "packages = ('aiohttp', 'starlette', 'httpx2', 'pydantic', 'cryptography', 'yaml')\n"
        "rooms = ('firstlight.server', 'firstlight.simulate', 'firstlight.core')\n"
        "heavy = [name for name in sys.modules if name.split('.')[0] in packages or name.startswith(rooms)]\n"
        "sys.exit(', '.join(heavy) or 0)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_missing_extra_is_a_sentence() -> None:
    script = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'typer':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from firstlight.cli.main import run\n"
        "run()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "install 'firstlight[server]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_version() -> None:
    assert run_cli("version").stdout.startswith("firstlight 0.")
    assert msgspec.json.decode(run_cli("version", "-o", "json").stdout)["firstlight"]


def test_a_service_that_is_not_there_is_a_sentence_with_a_code_of_its_own() -> None:
    ended = run_cli("clusters", "list", "--url", "http://127.0.0.1:9", code=4)
    assert "firstlight serve" in ended.stderr
    assert "Traceback" not in ended.stderr
    ended = run_cli("simulate", "--new-cluster", "x", "--url", "http://127.0.0.1:9", code=4)
    assert "firstlight serve" in ended.stderr


def test_settings_are_printed_without_secrets_and_flags_beat_the_environment(tmp_path: Path) -> None:
    environment = {
        "FIRSTLIGHT_DATABASE_URL": "postgresql://me:hunter2@db/x",
        "FIRSTLIGHT_DATA_DIR": "/from/environment",
        "FIRSTLIGHT_LOG_LEVEL": "debug",
    }
    ended = run_cli("serve", "--print-settings", "--data-dir", str(tmp_path), "--log-level", "error", env=environment)
    printed = msgspec.json.decode(ended.stdout)
    assert printed["data_dir"] == str(tmp_path)
    assert printed["log_level"] == "error"
    assert "hunter2" not in ended.stdout


def test_a_file_is_beaten_by_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "firstlight.toml"
    file.write_text('listen = "127.0.0.1:1111"\nimages_listen = "127.0.0.1:2222"\n')
    ended = run_cli("serve", "--print-settings", "--config", str(file), env={"FIRSTLIGHT_LISTEN": "127.0.0.1:3333"})
    printed = msgspec.json.decode(ended.stdout)
    assert (printed["listen"], printed["images_listen"]) == ("127.0.0.1:3333", "127.0.0.1:2222")


@pytest.mark.parametrize(
    ("name", "value"), [("FIRSTLIGHT_POLL_SECONDS", "often"), ("FIRSTLIGHT_DISABLED_HOST_VALIDATIONS", "knitting")]
)
def test_wrong_settings_are_sentences(name: str, value: str, tmp_path: Path) -> None:
    ended = run_cli("serve", "--data-dir", str(tmp_path), "--listen", "127.0.0.1:0", env={name: value}, code=2)
    assert "settings cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_migrate_makes_the_database_and_may_be_repeated(tmp_path: Path) -> None:
    for _ in range(2):
        assert "The database is at schema" in run_cli("migrate", "--data-dir", str(tmp_path / "data")).stdout
    assert (tmp_path / "data" / "firstlight.sqlite").exists()


def test_doctor_finds_a_taken_port_and_changes_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        environment = {"FIRSTLIGHT_LISTEN": "127.0.0.1:0", "FIRSTLIGHT_IMAGES_LISTEN": listen}
        folder = str(tmp_path / "data")
        checks = msgspec.json.decode(
            run_cli("doctor", "--data-dir", folder, "-o", "json", env=environment, code=1).stdout
        )
        assert {check["name"]: check["good"] for check in checks} == {
            "python": True,
            "settings": True,
            "api": True,
            "images": False,
            "data": True,
            "database": True,
        }
        assert "FIRSTLIGHT_IMAGES_LISTEN" in next(check["message"] for check in checks if not check["good"])
    environment["FIRSTLIGHT_IMAGES_LISTEN"] = "127.0.0.1:0"
    assert "✗" not in run_cli("doctor", "--data-dir", folder, env=environment).stdout
    assert not (tmp_path / "data").exists()


def test_doctor_names_a_database_that_does_not_answer(tmp_path: Path) -> None:
    environment = {
        "FIRSTLIGHT_DATABASE_URL": "postgresql://me:hunter2@127.0.0.1:9/x",
        "FIRSTLIGHT_LISTEN": "127.0.0.1:0",
        "FIRSTLIGHT_IMAGES_LISTEN": "127.0.0.1:0",
    }
    ended = run_cli("doctor", "--data-dir", str(tmp_path), env=environment, code=1)
    assert "✗ database" in ended.stdout
    assert "hunter2" not in ended.stdout


def test_scenarios_are_listed() -> None:
    listed = run_cli("simulate", "--list-scenarios").stdout.splitlines()
    assert len(listed) == 13
    assert any(line.startswith("lost-link ") for line in listed)


@pytest.mark.slow
def test_the_demo_installs_a_cluster_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {"FIRSTLIGHT_LISTEN": "127.0.0.1:1", "TMPDIR": str(tmp_path)}
    ended = run_cli("demo", "--show", "lines", "--speed", "60", "--no-keep", env=environment)
    assert "cluster installed" in ended.stdout
    assert [*tmp_path.iterdir()] == []
