"""What machines boot with, over HTTP: Ignition config, boot script, static network, ramdisk, and links to them."""

import base64
import gzip
import io
import json
import subprocess
import tarfile
from datetime import timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from msgspec.structs import replace

from firstlight.core.model.host import Progress
from firstlight.core.model.host_status import HostStatus, Stage
from firstlight.server.ports.writes import PutHost
from firstlight.server.usecases.world import World
from tests.api.calling import PULL_SECRET, UNKNOWN, Client, reason
from tests.api.machines import ONE_HOST, OVERRIDE, Site, a_document, a_site
from tests.http.client import Answer
from tests.worlds import SetClock

pytestmark = pytest.mark.anyio

MAC = "52:54:00:aa:00:01"
PROXY = {"http_proxy": "http://user:p%40ss@proxy.example.com:3128", "no_proxy": "example.com"}


async def a_file(site: Site, name: str, **query: str) -> Answer:
    text = "&".join(f"{key}={value}" for key, value in {"file_name": name, **query}.items())
    return await site.call("GET", f"{site.path}/downloads/files", query=text)


def paths(answer: Answer) -> dict[str, Any]:
    return {entry["path"]: entry for entry in answer.json()["storage"]["files"]}


# --- discovery.ign


async def test_discovery(call: Client, world: World) -> None:
    site = await a_site(call, world, ignition_config_override=OVERRIDE, proxy=PROXY)
    answer = await a_file(site, "discovery.ign")
    assert answer.status == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="discovery.ign"'
    assert answer.headers["last-modified"] == "Sun, 01 Jun 2025 12:00:00 GMT"
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert "/etc/hi" in paths(answer)
    config = answer.json()
    (agent,) = [unit for unit in config["systemd"]["units"] if unit["name"] == "agent.service"]
    assert f"--infra-env-id {site.infra_env['id']}" in agent["contents"]
    assert "http://127.0.0.1:8090" in agent["contents"]
    assert config["ignition"]["proxy"]["httpProxy"] == PROXY["http_proxy"]


async def test_the_pull_secret_goes_along(call: Client, world: World) -> None:
    site = await a_site(call, world)
    entry = paths(await a_file(site, "discovery.ign"))["/root/.docker/config.json"]
    data = entry["contents"]["source"].partition(",")[2]
    assert base64.b64decode(unquote(data)).decode() == PULL_SECRET


@pytest.mark.parametrize(
    ("own", "asked", "inside"),
    [
        ("full-iso", "", True),
        ("minimal-iso", "", False),
        ("minimal-iso", "full-iso", True),
        ("full-iso", "minimal-iso", False),
    ],
)
async def test_static_network_travels_inside_a_full_image_only(
    call: Client, world: World, own: str, asked: str, inside: bool
) -> None:
    site = await a_site(call, world, image_type=own, static_network_config=[ONE_HOST])
    answer = await a_file(site, "discovery.ign", **({"discovery_iso_type": asked} if asked else {}))
    assert ("/etc/assisted/network/host0/mac_interface.ini" in paths(answer)) is inside


async def test_last_modified_moves_with_changes(call: Client, world: World, clock: SetClock) -> None:
    site = await a_site(call, world)
    clock.forward(timedelta(hours=1))
    before = await a_file(site, "discovery.ign")
    await call("PATCH", site.path, {"additional_ntp_sources": "ntp.example.com"})
    after = await a_file(site, "discovery.ign")
    assert before.headers["last-modified"] == "Sun, 01 Jun 2025 12:00:00 GMT"
    assert after.headers["last-modified"] == "Sun, 01 Jun 2025 13:00:00 GMT"
    assert before.body != after.body


@pytest.mark.parametrize(
    "query",
    [
        "",
        "file_name=other",
        "file_name=discovery.ign&ipxe_script_type=x",
        "file_name=discovery.ign&discovery_iso_type=x",
        "file_name=ipxe-script&expires=x",
    ],
)
async def test_queries_that_do_not_fit(call: Client, world: World, query: str) -> None:
    site = await a_site(call, world)
    assert (await call("GET", f"{site.path}/downloads/files", query=query)).status == 400


