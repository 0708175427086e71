"""The reporter of the first boot: accepted by Ignition, heard by a service, harmless without one."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from firstlight.core.install import ignition
from firstlight.core.install.cluster_inputs import InstallHost
from firstlight.core.install.first_boot_reporter import SCRIPT_PATH, SETTINGS_PATH, UNIT_NAME
from firstlight.core.install.pointer import DayTwoEndpoint, day_two_config, host_config, role_pointer
from firstlight.core.install.unit_files import unit_file_problem
from firstlight.core.model.host_status import HostRole
from tests.core.install.clusters import a_cluster, a_host, a_single_node
from tests.core.install.validator import verdict
from tests.host.agent.scripted import Asked, Said, scripted

INFRA_ENV = UUID(int=77)
HOST = a_host(1, infra_env_id=INFRA_ENV, agent_token="a.b-c_d")
PATH = f"/api/assisted-install/v2/infra-envs/{INFRA_ENV}/hosts/{HOST.id}/progress"
UP = "The installed system runs: Ignition is done and the kubelet is up"
NO_SERVER = "The installed system runs: Ignition is done, but the machine-config server does not answer"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def made(url: str = "https://hub.example.com", host: InstallHost = HOST, **changes: object) -> ignition.Config:
    cluster = a_cluster(service_url=url, **changes)
    return host_config(cluster, host, base=role_pointer(cluster, host.role, root_ca="pem"))


def test_it_is_there_when_the_service_can_be_reached() -> None:
    config = made()
    settings = ignition.content_of(config, SETTINGS_PATH)
    assert settings is not None
    assert f'FIRSTLIGHT_URL="https://hub.example.com{PATH}"' in settings.decode()
    assert 'FIRSTLIGHT_SERVER="https://192.168.111.5:22623"' in settings.decode()
    modes = {node.path: node.mode for node in config.storage.files}
    assert (modes[SETTINGS_PATH], modes[SCRIPT_PATH]) == (0o600, 0o755)
    (unit,) = (one for one in config.systemd.units if one.name == UNIT_NAME)
    assert unit.enabled
    assert not unit_file_problem(unit.contents or "")
    assert "a.b-c_d" not in (unit.contents or "")


def test_it_is_left_out_when_nobody_could_hear_it() -> None:
    for config in (made(""), made(host=msgspec.structs.replace(HOST, infra_env_id=None))):
        assert ignition.content_of(config, SETTINGS_PATH) is None
        assert not config.systemd.units


def test_a_single_node_has_no_server_to_ask() -> None:
    cluster = a_single_node(service_url="http://hub")
    config = host_config(cluster, HOST, base=ignition.config("3.2.0"))
    assert b'FIRSTLIGHT_SERVER=""' in (ignition.content_of(config, SETTINGS_PATH) or b"")


def test_hosts_of_day_two_have_it_too() -> None:
    host = msgspec.structs.replace(HOST, role=HostRole.WORKER)
    config = day_two_config(host, DayTwoEndpoint(api_host="api.sky.example.com"), service_url="http://hub")
    settings = ignition.content_of(config, SETTINGS_PATH) or b""
    assert b'FIRSTLIGHT_SERVER="http://api.sky.example.com:22624"' in settings


def test_ignition_takes_it() -> None:
    assert verdict(ignition.encode(made())) == ""


@pytest.fixture
def boot(tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """The script on a root of its own, where `systemctl` says what the test wants."""
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/systemctl"
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *kubelet*) [ -e "$FIRSTLIGHT_ROOT/kubelet" ] ;; *) echo inactive ;; esac\n'
    )
    fake.chmod(0o755)

    def start(url: str, *, token: str = "a.b-c_d", **environment: str) -> subprocess.Popen[bytes]:
        config = made(url, msgspec.structs.replace(HOST, agent_token=token), api_vips=("127.0.0.1",))
        for path in (SETTINGS_PATH, SCRIPT_PATH):
            place = tmp_path / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(ignition.content_of(config, path) or b"")
        known = {
            **{name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
            "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
            "FIRSTLIGHT_ROOT": str(tmp_path),
            "FIRSTLIGHT_REST": "0.05",
            **environment,
        }
        line = f'set -a; . "{tmp_path}{SETTINGS_PATH}"; exec bash "{tmp_path}{SCRIPT_PATH}"'
        return subprocess.Popen(["bash", "-c", line], env=known, stdout=subprocess.DEVNULL)

    return start


@pytest.mark.anyio
async def test_what_the_service_hears(tmp_path: Path, boot: Callable[..., subprocess.Popen[bytes]]) -> None:
    def tells(asked: Asked) -> Said:
        return Said()

    async with scripted(tells) as server:
        process = boot(server.url)
        try:
            await server.until(lambda asked: len(asked) == 1)
            (tmp_path / "kubelet").touch()
            await server.until(lambda asked: len(asked) == 2)
        finally:
            assert process.wait(20) == 0
    assert {asked.path for asked in server.asked} == {PATH}
    assert {asked.headers["x-secret-key"] for asked in server.asked} == {"a.b-c_d"}
    assert [asked.json() for asked in server.asked] == [
        {"current_stage": "Rebooting", "progress_info": NO_SERVER},
        {"current_stage": "Rebooting", "progress_info": UP},
    ]
    assert not (tmp_path / SETTINGS_PATH.lstrip("/")).exists(), "the token is gone"


@pytest.mark.anyio
async def test_it_speaks_about_the_stage_the_host_is_in(
    tmp_path: Path, boot: Callable[..., subprocess.Popen[bytes]]
) -> None:
    (tmp_path / "kubelet").touch()

    def tells(asked: Asked) -> Said:
        return Said() if asked.json()["current_stage"] == "Configuring" else Said(409)

    async with scripted(tells) as server:
        process = boot(server.url)
        await server.until(lambda asked: len(asked) == 3)
    assert process.wait(20) == 0
    assert [asked.json()["current_stage"] for asked in server.asked] == [
        *("Rebooting", "Waiting for ignition", "Configuring")
    ]


def test_without_a_service_it_ends_quietly(tmp_path: Path, boot: Callable[..., subprocess.Popen[bytes]]) -> None:
    assert boot("http://127.0.0.1:1", FIRSTLIGHT_ROUNDS="3").wait(30) == 0
    assert not (tmp_path / SETTINGS_PATH.lstrip("/")).exists()
