"""What callers get: every route, every kind of image, and every refusal with its sentence."""

import asyncio
import gzip
import json
import socket
import struct
import zlib
from pathlib import Path

import pytest

from firstlight.core.images.cpio import archive, ignition_archive
from firstlight.core.images.live_iso import read_live_iso
from firstlight.core.images.minimal_iso import NMSTATE, RAMDISK
from tests.builders.live_isos import AREA, KARGS, a_live_iso, noise, reader, tree
from tests.core.images.test_cpio import members
from tests.core.images.test_minimal_iso import contents
from tests.imaging.api import ID, OTHER
from tests.imaging.conftest import BUILD, Images, Start

pytestmark = pytest.mark.anyio

RAMDISK_CONTENT = gzip.compress(archive(("/etc/systemd/proxy.conf", b"[Service]\n", 0o644)), mtime=0)


def config_in(data: bytes) -> bytes:
    area = read_live_iso(reader(data), size=len(data)).ignition
    unpacked = zlib.decompressobj(wbits=31).decompress(data[area.offset :][: area.length])
    return members(unpacked)["config.ign"][1]


def kargs_in(data: bytes) -> str:
    found = read_live_iso(reader(data), size=len(data)).kernel_arguments
    assert found is not None
    return found.current


async def test_the_full_image(images: Images) -> None:
    images.api.environments[ID].kernel_arguments = [{"operation": "append", "value": "p1"}]
    got = await images.get(images.full)
    assert got.status == 200
    assert config_in(got.body) == images.api.environments[ID].ignition
    assert kargs_in(got.body) == f"{KARGS} p1"
    assert len(got.body) == len(images.base)
    changed = [index for index in range(len(got.body)) if got.body[index] != images.base[index]]
    assert len(changed) < 500
    assert got.headers["Content-Disposition"] == f'attachment; filename="{ID}-discovery.iso"'
    assert got.headers["Last-Modified"] == "Fri, 02 Jan 2026 03:04:05 GMT"
    assert got.headers["Content-Type"] == "application/octet-stream"
    assert images.api.calls == ["infra-env", "discovery.ign full-iso"]


async def test_what_reaches_the_caller_is_no_different_by_other_routes(images: Images) -> None:
    expected = (await images.get(images.full)).body
    for path in (
        f"/byid/{ID}/{BUILD}/x86_64/full.iso",
        f"/images/{ID}?version=4.18&arch=x86_64&type=full-iso",
        f"/images/{ID}?version=4.18&type=full-iso",
    ):
        got = await images.get(path)
        assert (got.status, got.body) == (200, expected)


async def test_the_minimal_image(start: Start, hybrid: Path) -> None:
    images = await start({"url": hybrid.as_uri()})
    images.api.environments[ID].ramdisk = RAMDISK_CONTENT
    images.api.environments[ID].kernel_arguments = [{"operation": "append", "value": "p1"}]
    got = await images.get(images.minimal)
    assert got.status == 200
    rootfs = f"{images.url}/boot-artifacts/rootfs?arch=x86_64&version={BUILD}"
    assert kargs_in(got.body).endswith(f'coreos.live.rootfs_url="{rootfs}" p1')
    assert config_in(got.body) == images.api.environments[ID].ignition
    assert contents(got.body)[RAMDISK].rstrip(b"\0") == RAMDISK_CONTENT.rstrip(b"\0")
    assert NMSTATE not in contents(got.body)
    fetched = await images.get(rootfs.removeprefix(images.url))
    assert fetched.body == tree()["images/pxeboot/rootfs.img"]
    assert images.api.calls == ["infra-env", "discovery.ign minimal-iso", "minimal-initrd"]


async def test_booting_over_the_network(images: Images) -> None:
    images.api.environments[ID].ramdisk = RAMDISK_CONTENT
    got = await images.get(f"/images/{ID}/pxe-initrd?version=4.18&arch=x86_64")
    expected = ignition_archive(images.api.environments[ID].ignition)
    assert got.body == tree()["images/pxeboot/initrd.img"] + expected + RAMDISK_CONTENT
    assert got.headers["Content-Disposition"].endswith(f'filename="{ID}-initrd.img"')
    assert images.api.calls == ["infra-env", "discovery.ign", "minimal-initrd"]
    kernel = await images.get("/boot-artifacts/kernel?version=4.18&arch=x86_64")
    assert kernel.body == tree()["images/pxeboot/vmlinuz"]
    assert kernel.headers["Content-Disposition"].endswith('filename="vmlinuz"')