@pytest.mark.parametrize("name", ["discovery.ign", "ipxe-script", "static-network-config"])
async def test_unknown_infra_envs(call: Client, world: World, name: str) -> None:
    site = Site(call, world, {"id": str(UNKNOWN)})
    assert "no infra-env" in reason(await a_file(site, name), 404)
    if name != "static-network-config":
        answer = await call("GET", f"{site.path}/downloads/files-presigned", query=f"file_name={name}")
        assert reason(answer, 404)


# --- static network


async def test_static_network_archive(call: Client, world: World) -> None:
    site = await a_site(call, world, static_network_config=[ONE_HOST])
    answer = await a_file(site, "static-network-config")
    name = f"{site.infra_env['id']}-static-network-config.tar"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    with tarfile.open(fileobj=io.BytesIO(answer.body)) as archive:
        names = archive.getnames()
        content = archive.extractfile(names[0])
        assert content is not None
        assert content.read() == b"52:54:00:00:00:01=eth0\n"
    assert [each.removeprefix("etc/assisted/network/").removeprefix("/etc/assisted/network/") for each in names] == [
        "host0/mac_interface.ini",
        "host0/ymlFile0.yml",
    ]


# --- minimal initrd


async def test_nothing_to_add(call: Client, world: World) -> None:
    site = await a_site(call, world, image_type="minimal-iso")
    answer = await call("GET", f"{site.path}/downloads/minimal-initrd")
    assert (answer.status, answer.body) == (204, b"")


async def test_ramdisk(call: Client, world: World) -> None:
    site = await a_site(call, world, static_network_config=[ONE_HOST], proxy=PROXY, network_discovery_delay_seconds=9)
    answer = await call("GET", f"{site.path}/downloads/minimal-initrd")
    assert answer.status == 200
    content = gzip.decompress(answer.body)
    assert content.startswith(b"070701")
    assert b"DISCOVERY_DELAY_SECONDS=9" in content
    assert b"http_proxy=http://user:p%%40ss@proxy.example.com:3128" in content


# --- iPXE


async def test_boot_script(call: Client, world: World) -> None:
    arguments = [{"operation": "append", "value": "rd.net=1"}]
    site = await a_site(call, world, openshift_version="4.18", kernel_arguments=arguments)
    answer = await a_file(site, "ipxe-script")
    name = f"{site.infra_env['id']}-ipxe-script"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    version = site.infra_env["openshift_version"]
    query = f"arch=x86_64&version={version}"
    base = "http://127.0.0.1:8888"
    head, initrd, kernel, boot = answer.body.decode().strip().split("\n")
    assert (head, boot) == ("#!ipxe", "boot")
    assert initrd == f"initrd --name initrd {base}/images/{site.infra_env['id']}/pxe-initrd?{query}"
    assert kernel.startswith(f"kernel {base}/boot-artifacts/kernel?{query} initrd=initrd ")
    assert f"coreos.live.rootfs_url={base}/boot-artifacts/rootfs?{query} " in kernel
    assert kernel.endswith(" rd.net=1")


async def test_boot_order_control_asks_who_is_there(call: Client, world: World) -> None:
    site = await a_site(call, world)
    answer = await a_file(site, "ipxe-script", ipxe_script_type="boot-order-control")
    lines = answer.body.decode().strip().split("\n")
    assert lines[0] == "#!ipxe"
    url = lines[1].removeprefix("chain ")
    assert url.endswith("&mac=${net0/mac}")
    again = urlsplit(url.replace("${net0/mac}", MAC))
    path = again.path.removeprefix("/api/assisted-install/v2")
    answer = await call("GET", path, query=again.query)
    assert answer.body.startswith(b"#!ipxe\ninitrd ")


@pytest.mark.parametrize(
    ("status", "stage", "code"),
    [
        (HostStatus.KNOWN_UNBOUND, None, 200),
        (HostStatus.INSTALLED, None, 404),
        (HostStatus.ADDED_TO_EXISTING_CLUSTER, Stage.DONE, 404),
        (HostStatus.INSTALLING_IN_PROGRESS, Stage.WRITING_IMAGE, 200),
        (HostStatus.INSTALLING_IN_PROGRESS, Stage.REBOOTING, 404),
        (HostStatus.INSTALLING_IN_PROGRESS, Stage.WAITING_FOR_IGNITION, 404),
        (HostStatus.INSTALLING_IN_PROGRESS, Stage.CONFIGURING, 404),
        (HostStatus.INSTALLING_IN_PROGRESS, Stage.JOINED, 404),
        (HostStatus.INSTALLING_PENDING_USER_ACTION, Stage.REBOOTING, 404),
        (HostStatus.ERROR, Stage.REBOOTING, 200),
    ],
)
async def test_installed_machines_boot_from_disk(
    call: Client, world: World, status: HostStatus, stage: Stage | None, code: int
) -> None:
    site = await a_site(call, world)
    state = await site.known()
    await world.store.commit(PutHost(host=replace(state.host, status=status, progress=Progress(stage=stage))))
    answer = await a_file(site, "ipxe-script", ipxe_script_type="boot-order-control", mac=MAC.upper())
    assert answer.status == code
    always = await a_file(site, "ipxe-script", ipxe_script_type="discovery-image-always", mac=MAC)
    assert always.status == 200


