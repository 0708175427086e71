"""An image service of its own, beside an API that asks for tokens: it holds no key, and hears of changes by a token."""

import json
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.imaging.conftest import Start, until
from tests.imaging.test_images import config_in
from tests.services import RunningService, run_service
from tests.worlds import PULL_SECRET

pytestmark = pytest.mark.anyio


def call(service: RunningService, method: str, path: str, body: object) -> dict[str, Any]:
    admin = (service.folder / "data" / "admin-token").read_text().strip()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {admin}"}
    request = urllib.request.Request(service.url + path, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


async def test_images_elsewhere(start: Start, tmp_path: Path) -> None:
    with run_service(tmp_path, AUTH_TYPE="local") as service:
        watcher = call(service, "POST", "/api/firstlight/v1/tokens", {"kind": "watcher", "name": "edge"})["token"]
        # Starting waits until the stream of changes is heard, which takes the token.
        images = await start(api_url=service.url, api_token=watcher)
        infra_envs = "/api/assisted-install/v2/infra-envs"
        created = call(
            service, "POST", infra_envs, {"name": "lab", "pull_secret": PULL_SECRET, "openshift_version": "4.18"}
        )
        path = urlsplit(created["download_url"]).path
        first = await images.get(path)
        assert first.status == 200
        known = set(images.service.environments._kept)
        change = {"additional_ntp_sources": "10.9.8.7"}
        call(service, "PATCH", f"{infra_envs}/{created['id']}", change)
        await until(lambda: all(images.service.environments.fresh(one) is None for one in known))
        second = await images.get(path)
        assert second.status == 200
        assert config_in(second.body) != config_in(first.body)
        assert (await images.get(f"/byid/{created['id']}/4.18/x86_64/full.iso")).status == 401
