"""Tokens in images: the same bytes each time, until half of a token's life is over."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from firstlight.server.auth.compact import unchecked
from tests.auth.locked import ADMIN, LIFETIMES, Locked, locked
from tests.builders.moments import NOW
from tests.http.client import Answer
from tests.worlds import PULL_SECRET

pytestmark = pytest.mark.anyio
SECOND = timedelta(seconds=1)


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Locked]:
    async with locked(tmp_path) as service:
        yield service


async def created(service: Locked) -> str:
    body = b'{"name": "lab", "openshift_version": "4.18", "pull_secret": %s}' % PULL_SECRET_TEXT
    answer = await service.ask(
        "POST", "/v2/infra-envs", body=body, Authorization=ADMIN, content_type="application/json"
    )
    assert answer.status == 201
    return str(answer.json()["id"])


PULL_SECRET_TEXT = b'"' + PULL_SECRET.replace('"', '\\"').encode() + b'"'


async def ignition(service: Locked, infra_env_id: str) -> Answer:
    path = f"/v2/infra-envs/{infra_env_id}/downloads/files"
    return await service.ask("GET", path, query="file_name=discovery.ign", Authorization=ADMIN)


def expiry(answer: Answer) -> float | None:
    found = re.search(r"PULL_SECRET_TOKEN=([\w.-]+)", answer.body.decode())
    assert found is not None
    return unchecked(found[1]).exp


async def test_an_image_is_the_same_until_its_token_is_renewed(service: Locked) -> None:
    infra_env_id = await created(service)
    first = await ignition(service, infra_env_id)
    assert expiry(first) == (NOW + LIFETIMES.agent).timestamp()
    service.clock.forward(LIFETIMES.agent / 2 - SECOND)
    assert (await ignition(service, infra_env_id)).body == first.body
    service.clock.forward(SECOND)
    second = await ignition(service, infra_env_id)
    assert expiry(second) == (NOW + LIFETIMES.agent * 1.5).timestamp()
    assert (await ignition(service, infra_env_id)).body == second.body
    # Caches and image services hear of it.
    moved = [parsedate_to_datetime(answer.headers["last-modified"]) for answer in (first, second)]
    assert moved[1] - moved[0] == LIFETIMES.agent / 2
    events = await service.ask("GET", "/v2/events", query=f"infra_env_id={infra_env_id}", Authorization=ADMIN)
    assert [event["name"] for event in events.json()] == [
        "infra_env_registered",
        "image_info_updated",
        "image_info_updated",
    ]


async def shown(service: Locked, infra_env_id: str) -> tuple[str, str]:
    answer = (await service.ask("GET", f"/v2/infra-envs/{infra_env_id}", Authorization=ADMIN)).json()
    return answer["download_url"], answer["expires_at"]


async def test_a_url_that_is_looked_at_is_good_for_a_while(service: Locked) -> None:
    """Clients that know nothing of expiry take what they are shown."""
    infra_env_id = await created(service)
    first = await shown(service, infra_env_id)
    service.clock.forward(LIFETIMES.image / 2)
    assert await shown(service, infra_env_id) == first
    service.clock.forward(SECOND)
    second = await shown(service, infra_env_id)
    assert second[0] != first[0]
    assert second[1] > first[1]


async def test_a_change_keeps_a_url_that_leads_to_the_same_file(service: Locked) -> None:
    infra_env_id = await created(service)
    first, _ = await shown(service, infra_env_id)

    async def change(body: bytes) -> str:
        path = f"/v2/infra-envs/{infra_env_id}"
        answer = await service.ask("PATCH", path, body=body, Authorization=ADMIN, content_type="application/json")
        assert answer.status == 201
        return str(answer.json()["download_url"])

    assert await change(b"{}") == first
    assert await change(b'{"additional_ntp_sources": "ntp.example.com"}') == first
    minimal = await change(b'{"image_type": "minimal-iso"}')
    assert minimal.endswith("/minimal.iso")
    assert minimal != first