async def test_s390x(start: Start, tmp_path: Path) -> None:
    (tmp_path / "s390x.iso").write_bytes(a_live_iso(tree(architecture="s390x")))
    images = await start({"url": str(tmp_path / "s390x.iso"), "cpu_architecture": "s390x"})
    images.api.environments[ID].kernel_arguments = [{"operation": "append", "value": "p1"}]
    full = await images.get(f"/byid/{ID}/4.18/s390x/full.iso")
    assert config_in(full.body) == images.api.environments[ID].ignition
    assert kargs_in(full.body) == f"{KARGS} p1"
    initrd = await images.get(f"/images/{ID}/pxe-initrd?version=4.18&arch=s390x")
    size = await images.get(f"/images/{ID}/s390x-initrd-addrsize?version=4.18")
    assert size.body == struct.pack(">QQ", 0x0200_0000, len(initrd.body))
    assert (await images.get("/boot-artifacts/ins-file?version=4.18&arch=s390x")).body == tree(architecture="s390x")[
        "generic.ins"
    ]
    minimal = await images.get(f"/byid/{ID}/4.18/s390x/minimal.iso")
    assert minimal.status == 404
    assert "Use the full image" in minimal.reason


async def test_head_tells_and_sends_nothing(images: Images) -> None:
    got, head = await images.get(images.full), await images.ask("HEAD", images.full)
    assert (head.status, head.body) == (200, b"")
    for name in ("Content-Length", "ETag", "Last-Modified", "Accept-Ranges", "Content-Disposition"):
        assert head.headers[name] == got.headers[name]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        (f"/byid/{ID}/4.99/x86_64/full.iso", 404, "There is no full-iso of version '4.99' for x86_64"),
        (f"/byid/{ID}/4.18/sparc/full.iso", 404, "sparc"),
        (f"/byid/{ID}/4.18/arm64/full.iso", 404, "for arm64. Configured versions: none"),
        (f"/byid/{ID}/4.18/x86_64/other.iso", 404, "There is no image 'other.iso'"),
        (f"/byid/{ID}/4.18/x86_64/disconnected.iso", 404, "no disconnected-iso"),
        (f"/byid/{ID.upper()}/4.18/x86_64/full.iso", 404, "is not the id of an infra-env"),
        ("/byid/..%2f..%2fetc%2fpasswd/4.18/x86_64/full.iso", 404, "is not the id"),
        (f"/byid/{ID}/..%2F..%2Fetc/x86_64/full.iso", 404, "There is no full-iso of version"),
        (f"/byid/{ID}/%00/x86_64/full.iso", 404, "There is no full-iso"),
        (f"/byid/{ID}/%ff/x86_64/full.iso", 404, "nothing with such a name"),
        ("/byid/5b1e4a3c-0000-4000-8000-0000000000cc/4.18/x86_64/full.iso", 404, "There is no such infra-env."),
        (f"/images/{ID}?type=full-iso", 400, "version is missing"),
        (f"/images/{ID}?version=4.18", 400, "type is missing"),
        (f"/images/{ID}?version=4.18&type=raw", 400, "'raw' is not one of"),
        (f"/images/{ID}/pxe-initrd?version=4.99", 400, "There is no"),
        (f"/images/{ID}/pxe-initrd", 400, "version is missing"),
        ("/boot-artifacts/kernel?version=4.99&arch=x86_64", 400, "There is no"),
        ("/boot-artifacts/secret?version=4.18", 404, "no boot artifact 'secret'"),
        ("/boot-artifacts/ins-file?version=4.18&arch=x86_64", 404, "has no ins-file"),
        (f"/images/{ID}/s390x-initrd-addrsize?version=4.18", 400, "for s390x"),
        ("/", 404, "nothing with this name"),
        ("/s390x-initrd-addrsize", 404, "nothing with this name"),
        ("/byid/" + "a" * 10_000, 404, "long name"),
    ],
)
async def test_what_is_not_there(images: Images, path: str, status: int, words: str) -> None:
    got = await images.get(path)
    assert (got.status, got.headers["Content-Type"]) == (status, "application/json")
    assert words in got.reason


async def test_other_methods(images: Images) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        got = await images.ask(method, images.full)
        assert (got.status, got.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("size", "status"), [pytest.param(AREA, 200, id="fits"), pytest.param(AREA + 4, 409, id="four-bytes-too-many")]
)
async def test_an_ignition_config_as_large_as_its_place(
    images: Images, monkeypatch: pytest.MonkeyPatch, size: int, status: int
) -> None:
    packed = noise("packed", size)
    monkeypatch.setattr("firstlight.server.imaging.assembly.ignition_archive", lambda document: packed)
    got = await images.get(images.full)
    assert got.status == status
    if status == 200:
        area = read_live_iso(reader(got.body), size=len(got.body)).ignition
        assert got.body[area.offset :][: area.length] == packed
    else:
        assert f"needs {size} bytes when packed, but this image has room for {AREA}: 4 too many" in got.reason
        assert "Shorten the override" in got.reason


async def test_an_ignition_config_that_fits_nowhere(start: Start, hybrid: Path) -> None:
    """Nothing is cut: over the network there is no such limit, and the same config boots."""
    images = await start({"url": hybrid.as_uri()})
    config = json.dumps({"ignition": {"version": "3.2.0"}, "x": noise("config", AREA).hex()}).encode()
    images.api.environments[ID].ignition = config
    for path in (images.full, images.minimal):
        got = await images.get(path)
        assert (got.status, "too many. Shorten" in got.reason) == (409, True)
        got = await images.get(path, Range="bytes=0-99")
        assert got.status == 409
    over_the_network = await images.get(f"/images/{ID}/pxe-initrd?version=4.18&arch=x86_64")
    assert over_the_network.body.endswith(ignition_archive(config))