async def test_two_machines_with_one_address(call: Client, world: World) -> None:
    site = await a_site(call, world)
    await site.known(1)
    await site.boot(2)
    await site.reply("inventory", a_document(1), number=2)
    answer = await a_file(site, "ipxe-script", ipxe_script_type="boot-order-control", mac=MAC)
    assert "2 hosts" in reason(answer, 409)


async def test_script_types_are_for_scripts(call: Client, world: World) -> None:
    site = await a_site(call, world)
    assert "belongs to" in reason(await a_file(site, "discovery.ign", ipxe_script_type="boot-order-control"), 400)
    query = "file_name=discovery.ign&ipxe_script_type=boot-order-control"
    assert "belongs to" in reason(await call("GET", f"{site.path}/downloads/files-presigned", query=query), 400)


# --- links


async def a_link(site: Site, query: str) -> tuple[str, str, dict[str, Any]]:
    answer = await site.call("GET", f"{site.path}/downloads/files-presigned", query=query)
    assert answer.status == 200
    link = answer.json()
    url = urlsplit(link["url"])
    return url.path.removeprefix("/api/assisted-install/v2"), url.query, link


async def test_a_link_works_until_it_ends(call: Client, world: World, clock: SetClock) -> None:
    site = await a_site(call, world)
    path, query, link = await a_link(site, "file_name=discovery.ign")
    assert link["url"].startswith("http://127.0.0.1:8090/api/assisted-install/v2/infra-envs/")
    assert link["expires_at"] == "2025-06-01T16:00:00.000Z"
    plain = await a_file(site, "discovery.ign")
    assert (await call("GET", path, query=query)).body == plain.body
    clock.forward(timedelta(hours=4))
    assert (await call("GET", path, query=query)).status == 200
    clock.forward(timedelta(seconds=1))
    refused = await call("GET", path, query=query)
    assert (refused.status, refused.json()["code"]) == (403, 403)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("discovery.ign", "ipxe-script"),
        ("expires=1748793600", "expires=1999999999"),
        ("expires=1748793600&", ""),
        ("signature=", "signature=0"),
    ],
)
async def test_an_altered_link_is_refused(call: Client, world: World, old: str, new: str) -> None:
    site = await a_site(call, world)
    path, query, _ = await a_link(site, "file_name=discovery.ign")
    assert old in query
    assert (await call("GET", path, query=query.replace(old, new))).status == 403


async def test_a_link_is_good_for_its_own_infra_env(call: Client, world: World) -> None:
    first, second = await a_site(call, world), await a_site(call, world)
    _, query, _ = await a_link(first, "file_name=discovery.ign")
    assert (await call("GET", f"{second.path}/downloads/files", query=query)).status == 403


async def test_links_to_boot_scripts(call: Client, world: World) -> None:
    site = await a_site(call, world)
    path, query, _ = await a_link(site, "file_name=ipxe-script&ipxe_script_type=boot-order-control")
    assert (await call("GET", path, query=query + f"&mac={MAC}")).status == 200
    assert (await call("GET", f"{site.path}/downloads/files-presigned", query="file_name=x")).status == 400


async def test_the_config_is_one_that_ignition_takes(
    call: Client, world: World, ignition_validate: str, tmp_path: Any
) -> None:
    site = await a_site(call, world, static_network_config=[ONE_HOST], ignition_config_override=OVERRIDE, proxy=PROXY)
    target = tmp_path / "discovery.ign"
    target.write_bytes((await a_file(site, "discovery.ign")).body)
    assert json.loads(target.read_bytes())["ignition"]["version"] == "3.1.0"
    assert subprocess.run([ignition_validate, str(target)], check=False).returncode == 0
