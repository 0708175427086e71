"""What is known of a release is not fetched again, and the registry is asked all the same."""

import asyncio
import json
from pathlib import Path

import pytest

from firstlight.core.errors import NotFound
from firstlight.core.validate.pull_secret import parse_pull_secret
from firstlight.core.versions.image_reference import parse_reference
from firstlight.server.release.connecting import open_registries
from firstlight.server.release.payload import KnownReleases, Release, ReleaseInfo
from tests.registries import Registry, layer
from tests.worlds import PULL_SECRET

pytestmark = pytest.mark.anyio


def pushed(registry: Registry, version: str) -> str:
    references = {"metadata": {"name": version}, "spec": {"tags": [{"name": "etcd", "from": {"name": f"e:{version}"}}]}}
    files = {
        "release-manifests/image-references": json.dumps(references).encode(),
        "release-manifests/release-metadata": json.dumps({"version": version}).encode(),
    }
    registry.push("known/release", [layer(files)], tag="latest")
    return f"{registry.host}/known/release:latest"


async def read(registry: Registry, name: str, folder: Path, *, known: KnownReleases) -> tuple[ReleaseInfo, int]:
    """What the release says, and how many layers were fetched for it."""
    folder.mkdir()
    secret = parse_pull_secret(PULL_SECRET)
    async with open_registries(secret, plain=frozenset({registry.host})) as registries:
        release = Release(registries, architecture="x86_64", folder=folder, known=known)
        return await release.info(parse_reference(name)), len(list(folder.iterdir()))


async def test_layers_are_fetched_once_until_the_tag_moves(registry: Registry, tmp_path: Path) -> None:
    name, known = pushed(registry, "4.18.1"), KnownReleases()
    readings = [read(registry, name, tmp_path / f"at-once-{number}", known=known) for number in range(3)]
    found = await asyncio.gather(*readings)
    assert [info.version for info, _ in found] == ["4.18.1"] * 3
    assert sum(layers for _, layers in found) == 1
    pushed(registry, "4.18.2")
    info, layers = await read(registry, name, tmp_path / "moved", known=known)
    assert (info.version, info.images, layers) == ("4.18.2", {"etcd": "e:4.18.2"}, 1)
    gone = name.replace("latest", "absent")
    with pytest.raises(NotFound):
        await read(registry, gone, tmp_path / "absent", known=known)


async def test_only_the_latest_are_kept_and_failures_are_not() -> None:
    known, asked = KnownReleases(most=2), list[str]()

    async def get(image: str) -> str:
        async def look() -> ReleaseInfo:
            asked.append(image)
            if len(asked) == 1:
                raise NotFound("not yet")
            return ReleaseInfo(image=image, version=image, images={})

        return (await known.get(image, look)).version

    with pytest.raises(NotFound):
        await get("a")
    for image in ("a", "b", "a", "c", "a", "b"):
        assert await get(image) == image
    assert asked == ["a", "a", "b", "c", "b"]


@pytest.mark.parametrize(("seconds", "times"), [(0, 2), (3600, 1)])
async def test_an_answer_counts_for_a_while(seconds: float, times: int) -> None:
    known, asked = KnownReleases(seconds=seconds), list[str]()

    async def look() -> ReleaseInfo:
        asked.append("")
        return ReleaseInfo(image="a", version="4.18.1", images={})

    assert (await known.get("a", look)).version == (await known.get("a", look)).version
    assert len(asked) == times
