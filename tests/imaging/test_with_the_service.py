"""The image service and the real API: what is changed here is booted there."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from firstlight.core.images.live_iso import read_live_iso
from tests.builders.live_isos import KARGS, reader
from tests.imaging.conftest import BUILD, Images, Start, until
from tests.imaging.test_images import config_in
from tests.services import RunningService, run_service
from tests.worlds import PULL_SECRET

pytestmark = pytest.mark.anyio


def call(service: RunningService, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{service.api}/v2{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


async def image(images: Images, infra_env: str) -> bytes:
    got = await images.get(f"/byid/{infra_env}/{BUILD}/x86_64/full.iso")
    assert got.status == 200
    return got.body


async def test_an_infra_env_from_registration_to_change(start: Start, tmp_path: Path) -> None:
    with run_service(tmp_path) as service:
        images = await start(api_url=service.url)
        created = call(service, "POST", "/infra-envs", {"name": "lab", "pull_secret": PULL_SECRET})
        first = await image(images, created["id"])
        assert created["id"].encode() in config_in(first)
        assert await image(images, created["id"]) == first
        known = set(images.service.environments._kept)
        call(
            service,
            "PATCH",
            f"/infra-envs/{created['id']}",
            {"kernel_arguments": [{"operation": "append", "value": "rd.debug"}], "additional_ntp_sources": "10.9.8.7"},
        )
        await until(lambda: all(images.service.environments.fresh(one) is None for one in known))
        second = await image(images, created["id"])
        found = read_live_iso(reader(second), size=len(second)).kernel_arguments
        assert found is not None
        assert found.current == f"{KARGS} rd.debug"
        assert config_in(second) != config_in(first)
