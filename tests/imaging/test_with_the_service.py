"""The image service and the real API: what is changed here is booted there."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from firstlight.core.images.live_iso import read_live_iso
from firstlight.core.images.minimal_iso import NMSTATE, RAMDISK
from tests.builders.live_isos import KARGS, reader
from tests.core.images.test_minimal_iso import contents
from tests.core.install.test_ramdisk import members
from tests.core.install.validator import verdict
from tests.imaging.conftest import BUILD, Images, Start, until
from tests.imaging.test_images import config_in
from tests.imaging.test_nmstate import an_image
from tests.nmstate.descriptions import EVERY, configured
from tests.services import RunningService, run_service
from tests.worlds import PULL_SECRET

pytestmark = pytest.mark.anyio


def call(service: RunningService, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{service.api}/v2{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
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


@pytest.mark.parametrize("version", ["4.17", "4.18"])
async def test_static_network_reaches_every_kind_of_image(
    start: Start, xorriso: str, nmstatectl: Path, tmp_path: Path, version: str
) -> None:
    """From the description a user sends to what machines boot: connections before 4.18, descriptions from then on."""
    (tmp_path / "live").mkdir()
    base = an_image(tmp_path / "live", kind="squashfs")
    description, cards = EVERY["VLAN on a bond"]
    with run_service(tmp_path, FIRSTLIGHT_NMSTATECTL=str(nmstatectl)) as service:
        images = await start({"url": base.as_uri(), "openshift_version": version}, api_url=service.url)
        body = {
            "name": "lab",
            "pull_secret": PULL_SECRET,
            "openshift_version": version,
            "static_network_config": [configured(description, cards)],
        }
        created = call(service, "POST", "/infra-envs", body)
        wanted = "ymlFile0.yml" if version == "4.18" else "bond0.404.nmconnection"
        folder = "/etc/assisted/network/host0"
        full = config_in(await image(images, created["id"]))
        assert verdict(full) == ""
        assert f"{folder}/{wanted}" in {one["path"] for one in json.loads(full)["storage"]["files"]}
        minimal = await images.get(f"/byid/{created['id']}/{version}/x86_64/minimal.iso")
        assert minimal.status == 200
        inside = contents(minimal.body)
        carried = members(inside[RAMDISK])
        assert carried[f"{folder}/mac_interface.ini"][1] == b"02:00:00:00:00:00=eth0\n02:00:00:00:00:01=eth1\n"
        assert f"{folder}/{wanted}" in carried
        assert (NMSTATE in inside) is (version == "4.18")
        assert b"ymlFile" not in config_in(minimal.body)
        initrd = await images.get(f"/images/{created['id']}/pxe-initrd?version={version}&arch=x86_64")
        ramdisk = inside[RAMDISK].rstrip(b"\0")
        assert ramdisk in initrd.body
        assert (inside.get(NMSTATE, b"nowhere") in initrd.body) is (version == "4.18")
