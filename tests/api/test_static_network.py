"""Static network through the API, with the real nmstatectl: before 4.18 as connections, from then on as described."""

import gzip
import io
import json
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from firstlight.server.usecases.world import World
from tests.api.calling import PULL_SECRET, Client, reason
from tests.api.machines import a_site
from tests.core.install.test_ramdisk import members
from tests.core.install.validator import verdict
from tests.nmstate.descriptions import BOND, ETHERNET, EVERY, STATIC_V4, VLAN_ON_BOND, configured
from tests.worlds import SetClock, a_world

pytestmark = pytest.mark.anyio

OLD, NEW = "4.17", "4.18"


@pytest.fixture
async def world(tmp_path: Path, clock: SetClock, nmstatectl: Path, anyio_backend: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, clock=clock, nmstatectl=nmstatectl) as made:
        yield made


async def discovery(call: Client, infra_env: dict[str, Any]) -> bytes:
    path = f"/infra-envs/{infra_env['id']}/downloads/files"
    answer = await call("GET", path, query="file_name=discovery.ign&discovery_iso_type=full-iso")
    assert answer.status == 200
    return answer.body


def network_paths(document: bytes) -> set[str]:
    paths = (entry["path"] for entry in json.loads(document)["storage"]["files"])
    return {path.removeprefix("/etc/assisted/network/") for path in paths if path.startswith("/etc/assisted/network/")}


@pytest.mark.peer("ignition")
@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize("name", EVERY)
async def test_every_kind_of_network(call: Client, world: World, version: str, name: str) -> None:
    site = await a_site(call, world, openshift_version=version, static_network_config=[configured(*EVERY[name])])
    document = await discovery(call, site.infra_env)
    assert verdict(document) == ""
    assert document == await discovery(call, site.infra_env)
    paths = network_paths(document)
    if version == OLD:
        assert "host0/mac_interface.ini" in paths
        assert {f"host0/{card}.nmconnection" for card in EVERY[name][1]} <= paths
        assert not any(path.endswith(".yml") for path in paths)
    else:
        assert paths == {"host0/mac_interface.ini", "host0/ymlFile0.yml"}


async def test_the_archive_and_the_ramdisk_of_an_old_release(call: Client, world: World) -> None:
    hosts = [configured(BOND, ("eth0", "eth1"), host=1), configured(STATIC_V4, ("eth0",), host=2)]
    site = await a_site(call, world, openshift_version=OLD, image_type="minimal-iso", static_network_config=hosts)
    tar = await call("GET", f"{site.path}/downloads/files", query="file_name=static-network-config")
    with tarfile.open(fileobj=io.BytesIO(tar.body)) as archive:
        names = {name.lstrip("/").removeprefix("etc/assisted/network/") for name in archive.getnames()}
    assert len([name for name in names if name.endswith("mac_interface.ini")]) == 2
    assert len([name for name in names if name.endswith(".nmconnection")]) == 4
    ramdisk = await call("GET", f"{site.path}/downloads/minimal-initrd")
    found = members(ramdisk.body)
    assert {f"/etc/assisted/network/{name}" for name in names} <= {*found}
    unit = found["/etc/systemd/system/pre-network-manager-config.service"][1]
    assert b"Before=coreos-copy-firstboot-network.service" in unit
    assert b"nmstatectl service" not in gzip.decompress(ramdisk.body)
    assert (await call("GET", f"{site.path}/downloads/minimal-initrd")).body == ramdisk.body
    assert network_paths(await discovery(call, site.infra_env)) == names


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_what_nmstate_refuses_names_the_host(call: Client, version: str, world: World) -> None:
    good = configured(STATIC_V4, ("eth0",), host=1)
    bad = configured(STATIC_V4.replace("enabled: true", "enable: true"), ("eth0",), host=2)
    body = {"name": "lab", "pull_secret": PULL_SECRET, "openshift_version": version}
    said = reason(await call("POST", "/infra-envs", {**body, "static_network_config": [good, bad]}), 400)
    assert said.startswith("Static network configuration 2 (02:00:00:00:02:00) is refused by nmstate: ")
    assert "unknown field `enable`" in said
    site = await a_site(call, world, openshift_version=version)
    answer = await call("PATCH", site.path, {"static_network_config": [bad, good]})
    assert reason(answer, 400).startswith("Static network configuration 1 (02:00:00:00:02:00)")


async def test_another_version_travels_another_way(call: Client, world: World) -> None:
    site = await a_site(
        call, world, openshift_version=NEW, static_network_config=[configured(VLAN_ON_BOND, ("eth0", "eth1"))]
    )
    assert "host0/ymlFile0.yml" in network_paths(await discovery(call, site.infra_env))
    assert (await call("PATCH", site.path, {"openshift_version": OLD})).status == 201
    assert "host0/bond0.404.nmconnection" in network_paths(await discovery(call, site.infra_env))


async def test_two_hundred_hosts(call: Client, world: World) -> None:
    hosts = [configured(STATIC_V4.replace("192.0.2.5", f"192.0.2.{n}"), ("eth0",), host=n) for n in range(1, 201)]
    site = await a_site(call, world, openshift_version=OLD, static_network_config=hosts)
    assert len(network_paths(await discovery(call, site.infra_env))) == 400


class TestWithoutNmstatectl:
    @pytest.fixture
    async def world(self, tmp_path: Path, clock: SetClock, anyio_backend: str) -> AsyncIterator[World]:
        async with a_world(tmp_path, clock=clock, nmstatectl=tmp_path / "nmstatectl") as made:
            yield made

    async def test_old_releases_say_how_to_get_it(self, call: Client, world: World) -> None:
        body = {"name": "lab", "pull_secret": PULL_SECRET, "openshift_version": OLD}
        host = configured(ETHERNET, ("eth0",))
        said = reason(await call("POST", "/infra-envs", {**body, "static_network_config": [host]}), 409)
        for words in ("OpenShift before 4.18", "FIRSTLIGHT_NMSTATECTL", "package nmstate", "4.18 or newer"):
            assert words in said
        site = await a_site(call, world, openshift_version=OLD)
        assert "FIRSTLIGHT_NMSTATECTL" in reason(await call("PATCH", site.path, {"static_network_config": [host]}), 409)

    async def test_newer_ones_do_without(self, call: Client, world: World) -> None:
        host = configured(ETHERNET, ("eth0",))
        site = await a_site(call, world, openshift_version=NEW, static_network_config=[host])
        assert "host0/ymlFile0.yml" in network_paths(await discovery(call, site.infra_env))
