"""The lab's cache: what is in it is whole, is made once, and does not pile up. And the way out of a machine."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lab import building
from lab.building import BuildFailed, digest, kept, run
from lab.machines import FORWARDER, GATEWAY, Machine, network


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "firstlight" / "lab" / "thing"


def content(text: str) -> building.Make:
    return lambda work: (work / "file").write_text(text) and None


def test_it_is_made_once_per_key() -> None:
    assert (kept("thing", "a", content("first")) / "file").read_text() == "first"
    assert (kept("thing", "a", content("second")) / "file").read_text() == "first"
    assert (kept("thing", "b", content("second")) / "file").read_text() == "second"


def test_a_failure_leaves_nothing(cache: Path) -> None:
    def half(work: Path) -> None:
        (work / "file").write_text("half")
        run(["false"])

    with pytest.raises(BuildFailed, match="false ended with 1"):
        kept("thing", "a", half)
    assert list(cache.iterdir()) == []
    assert (kept("thing", "a", content("whole")) / "file").read_text() == "whole"


def test_the_latest_used_stay(cache: Path) -> None:
    for number in range(5):
        kept("thing", f"{number}", content("x"))
        os.utime(cache / f"{number}", (number, number))
    assert sorted(path.name for path in cache.iterdir()) == ["1", "2", "3", "4"]


def test_a_digest_sees_contents_names_and_permissions(tmp_path: Path) -> None:
    folder = tmp_path / "recipe"
    folder.mkdir()
    script = folder / "script"
    script.write_text("one")
    seen = [digest(folder)]
    script.write_text("two")
    seen.append(digest(folder))
    script.chmod(0o755)
    seen.append(digest(folder))
    script.rename(folder / "other")
    seen.append(digest(folder))
    assert len({*seen}) == 4
    assert digest(folder) == seen[-1]
    assert digest("ab", "c") != digest("a", "bc")


def test_a_machine_reaches_only_what_it_was_given() -> None:
    words = network(Machine(name="one", ports=[4711], mac="52:54:00:00:00:07"))
    assert words[1].startswith("user,id=n0,restrict=on,")
    assert f"guestfwd=tcp:{GATEWAY}:4711-cmd:" in words[1]
    assert words[1].endswith("127.0.0.1 4711")
    assert words[1].count("guestfwd") == 1
    assert "mac=52:54:00:00:00:07" in words[3]


def test_the_forwarder_carries_both_ways_and_ends_each() -> None:
    """The server answers only when its client has said everything, and more than fits into any buffer."""
    ours, theirs = socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as server, ours, theirs:

        def answer() -> None:
            connection = server.accept()[0]
            with connection, connection.makefile("rb") as said:
                connection.sendall(said.read()[::-1])

        thread = threading.Thread(target=answer)
        thread.start()
        command = [sys.executable, "-I", str(FORWARDER), "127.0.0.1", str(server.getsockname()[1])]
        with subprocess.Popen(command, stdin=theirs, stdout=theirs) as process:
            theirs.close()
            sent = os.urandom(3_000_000)
            sender = threading.Thread(target=lambda: (ours.sendall(sent), ours.shutdown(socket.SHUT_WR)))
            sender.start()
            with ours.makefile("rb") as answered:
                assert answered.read() == sent[::-1]
            sender.join()
            assert process.wait(60) == 0
        thread.join()
