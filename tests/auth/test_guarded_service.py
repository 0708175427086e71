"""A running service whose callers need no credential: pages of other sites get nowhere."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.services import RunningService, run_service

INFRA_ENVS = "/api/assisted-install/v2/infra-envs"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder: Path = tmp_path_factory.mktemp("guarded")
    settings = {
        "SERVICE_BASE_URL": "http://api.lab.example.com:8090",
        "IMAGE_SERVICE_BASE_URL": "http://images.lab.example.com:8888",
        "FIRSTLIGHT_ALLOWED_HOSTS": "also.example.com",
        "ALLOWED_DOMAINS": "https://ui.example.com",
    }
    with run_service(folder, **settings) as running:
        yield running


def ask(url: str, method: str, path: str, **headers: str) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        body = b"{}" if method != "GET" else None
        connection.request(method, path, body, {"Content-Type": "application/json", **sent})
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content[:1] == b"{" else {}
    finally:
        connection.close()


@pytest.mark.parametrize("path", [INFRA_ENVS, "/metrics", "/health", "/"])
def test_a_page_whose_name_leads_to_us_reads_nothing(service: RunningService, path: str) -> None:
    status, answer = ask(service.url, "GET", path, Host="rebound.evil.example:8090")
    assert status == 421
    assert answer["code"] == 421
    assert "FIRSTLIGHT_ALLOWED_HOSTS" in str(answer["message"])
    assert "rebound.evil.example" in str(answer["message"])


@pytest.mark.parametrize("host", ["api.lab.example.com:8090", "also.example.com", "10.1.2.3:8090", "localhost:1"])
def test_machines_call_by_address_or_by_a_known_name(service: RunningService, host: str) -> None:
    assert ask(service.url, "GET", INFRA_ENVS, Host=host)[0] == 200
    assert ask(service.url, "POST", INFRA_ENVS, Host=host)[0] == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site", "Origin": "http://127.0.0.1:3000"},
    ],
)
def test_a_page_of_another_site_changes_nothing(service: RunningService, headers: dict[str, str]) -> None:
    status, answer = ask(service.url, "POST", INFRA_ENVS, **headers)
    assert status == 403
    assert "FIRSTLIGHT_ALLOWED_DOMAINS" in str(answer["message"])


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://ui.example.com", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "http://api.lab.example.com:8090", "Sec_Fetch_Site": "same-origin"},
    ],
)
def test_pages_that_may_do_reach_the_api(service: RunningService, headers: dict[str, str]) -> None:
    assert ask(service.url, "POST", INFRA_ENVS, **headers)[0] == 400


def test_images_know_their_names(service: RunningService) -> None:
    status, answer = ask(service.images_url, "GET", "/base-images", Host="rebound.evil.example")
    assert status == 421
    assert "FIRSTLIGHT_ALLOWED_HOSTS" in str(answer["message"])
    for host in ("images.lab.example.com:8888", "also.example.com", "10.1.2.3", "[fe80::1]:8888"):
        assert ask(service.images_url, "GET", "/live", Host=host)[0] == 200
