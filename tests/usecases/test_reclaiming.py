"""A machine that is given back to its infra-env is told where its discovery system is."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.plan import StepPlan, StepType
from firstlight.core.roles import key_of
from firstlight.server.auth.keys import key_pair, new_private_key
from firstlight.server.auth.tokens import IMAGE_KEY, Tokens
from firstlight.server.engine.evaluator import Evaluator
from firstlight.server.ports.subjects import infra_env_subject
from firstlight.server.ports.writes import PutSecret
from firstlight.server.usecases.step_inputs import pool_inputs
from firstlight.server.usecases.world import World
from tests.builders.clusters import an_infra_env
from tests.builders.hosts import host_state
from tests.builders.moments import INFRA_ENV_ID, NOW
from tests.worlds import a_world

pytestmark = pytest.mark.anyio
IMAGES = "https://images.example.com:8888"
INFRA_ENV = an_infra_env(openshift_version="4.20", cpu_architecture="arm64")
LEFT = host_state(1, cluster_id=None, status=HostStatus.RECLAIMING, status_updated_at=NOW)


def the_evaluator(world: World, tokens: Tokens | None = None) -> Evaluator:
    asked = partial(pool_inputs, image_service_url=IMAGES, store=world.store, tokens=tokens)
    return Evaluator(world.policy, pool_inputs_of=asked)


def artifacts_in(plan: StepPlan) -> dict[str, str]:
    assert [step.type for step in plan.steps] == [StepType.DOWNLOAD_BOOT_ARTIFACTS]
    return msgspec.json.decode(plan.steps[0].args[0], type=dict[str, str])


async def test_it_downloads_what_machines_boot_over_the_network(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        decision = await the_evaluator(world).pool_host(LEFT, INFRA_ENV, NOW)
    assert artifacts_in(decision.plans[key_of(LEFT)]) == {
        "kernel_url": f"{IMAGES}/boot-artifacts/kernel?arch=arm64&version=4.20",
        "rootfs_url": f"{IMAGES}/boot-artifacts/rootfs?arch=arm64&version=4.20",
        "initrd_url": f"{IMAGES}/images/{INFRA_ENV_ID}/pxe-initrd?arch=arm64&version=4.20",
        "host_fs_mount_dir": "/host",
    }


async def test_the_ramdisk_is_fetched_with_a_token_that_stays_the_same(tmp_path: Path) -> None:
    tokens = Tokens(key_pair(private=new_private_key()))
    key = b"k" * 32
    async with a_world(tmp_path) as world:
        await world.store.commit(PutSecret(subject=infra_env_subject(INFRA_ENV_ID), name=IMAGE_KEY, value=key.hex()))
        evaluator = the_evaluator(world, tokens)
        first, later = [
            artifacts_in((await evaluator.pool_host(LEFT, INFRA_ENV, NOW + after)).plans[key_of(LEFT)])
            for after in (timedelta(0), timedelta(minutes=30))
        ]
    assert first == later
    shown = parse_qs(urlsplit(first["initrd_url"]).query)["image_token"]
    assert shown == [tokens.image(INFRA_ENV_ID, key=key, now=NOW)[0]]
    assert "token" not in first["kernel_url"] + first["rootfs_url"]


async def test_others_are_told_nothing_of_it(tmp_path: Path) -> None:
    state = host_state(1, cluster_id=None, status=HostStatus.KNOWN_UNBOUND)
    async with a_world(tmp_path) as world:
        decision = await the_evaluator(world).pool_host(state, INFRA_ENV, NOW)
    assert all(step.type is not StepType.DOWNLOAD_BOOT_ARTIFACTS for step in decision.plans[key_of(state)].steps)
