"""Steps that fetch: the worker's Ignition, Tang advertisements, boot artifacts; and what a URL may be trusted with."""

import base64
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firstlight.core.errors import Invalid
from firstlight.host.actions.action import Done
from firstlight.host.actions.registry import ACTIONS
from firstlight.host.actions.worker_ignition import is_known, reduced
from tests.agent_sites import a_site, output_of, text
from tests.small_web import Web, running_web, says


@pytest.fixture
def web() -> Iterator[Web]:
    with running_web() as running:
        yield running


IGNITION: dict[str, Any] = {
    "ignition": {"version": "3.2.0", "config": {"merge": []}},
    "passwd": {"users": [{"name": "core", "passwordHash": "secret"}]},
    "systemd": {"units": [{"name": "kubelet.service"}]},
    "storage": {
        "luks": [{"name": "root", "device": "/dev/disk/by-label/root"}],
        "files": [
            {"path": "/etc/kubernetes/kubeconfig", "contents": {"source": "data:,k"}},
            {"path": "/etc/secret", "contents": {"source": "data:,s"}},
            {"path": "/etc/ignition-machine-config-encapsulated.json", "contents": {"source": "data:,m"}},
        ],
    },
}


async def fetched(**request: object) -> Any:
    return output_of(await ACTIONS["api-vip-connectivity-check"].run((text(request), "--new"), a_site()))


@pytest.mark.anyio
async def test_the_workers_ignition_is_reduced(web: Web) -> None:
    web.pages["/config/worker"] = says(msgspec.json.encode(IGNITION))
    reply = await fetched(
        url=f"{web.url}/config/worker",
        request_headers=[{"key": "X-Pool", "value": "blue"}],
        ignition_endpoint_token="t",
        ca_certificate=None,
    )
    assert reply["is_success"]
    kept = msgspec.json.decode(reply["ignition"])
    assert [file["path"] for file in kept["storage"]["files"]] == [
        "/etc/kubernetes/kubeconfig",
        "/etc/ignition-machine-config-encapsulated.json",
    ]
    assert kept["storage"]["luks"] == IGNITION["storage"]["luks"]
    assert set(kept) == {"ignition", "storage"}
    ((_, headers),) = web.seen
    assert headers["accept"] == "application/vnd.coreos.ignition+json; version=3.2.0"
    assert (headers["x-pool"], headers["authorization"]) == ("blue", "Bearer t")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("page", "word"),
    [
        (says(b"<html>busy</html>", status=503), "503"),
        (says(b""), "empty"),
        (says(b"<html>"), "<html>"),
        (says(b'{"ignition":{"version":"2.2.0"}}'), "2.2.0"),
        (says(b"[]"), "JSON"),
    ],
)
async def test_what_is_no_ignition_is_said_in_a_good_reply(web: Web, page: Any, word: str) -> None:
    """The step itself succeeds: only so the service stores what went wrong."""
    web.pages["/w"] = page
    reply = await fetched(url=f"{web.url}/w")
    assert word in reply["download_error"]
    assert "is_success" not in reply


@pytest.mark.anyio
async def test_nobody_listening_is_said(web: Web) -> None:
    web.server.server_close()
    assert "could not be fetched" in (await fetched(url=f"{web.url}/w?token=s3cret"))["download_error"]


@pytest.mark.anyio
@pytest.mark.parametrize("request_", [{"url": "file:///etc/passwd"}, {"url": "http://x", "ca_certificate": "%%%"}])
async def test_a_request_that_makes_no_sense_fails(request_: dict[str, str]) -> None:
    done = await ACTIONS["api-vip-connectivity-check"].run((text(request_),), a_site())
    assert (done.exit_code, done.output) == (-1, "")


@pytest.mark.anyio
async def test_an_authority_that_is_none_is_a_failed_download() -> None:
    reply = await fetched(url="https://127.0.0.1:1/", ca_certificate=base64.b64encode(b"no pem").decode())
    assert "PEM" in reply["download_error"]


@pytest.mark.parametrize(
    ("version", "known"),
    [("3.0.0", True), ("3.6.0-experimental", True), ("3.7.0", False), ("2.9.9", False), ("", False)],
)
def test_versions_of_ignition(version: str, known: bool) -> None:
    assert is_known(version) == known


def test_the_beginning_of_rubbish_is_shown_and_no_more() -> None:
    with pytest.raises(Invalid) as raised:
        reduced(b"x" * 5000)
    assert 512 < len(str(raised.value)) < 700


# --- Tang -------------------------------------------------------------------------------------------------------------

ADVERTISED = b'{"payload":"cA","signatures":[{"protected":"a","signature":"b"}]}'


async def asked(*servers: dict[str, str]) -> Done:
    return await ACTIONS["tang-connectivity-check"].run((text({"tang_servers": text(servers)}),), a_site())


@pytest.mark.anyio
async def test_tang_servers_advertise(web: Web) -> None:
    web.pages["/adv/abc"] = says(ADVERTISED)
    web.pages["/adv/flat"] = says(b'{"payload":"p","protected":"q","signature":"r"}')
    reply = output_of(await asked({"url": f"{web.url}/", "thumbprint": "abc"}, {"url": web.url, "thumbprint": "flat"}))
    assert reply["is_success"]
    assert reply["tang_server_response"] == [
        {"tang_url": f"{web.url}/", "payload": "cA", "signatures": [{"protected": "a", "signature": "b"}]},
        {"tang_url": web.url, "payload": "p", "signatures": [{"protected": "q", "signature": "r"}]},
    ]


