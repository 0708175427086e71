"""Each station of the way to the service, broken for real: the right one is named, with a way out."""

from datetime import timedelta
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from firstlight.host.agent.board import Check
from firstlight.host.agent.diagnosis import CLOCK_TOLERANCE, diagnose
from firstlight.host.root import Root
from tests.host.agent.authorities import authority_and_server
from tests.host.agent.scripted import Asked, Said, scripted
from tests.host.agent.setting import HOST_ID, settings_for
from tests.services import free_port

pytestmark = pytest.mark.anyio
NOW = 1_750_000_000.0


async def found(url: str, folder: Path, **parts: Any) -> dict[str, Check]:
    settings = settings_for(url, folder, **parts)
    checks = await diagnose(settings, root=Root(folder), host_id=HOST_ID, wall_clock=lambda: NOW)
    assert [check.name for check in checks] == ["DNS", "route", "TLS", "proxy", "clock", "token"]
    assert all(check.fix for check in checks if check.passed is False)
    return {check.name: check for check in checks}


def failing(checks: dict[str, Check]) -> list[str]:
    return [name for name, check in checks.items() if check.passed is False]


def service(*, status: int = 400, off: float = 0.0, dated: bool = True) -> Any:
    headers = {"Date": formatdate(NOW - off, usegmt=True)} if dated else {}

    def script(asked: Asked) -> Said:
        return Said(200 if asked.method == "GET" else status, b"", headers)

    return script


async def test_all_is_well(tmp_path: Path) -> None:
    async with scripted(service()) as server:
        checks = await found(server.url, tmp_path, token="t")
    assert failing(checks) == []
    assert [name for name, check in checks.items() if check.passed] == ["DNS", "route", "clock", "token"]


async def test_a_name_nobody_knows(tmp_path: Path) -> None:
    checks = await found("http://no-such-service.invalid:6000", tmp_path)
    assert failing(checks) == ["DNS"]
    assert "no-such-service.invalid" in checks["DNS"].sentence
    assert all(check.passed is None for name, check in checks.items() if name != "DNS")


async def test_nobody_listens(tmp_path: Path) -> None:
    port = free_port()
    checks = await found(f"http://127.0.0.1:{port}", tmp_path)
    assert failing(checks) == ["route"]
    assert str(port) in checks["route"].sentence


@pytest.mark.parametrize(
    ("certificate", "trusted", "word"),
    [
        ({}, False, "trust bundle"),
        ({"begins": timedelta(days=-9), "ends": timedelta(days=-1)}, True, "clock"),
        ({"begins": timedelta(hours=1)}, True, "clock"),
        ({"address": "192.0.2.1"}, True, "name that stands in the certificate"),
    ],
)
async def test_certificates(tmp_path: Path, certificate: dict[str, Any], trusted: bool, word: str) -> None:
    authority, context = authority_and_server(tmp_path, **certificate)
    parts = {"ca_certificate": authority} if trusted else {}
    async with scripted(service(), tls=context) as server:
        checks = await found(server.url, tmp_path, **parts)
        assert failing(checks) == ["TLS"]
        assert word in checks["TLS"].fix


async def test_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    authority, context = authority_and_server(tmp_path)
    async with scripted(service(), tls=context) as server:
        assert failing(await found(server.url, tmp_path, ca_certificate=authority)) == []
        assert failing(await found(server.url, tmp_path, insecure=True)) == []


@pytest.mark.parametrize(("status", "words"), [(407, "a name and a password"), (200, "passes us on")])
async def test_a_proxy(tmp_path: Path, status: int, words: str) -> None:
    async with scripted(lambda asked: Said(status, b"")) as proxy:
        checks = await found(
            "http://service.invalid", tmp_path, proxies={"http_proxy": proxy.url.replace("//", "//u:pw@")}
        )
    assert words in checks["proxy"].sentence
    assert "pw" not in checks["proxy"].sentence
    assert failing(checks) == (["proxy"] if status == 407 else [])


async def test_a_proxy_that_does_not_tunnel(tmp_path: Path) -> None:
    async with scripted(lambda asked: Said(403, b"")) as proxy:
        checks = await found("https://service.invalid", tmp_path, proxies={"https_proxy": proxy.url})
    assert failing(checks) == ["proxy"]


@pytest.mark.parametrize(
    ("off", "words"),
    [
        (CLOCK_TOLERANCE, ""),
        (CLOCK_TOLERANCE + 60, "6 minutes ahead of"),
        (-3600.0, "60 minutes behind"),
    ],
)
async def test_clocks(tmp_path: Path, off: float, words: str) -> None:
    async with scripted(service(off=off)) as server:
        checks = await found(server.url, tmp_path)
    assert failing(checks) == (["clock"] if words else [])
    assert words in checks["clock"].sentence


async def test_a_service_that_does_not_tell_its_time(tmp_path: Path) -> None:
    async with scripted(service(dated=False)) as server:
        assert (await found(server.url, tmp_path))["clock"].passed is None


@pytest.mark.parametrize("status", [401, 403])
async def test_a_token_that_is_not_accepted(tmp_path: Path, status: int) -> None:
    async with scripted(service(status=status)) as server:
        checks = await found(server.url, tmp_path, token="old")
    assert failing(checks) == ["token"]
    asked = server.asked[-1]
    assert asked.headers["x-secret-key"] == "old"
    assert asked.json() == {}, "it asks for nothing and says nothing"
