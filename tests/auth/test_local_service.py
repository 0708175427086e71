"""A running service that asks for tokens: people, commands, published clients, machines and image readers."""

import http.client
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from firstlight.server.auth.compact import unchecked
from firstlight.simulate import user
from firstlight.simulate.calls import Refused, connect
from firstlight.simulate.course import install_new_cluster
from firstlight.simulate.fleet import Fleet
from firstlight.simulate.machines import Plan, make_machines
from tests.builders.live_isos import a_live_iso
from tests.clients.command_line import Aicli
from tests.clients.sdk import Sdk
from tests.imaging.conftest import os_images
from tests.imaging.test_images import config_in
from tests.services import RunningService, run_service
from tests.worlds import PULL_SECRET

SPEED = 150.0


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder: Path = tmp_path_factory.mktemp("local")
    (folder / "base.iso").write_bytes(a_live_iso())
    settings = {
        "AUTH_TYPE": "local",
        "OS_IMAGES": os_images({"url": (folder / "base.iso").as_uri()}),
        "FIRSTLIGHT_LOG_LEVEL": "debug",
    }
    with run_service(folder, **settings) as running:
        yield running


@pytest.fixture(scope="module")
def admin(service: RunningService) -> str:
    path = service.folder / "data" / "admin-token"
    assert path.stat().st_mode & 0o777 == 0o600
    return path.read_text().strip()


def call(service: RunningService, method: str, path: str, token: str, body: object = None) -> Any:
    sent = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{service.url}{path}", sent, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        content = answer.read()
        return json.loads(content) if content else None


def an_infra_env(service: RunningService, admin: str, name: str) -> dict[str, Any]:
    wanted = {"name": name, "pull_secret": PULL_SECRET, "openshift_version": "4.18"}
    return call(service, "POST", "/api/assisted-install/v2/infra-envs", admin, wanted)