async def test_environments_that_do_not_fit(start: Start, hybrid: Path) -> None:
    images = await start({"url": hybrid.as_uri()})
    images.api.environments[ID].kernel_arguments = [{"operation": "append", "value": "x" * 2_000}]
    for path in (images.full, images.minimal):
        got = await images.get(path)
        assert (got.status, "room for" in got.reason) == (409, True)
    images.api.environments[OTHER].ramdisk = noise("large", 1024 * 1024 + 1)
    got = await images.get(images.minimal.replace(ID, OTHER))
    assert (got.status, "Use the full image" in got.reason) == (409, True)


async def test_arguments_can_only_be_appended(images: Images) -> None:
    images.api.environments[ID].kernel_arguments = [{"operation": "delete", "value": "quiet"}]
    got = await images.get(images.full)
    assert (got.status, "can only append" in got.reason) == (409, True)


@pytest.mark.parametrize("status", [401, 403, 404, 409])
async def test_the_api_has_the_last_word(images: Images, status: int) -> None:
    images.api.refuse_with = status
    got = await images.get(f"/images/{ID}?version=4.18&type=full-iso&api_key=very-secret")
    assert (got.status, got.reason) == (status, "Because.")
    images.api.refuse_with = 500
    assert (await images.get(images.full)).status == 503


async def test_credentials_are_passed_on(images: Images) -> None:
    long = f"/images/{ID}?version=4.18&type=full-iso"
    await images.get(f"{long}&api_key=key&image_token=token", Authorization="Bearer x")
    await images.get(f"{long}&image_token=token", Authorization="Bearer x")
    await images.get(long, Authorization="Bearer x")
    assert images.api.credentials[::2] == [("key", "", ""), ("", "token", ""), ("", "", "Bearer x")]


async def test_one_caller_s_right_is_not_another_s(images: Images) -> None:
    path = f"/images/{ID}?version=4.18&type=full-iso"
    assert (await images.get(path, Authorization="Bearer good")).status == 200
    images.api.refuse_with = 401
    assert (await images.get(path, Authorization="Bearer good")).status == 200  # known already
    assert (await images.get(path, Authorization="Bearer bad")).status == 401
    assert (await images.get(path)).status == 401


async def test_browsers_of_configured_origins(start: Start) -> None:
    images = await start(allowed_domains=("https://console.example.com",))
    got = await images.get(images.full, Origin="https://console.example.com", Range="bytes=0-9")
    assert got.headers["Access-Control-Allow-Origin"] == "https://console.example.com"
    assert "Access-Control-Allow-Origin" not in (await images.get(images.full, Origin="https://evil.example")).headers


async def test_pages(images: Images) -> None:
    for path in ("/health", "/live"):
        assert ((await images.get(path)).status, (await images.get(path)).body) == (200, b"")
    await images.get(images.full, Range="bytes=0-9")
    text = (await images.get("/metrics")).body.decode()
    count = 'assisted_image_service_http_request_duration_seconds_count{code="206",handler="/byid/:token",method="GET"'
    assert count in text
    assert 'assisted_image_service_base_images{state="ready"} 1.0' in text
    listed = (await images.get("/base-images")).body
    assert b'"state":"ready"' in listed
    assert str(len(images.base)).encode() in listed


async def test_requests_that_are_none(images: Images) -> None:
    port = int(images.url.rpartition(":")[2])
    loop = asyncio.get_running_loop()
    for garbage, status in (
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 40_000 + b"\r\n", b"431"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + b"a" * 70_000, b"413"),
    ):
        reader_, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(garbage)
        assert (await reader_.readline()).split()[1] == status
        writer.close()
    with socket.create_connection(("127.0.0.1", port)) as half:
        half.sendall(b"GET /live HTTP/1.1\r\n")
    assert loop.is_running()
    assert (await images.get("/live")).status == 200


async def test_requests_one_after_the_other_on_one_connection(images: Images) -> None:
    whole = (await images.get(images.full)).body
    port = int(images.url.rpartition(":")[2])
    source, sink = await asyncio.open_connection("127.0.0.1", port)
    ask = f"GET {images.full} HTTP/1.1\r\nHost: x\r\n"
    ranges = [(number * 7_000, number * 7_000 + 300_000) for number in range(40)]
    for start_, stop in ranges:
        sink.write(f"{ask}Range: bytes={start_}-{stop - 1}\r\n\r\n".encode())
    for start_, stop in ranges:
        head = await source.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 206")
        stop = min(stop, len(whole))
        assert await source.readexactly(stop - start_) == whole[start_:stop]
    sink.close()
