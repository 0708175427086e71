"""`firstlight images list` and `fetch`: base images looked after without a running service."""

import hashlib
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.builders.live_isos import a_live_iso
from tests.cli.running import run_cli

ISO = a_live_iso()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[str]:
    """A real web server with one good image and one that is none."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "live.iso").write_bytes(ISO)
    (folder / "page.iso").write_bytes(b"<html>")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def surroundings(tmp_path: Path, *images: dict[str, str], **more: str) -> dict[str, str]:
    usual = {"openshift_version": "4.18", "cpu_architecture": "x86_64", "version": "418.1"}
    return {
        "FIRSTLIGHT_DATA_DIR": str(tmp_path / "data"),
        "OS_IMAGES": json.dumps([usual | one for one in images]),
        "NO_PROXY": "127.0.0.1",
        **more,
    }


def listed(environment: dict[str, str], *flags: str) -> dict[str, Any]:
    return json.loads(run_cli("images", "list", "-o", "json", *flags, env=environment).stdout)


def test_from_nothing_to_ready(tmp_path: Path, mirror: str) -> None:
    sha256 = hashlib.sha256(ISO).hexdigest()
    environment = surroundings(tmp_path, {"url": f"{mirror}/live.iso", "sha256": sha256})
    before = listed(environment)
    assert [one["state"] for one in before["images"]] == ["missing"]
    assert (before["total_bytes"], before["folder"]) == (0, str(tmp_path / "data/images"))
    assert not (tmp_path / "data").exists()
    fetched = run_cli("images", "fetch", "4.18", env=environment).stdout
    assert "4.18 x86_64: ready" in fetched
    after = listed(environment, "--verify")
    (image,) = after["images"]
    assert (image["state"], image["bytes_on_disk"]) == ("ready", len(ISO))
    assert Path(image["path"]).read_bytes() == ISO
    assert after["total_bytes"] == len(ISO)
    assert after["free_bytes"] > 0
    table = run_cli("images", "list", env=environment).stdout
    for word in ("418.1", "x86_64", "full-iso", "ready", "KiB", image["path"], "in all", "are free"):
        assert word in table


def test_one_bad_image_harms_no_other(tmp_path: Path, mirror: str) -> None:
    environment = surroundings(
        tmp_path,
        {"version": "bad", "url": f"{mirror}/page.iso"},
        {"version": "gone", "url": f"{mirror}/nothing.iso"},
        {"version": "good", "url": f"{mirror}/live.iso"},
        {"version": "other", "url": f"{mirror}/live.iso", "cpu_architecture": "arm64"},
    )
    ended = run_cli("images", "fetch", "4.18", env=environment, code=1)
    assert "2 of 3 base images could not be fetched" in ended.stderr
    assert "It is not an ISO 9660 image" in ended.stderr
    assert "answered 404" in ended.stderr
    assert "Traceback" not in ended.stderr
    states = {one["version"]: one["state"] for one in listed(environment)["images"]}
    assert states == {"bad": "missing", "gone": "missing", "good": "ready", "other": "missing"}
    done = json.loads(run_cli("images", "fetch", "4.18", "-a", "arm64", "-o", "json", env=environment).stdout)
    assert [(one["version"], one["state"]) for one in done] == [("other", "ready")]


def test_what_is_there_is_looked_at(tmp_path: Path) -> None:
    seed, images = tmp_path / "seed", tmp_path / "data/images"
    seed.mkdir()
    images.mkdir(parents=True)
    (seed / "live.iso").write_bytes(ISO)
    (tmp_path / "cut.iso").write_bytes(ISO[:-4_096])
    (images / ".rhcos-full-iso-begun-x86_64.iso.part").write_bytes(b"x" * 100)
    (images / ".rhcos-full-iso-begun-x86_64.iso.part.json").write_bytes(b"{}")
    (images / "nmstatectl-full-iso-old-x86_64.img").write_bytes(b"y" * 50)
    environment = surroundings(
        tmp_path,
        {"version": "brought", "url": "http://127.0.0.1:9/a/live.iso", "sha256": "0" * 64},
        {"version": "cut", "url": (tmp_path / "cut.iso").as_uri()},
        {"version": "begun", "url": "http://127.0.0.1:9/b.iso"},
        FIRSTLIGHT_IMAGES_SEED_DIR=str(seed),
    )
    stock = listed(environment)
    found = {one["version"]: (one["state"], one["bytes_on_disk"]) for one in stock["images"]}
    assert found == {
        "brought": ("ready", len(ISO)),
        "cut": ("failed", len(ISO) - 4_096),
        "begun": ("partial", 100),
    }
    assert [(Path(one["path"]).name, one["bytes"]) for one in stock["other_files"]] == [
        ("nmstatectl-full-iso-old-x86_64.img", 50)
    ]
    assert stock["total_bytes"] == 2 * len(ISO) - 4_096 + 150
    table = run_cli("images", "list", env=environment).stdout
    assert "It is cut off" in table
    assert "more are configured" not in table
    verified = listed(environment, "--verify")["images"][0]
    assert (verified["state"], "Its checksum is" in verified["reason"]) == ("failed", True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "name the versions to fetch"),
        (("4.99",), 3, "No base image of version 4.99 is configured. There are 4.18, 418.1."),
        (("4.18", "-a", "arm64"), 3, "No base image of architecture arm64 is configured. There are x86_64."),
        (("4.18", "-a", "sparc"), 1, "sparc"),
    ],
)
def test_what_cannot_be_fetched(tmp_path: Path, words: tuple[str, ...], code: int, said: str) -> None:
    environment = surroundings(tmp_path, {"url": "http://127.0.0.1:9/x.iso"})
    ended = run_cli("images", "fetch", *words, env=environment, code=code)
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_options_may_stand_before_the_word(tmp_path: Path) -> None:
    environment = surroundings(tmp_path, {"url": "http://127.0.0.1:9/x.iso"})
    ended = run_cli("images", "--data-dir", str(tmp_path / "other"), "list", "-o", "json", env=environment)
    assert json.loads(ended.stdout)["folder"] == str(tmp_path / "other/images")


def test_settings_that_cannot_be(tmp_path: Path) -> None:
    ended = run_cli("images", "list", env=surroundings(tmp_path) | {"OS_IMAGES": "{"}, code=1)
    assert "OS_IMAGES" in ended.stderr
    assert "Traceback" not in ended.stderr