def image(url: str, **headers: str) -> tuple[int, bytes]:
    """As a BMC fetches it: the URL is all there is."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=sent), timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


# --- people -----------------------------------------------------------------------------------------------------------


def firstlight(service: RunningService, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "firstlight"
    known = {name: value for name, value in os.environ.items() if not name.startswith("FIRSTLIGHT_")}
    given = {**known, "FIRSTLIGHT_URL": service.url, "HOME": str(service.folder), **environment}
    return subprocess.run([program, *arguments], env=given, capture_output=True, text=True, timeout=120, check=False)


def test_commands_on_this_machine_find_the_token(service: RunningService) -> None:
    place = str(service.folder / "data")
    found = firstlight(service, "clusters", "list", FIRSTLIGHT_DATA_DIR=place)
    assert (found.returncode, found.stderr) == (0, "")
    nobody = firstlight(service, "clusters", "list")
    assert nobody.returncode == 1
    assert "admin-token" in nobody.stderr


def test_tokens_for_others(service: RunningService) -> None:
    place = str(service.folder / "data")
    made = firstlight(service, "token", "read-only", "--name", "ana", "--hours", "1", FIRSTLIGHT_DATA_DIR=place)
    token = made.stdout.strip()
    assert firstlight(service, "clusters", "list", FIRSTLIGHT_TOKEN=token).returncode == 0
    refused = firstlight(service, "token", "user", "--name", "eve", FIRSTLIGHT_TOKEN=token)
    assert (refused.returncode, "only look" in refused.stderr) == (1, True)
    assert firstlight(service, "token", "user", FIRSTLIGHT_DATA_DIR=place).returncode == 1


def test_a_browser_logs_in_and_out(service: RunningService, admin: str) -> None:
    line = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=60)

    def ask(method: str, path: str, body: str = "", **headers: str) -> http.client.HTTPResponse:
        sent = {"Content-Type": "application/json", **headers}
        line.request(method, f"/api/firstlight/v1{path}", body or None, sent)
        answer = line.getresponse()
        answer.read()
        return answer

    assert ask("POST", "/session", json.dumps({"token": "wrong"})).status == 401
    answer = ask("POST", "/session", json.dumps({"token": admin}))
    cookie = answer.headers["Set-Cookie"]
    assert answer.status == 204
    assert {"HttpOnly", "SameSite=Strict", "Path=/api"} <= {part.strip() for part in cookie.split(";")}
    shown = cookie.partition(";")[0]
    assert ask("GET", "/about").status == 401
    assert ask("GET", "/about", Cookie=f"theme=dark; {shown}").status == 200
    # A cookie is no permission for pages of other sites.
    asked = json.dumps({"kind": "user", "name": "eve"})
    assert ask("POST", "/tokens", asked, Cookie=shown, Origin="https://evil.example").status == 403
    assert "Max-Age=0" in ask("DELETE", "/session").headers["Set-Cookie"]
    line.close()


# --- published clients ------------------------------------------------------------------------------------------------


def test_the_published_client(service: RunningService, admin: str) -> None:
    sdk = Sdk(f"{service.url}/api/assisted-install")
    client = sdk.installer.api_client
    client.default_headers["Authorization"] = f"Bearer {admin}"
    infra_env = sdk.an_infra_env()
    assert "/bytoken/" in infra_env.download_url
    assert infra_env.expires_at.year > 2000
    del client.default_headers["Authorization"]
    answer = json.loads(_refusal(lambda: sdk.installer.get_infra_env(infra_env.id)))
    assert answer["code"] == 401
    token = _agent_token(service, admin, infra_env.id)
    client.default_headers["X-Secret-Key"] = token
    assert sdk.installer.get_infra_env(infra_env.id).id == infra_env.id


def _refusal(ask: Any) -> str:
    from assisted_service_client.rest import ApiException

    with pytest.raises(ApiException) as refused:
        ask()
    return str(refused.value.body)


def test_aicli_sends_its_token_without_a_word_before_it(
    service: RunningService, admin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aicli = Aicli(service.url, tmp_path)
    monkeypatch.setenv("AI_TOKEN", admin)
    aicli.create("locked", sno=True, openshift_version="4.18")
    assert aicli.cluster("locked")["name"] == "locked"


# --- machines ---------------------------------------------------------------------------------------------------------


def _agent_token(service: RunningService, admin: str, infra_env_id: str) -> str:
    path = f"/api/assisted-install/v2/infra-envs/{infra_env_id}/downloads/files?file_name=discovery.ign"
    found = re.search(r"PULL_SECRET_TOKEN=([\w.-]+)", json.dumps(call(service, "GET", path, admin)))
    assert found is not None
    return found[1]


@pytest.mark.anyio
async def test_a_fleet_that_knows_only_its_image_installs_a_cluster(service: RunningService, admin: str) -> None:
    async with connect(service.url, token=admin) as people:
        new = user.NewCluster(name="tokens", control_plane_count=3, version="4.18")
        cluster_id, infra_env_id = await user.create_cluster(people, new)
        machines = make_machines(Plan(masters=3, workers=0), seed=3, salt=str(infra_env_id))
        fleet = Fleet(service.url, infra_env_id, machines, speed=SPEED, service=people, look_seconds=0.2)
        async with fleet.powered():
            result = await install_new_cluster(fleet, cluster_id, control_plane_count=3, limit=120, say=lambda _: None)
        assert result.reached, result.snapshot
        async with connect(service.url) as nobody:
            with pytest.raises(Refused, match="401"):
                await nobody.register(infra_env_id, machines[0].id, agent_version="x")
    assert service.complaints() == ""


# --- images -----------------------------------------------------------------------------------------------------------


def test_an_image_by_its_url_alone(service: RunningService, admin: str) -> None:
    infra_env = an_infra_env(service, admin, "images")
    url, identity = infra_env["download_url"], infra_env["id"]
    assert url.startswith(f"{service.images_url}/bytoken/")
    assert url.endswith("/4.18/x86_64/full.iso")
    assert len(url) <= 255, "some BMCs take no more"
    status, first = image(url)
    assert status == 200
    assert f"PULL_SECRET_TOKEN={_agent_token(service, admin, identity)}".encode() in config_in(first)
    # The same bytes, however often and in whatever pieces.
    assert image(url) == (200, first)
    assert image(url, Range="bytes=100-4199") == (206, first[100:4200])
    # By the agent's own token, in both forms.
    key = _agent_token(service, admin, identity)
    tail = f"{identity}?version=4.18&arch=x86_64&type=full-iso&api_key={key}"
    assert image(f"{service.images_url}/byapikey/{key}/4.18/x86_64/full.iso") == (200, first)
    assert image(f"{service.images_url}/images/{tail}") == (200, first)


def test_no_image_without_the_right_token(service: RunningService, admin: str) -> None:
    mine, other = an_infra_env(service, admin, "mine"), an_infra_env(service, admin, "other")
    token = urlsplit(mine["download_url"]).path.split("/")[2]
    forged = token[:-4] + ("AAAA" if not token.endswith("AAAA") else "BBBB")
    end = "4.18/x86_64/full.iso"
    for path, expected in (
        (f"/byid/{mine['id']}/{end}", 401),
        (f"/bytoken/{forged}/{end}", 401),
        (f"/bytoken/nonsense/{end}", 401),
        (f"/images/{other['id']}?version=4.18&type=full-iso&image_token={token}", 403),
        (f"/images/{other['id']}/pxe-initrd?version=4.18&image_token={token}", 403),
        (f"/images/{mine['id']}/pxe-initrd?version=4.18", 401),
    ):
        status, body = image(service.images_url + path)
        assert status == expected, path
        assert set(json.loads(body)) == {"code", "message"}
    assert image(f"{service.images_url}/images/{mine['id']}/pxe-initrd?version=4.18&image_token={token}")[0] == 200


def test_new_urls_and_new_keys(service: RunningService, admin: str) -> None:
    infra_env = an_infra_env(service, admin, "renewed")
    path = f"/api/assisted-install/v2/infra-envs/{infra_env['id']}"
    old = infra_env["download_url"]
    assert image(old)[0] == 200
    fresh = call(service, "GET", f"{path}/downloads/image-url", admin)
    assert unchecked(urlsplit(fresh["url"]).path.split("/")[2]).exp is not None
    assert image(fresh["url"])[0] == 200
    call(service, "POST", f"{path}/regenerate-signing-key", admin)
    new = call(service, "GET", path, admin)["download_url"]
    assert image(new)[0] == 200
    assert _soon(lambda: image(old)[0] == 401 and image(fresh["url"])[0] == 401)


def _soon(holds: Any) -> bool:
    end = time.monotonic() + 60
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(holds())


def test_a_boot_script_carries_what_its_machine_needs(service: RunningService, admin: str) -> None:
    infra_env = an_infra_env(service, admin, "ipxe")
    path = f"/api/assisted-install/v2/infra-envs/{infra_env['id']}/downloads/files-presigned?file_name=ipxe-script"
    link = call(service, "GET", path, admin)["url"]
    status, script = image(link)
    assert status == 200
    initrd = re.search(rb"initrd --name initrd (\S+)", script)
    assert initrd is not None
    assert image(initrd[1].decode())[0] == 200
    assert image(re.sub(r"signature=\w", "signature=x", link))[0] == 403
    assert image(link.replace("ipxe-script", "discovery.ign"))[0] == 403
    assert image(link.partition("&expires")[0])[0] == 401


def test_no_token_is_written_anywhere(service: RunningService, admin: str) -> None:
    infra_env = an_infra_env(service, admin, "quiet")
    key = _agent_token(service, admin, infra_env["id"])
    image(infra_env["download_url"])
    image(f"{service.images_url}/byapikey/{key}/4.18/x86_64/full.iso")
    image(f"{service.url}/api/assisted-install/v2/infra-envs/{infra_env['id']}?api_key={key}")
    logged = service.log.read_text()
    assert "v2/infra-envs" in logged
    assert "eyJ" not in logged
    assert admin not in logged
    listed = json.dumps(call(service, "GET", "/api/assisted-install/v2/events?limit=5000", admin))
    assert "renewed" in listed or "image" in listed
    assert "eyJ" not in listed