@pytest.mark.anyio
async def test_one_bad_tang_server_fails_all_and_every_failure_is_named(web: Web) -> None:
    web.pages["/adv/abc"] = says(ADVERTISED)
    web.pages["/adv/html"] = says(b"<html>")
    good, missing, wrong = ({"url": web.url, "thumbprint": name} for name in ("abc", "none", "html"))
    done = await asked(good, missing, wrong)
    assert (done.exit_code, done.output) == (-1, '{"tang_server_response":null}')
    assert "404" in done.error
    assert "no advertisement" in done.error


# --- boot artifacts ---------------------------------------------------------------------------------------------------


class Breaking:
    """A file of which the first answer breaks off in the middle."""

    def __init__(self, body: bytes, *, tag: str = '"v1"') -> None:
        self.body, self.tag, self.answers = body, tag, 0

    def __call__(self, request: BaseHTTPRequestHandler) -> None:
        self.answers += 1
        start = 0
        asked_for = request.headers.get("Range", "")
        if asked_for and request.headers.get("If-Range") == self.tag:
            start = int(asked_for.removeprefix("bytes=").removesuffix("-"))
        request.send_response(206 if start else 200)
        request.send_header("ETag", self.tag)
        request.send_header("Content-Length", str(len(self.body) - start))
        request.end_headers()
        half = self.body[start : start + len(self.body) // 2] if self.answers == 1 else self.body[start:]
        request.wfile.write(half)
        request.wfile.flush()
        request.close_connection = True


@pytest.fixture
def pauseless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two tries of a download lies a minute; not here."""
    from firstlight.host.actions import boot_artifacts, downloading

    async def at_once(*words: Any, **options: Any) -> int:
        return await downloading.download(*words, **options, pause=0.01)

    monkeypatch.setattr(boot_artifacts, "download", at_once)


async def downloaded(web: Web, host: Path, **changes: str) -> Done:
    request = {
        "kernel_url": f"{web.url}/kernel",
        "initrd_url": f"{web.url}/initrd?token=s3cret",
        "rootfs_url": f"{web.url}/rootfs?arch=x86_64",
        "host_fs_mount_dir": str(host),
    }
    return await ACTIONS["download-boot-artifacts"].run((text({**request, **changes}),), a_site())


@pytest.mark.anyio
@pytest.mark.usefixtures("pauseless")
async def test_artifacts_are_resumed_and_put_in_place(web: Web, tmp_path: Path) -> None:
    kernel, initrd = bytes(range(256)) * 4000, b"initrd" * 1000
    page = web.pages["/kernel"] = Breaking(kernel)
    web.pages["/initrd?token=s3cret"] = says(initrd)
    done = await downloaded(web, tmp_path)
    assert done.exit_code == 0, done.error
    assert (tmp_path / "boot/discovery/vmlinuz").read_bytes() == kernel
    assert (tmp_path / "boot/discovery/initrd").read_bytes() == initrd
    entry = (tmp_path / "boot/loader/entries/00-assisted-discovery.conf").read_text()
    assert "version 999\n" in entry
    assert f"'coreos.live.rootfs_url={web.url}/rootfs?arch=x86_64'" in entry
    assert page.answers == 2
    assert [headers.get("range") for path, headers in web.seen if path == "/kernel"][1] is not None
    assert not list((tmp_path / "tmp").rglob("*.part"))
    again = await downloaded(web, tmp_path)
    assert "already" in again.output
    assert len(web.seen) == 3


@pytest.mark.anyio
@pytest.mark.usefixtures("pauseless")
async def test_a_file_that_changed_is_fetched_anew(web: Web, tmp_path: Path) -> None:
    """The second half of another file must not be joined to the first half of this one."""
    page = Breaking(b"old" * 50_000)

    def changing(request: BaseHTTPRequestHandler) -> None:
        page(request)
        page.body, page.tag = b"new" * 40_000, '"v2"'

    web.pages["/kernel"] = changing
    web.pages["/initrd?token=s3cret"] = says(b"i")
    assert (await downloaded(web, tmp_path)).exit_code == 0
    assert (tmp_path / "boot/discovery/vmlinuz").read_bytes() == b"new" * 40_000


@pytest.mark.anyio
@pytest.mark.usefixtures("pauseless")
async def test_nothing_is_left_of_a_failed_download(web: Web, tmp_path: Path) -> None:
    web.pages["/kernel"] = says(b"k")
    done = await downloaded(web, tmp_path)
    assert done.exit_code == -1
    assert "404" in done.error
    assert "5 times" in done.error
    assert "s3cret" not in done.error
    assert not (tmp_path / "boot/loader/entries/00-assisted-discovery.conf").exists()
    assert not (tmp_path / "tmp/firstlight-boot").exists()


@pytest.mark.anyio
async def test_urls_that_would_break_the_entry_are_refused(web: Web, tmp_path: Path) -> None:
    done = await downloaded(web, tmp_path, rootfs_url="http://x/' init=/bin/sh")
    assert done.exit_code == -1
    assert web.seen == []
