"""Logs: what is gathered, that no secret is in it, and that it arrives even if the service stumbles."""

import asyncio
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_multipart.multipart import parse_form

from firstlight.host.actions.action import LogsRequest
from firstlight.host.agent.logs.gathering import Gatherer, Gathering, coredumps_in
from firstlight.host.agent.logs.live import send_log
from firstlight.host.agent.logs.saving import CUT, save_output
from firstlight.host.agent.logs.writing import Tail, journal_record
from firstlight.host.agent.session import ServiceSession
from firstlight.host.root import Root
from tests.host.agent.scripted import Asked, Said, Scripted, document, scripted
from tests.host.agent.setting import HOST_ID, INFRA_ENV_ID, a_log, settings_for

CLUSTER_ID = UUID("abababab-1111-4222-8333-444444444444")
REQUEST = LogsRequest(cluster_id=CLUSTER_ID, host_id=HOST_ID, infra_env_id=INFRA_ENV_ID, installer_gather=True)

COREDUMPS = "Mon 2026-01-05 10:00:00 UTC 4711 0 0 SIGSEGV present /usr/bin/podman 1M\nodd\n"
TOOLS = {
    "journalctl": 'echo "journal $* token=SECRET1"; echo "and SECRET2"',
    "dmesg": 'echo "dmesg $*"',
    "lsblk": "echo disks",
    "findmnt": "echo mounts",
    "coredumpctl": 'if [ "$1" = list ]; then cat "$(dirname "$0")/coredumps"; else echo "core of $2"; fi',
    "systemctl": '[ "$2" = ironic-agent.service ]',
}


def tools_in(folder: Path) -> tuple[str, ...]:
    """Programs of a made-up host, and how to run them."""
    place = folder / "bin"
    place.mkdir()
    (place / "coredumps").write_text(COREDUMPS)
    for name, script in TOOLS.items():
        (place / name).write_text(f"#!/bin/sh\n{script}\n")
        (place / name).chmod(0o755)
    return ("env", f"PATH={place}:/usr/bin:/bin")


def states(server: Scripted) -> list[str]:
    return [asked.json()["logs_state"] for asked in server.asked if asked.method == "PUT"]


def archive_of(asked: Asked) -> dict[str, str]:
    """The files of an uploaded archive."""
    files: dict[bytes, bytes] = {}
    headers = {"Content-Type": asked.headers["content-type"].encode()}

    def on_file(file: object) -> None:
        body = file.file_object  # type: ignore[attr-defined]
        body.seek(0)
        files[file.field_name] = body.read()  # type: ignore[attr-defined]

    parse_form(headers, io.BytesIO(asked.body), lambda field: None, on_file)
    with tarfile.open(fileobj=io.BytesIO(files[b"upfile"])) as tar:
        return {
            Path(member.name).name: tar.extractfile(member).read().decode()  # type: ignore[union-attr]
            for member in tar.getmembers()
            if member.isfile()
        }


async def gathered(folder: Path, script: Callable[[Asked], Said], **parts: object) -> tuple[int, Scripted]:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    how = Gathering(folder=folder / "log", enter=tools_in(folder), secrets=("SECRET2",), sleep=sleep, **parts)  # type: ignore[arg-type]
    async with scripted(script) as server:
        settings = settings_for(server.url, folder)
        async with ServiceSession(settings, root=Root(folder)) as session:
            done = await Gatherer(session, REQUEST, how=how, log=a_log()).run()
    return done.exit_code, server


@pytest.mark.anyio
async def test_an_archive_with_everything_and_no_secret(tmp_path: Path) -> None:
    code, server = await gathered(tmp_path, lambda asked: Said(204, b""))
    assert code == 0
    assert states(server) == ["requested", "collecting", "completed"]
    upload = next(asked for asked in server.asked if asked.method == "POST")
    assert upload.path == f"/api/assisted-install/v2/clusters/{CLUSTER_ID}/logs"
    assert upload.query == f"logs_type=host&infra_env_id={INFRA_ENV_ID}&host_id={HOST_ID}"
    files = archive_of(upload)
    names = {"mount.logs", "agent.logs", "installer.logs", "ironic-agent.logs", "dmesg.logs", "journal.logs"}
    assert names | {"coredump_exe_podman_pid_4711"} == set(files)
    assert "TAG=agent" in files["agent.logs"]
    assert "## findmnt --df\nmounts\n" in files["mount.logs"]
    assert not any("SECRET" in text for text in files.values())
    assert list((tmp_path / "log").iterdir()) == [], "nothing stays on the machine"


@pytest.mark.anyio
async def test_an_upload_that_fails_is_tried_again(tmp_path: Path) -> None:
    tries = 0

    def script(asked: Asked) -> Said:
        nonlocal tries
        tries += asked.method == "POST"
        return Said(503, b"{}") if asked.method == "POST" and tries < 4 else Said(204, b"")

    code, server = await gathered(tmp_path, script, clean=False)
    assert (code, tries) == (0, 4)
    assert (tmp_path / "log" / "logs.tar.gz").exists()
    assert archive_of(server.asked[-2])


@pytest.mark.anyio
@pytest.mark.parametrize(("status", "tries"), [(404, 1), (500, 6)])
async def test_an_upload_that_nobody_takes_is_a_failure(tmp_path: Path, status: int, tries: int) -> None:
    code, server = await gathered(tmp_path, lambda asked: Said(status, b"{}"))
    assert code == 255
    assert [asked.method for asked in server.asked].count("POST") == tries
    assert "completed" not in states(server)


# --- parts


@pytest.mark.anyio
async def test_output_is_cut_masked_and_bounded_in_time(tmp_path: Path) -> None:
    path = tmp_path / "out"
    assert await save_output(("sh", "-c", "yes password=abc | head -1000"), path, seconds=20, most=500) == ""
    text = path.read_bytes()
    assert text.endswith(CUT)
    assert len(text) == 500 + len(CUT)
    assert b"abc" not in text
    assert "within" in await save_output(("sh", "-c", "echo a; sleep 60"), path, seconds=0.5, most=500)
    assert path.read_text() == "a\n"
    assert "code 3" in await save_output(("sh", "-c", "exit 3"), path, seconds=20, most=500)
    assert "could not start" in await save_output(("/nowhere/tool",), path, seconds=20, most=500)
    line = ("sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x")
    assert await save_output(line, path, seconds=20, most=10**6) == ""
    assert path.stat().st_size == 300_000


@given(st.text())
def test_any_list_of_coredumps_is_read(listing: str) -> None:
    assert all(pid.isdecimal() and program.startswith("/") for pid, program in coredumps_in(listing))


@given(st.lists(st.text(max_size=40), max_size=60), st.integers(1, 400))
def test_the_tail_knows_where_its_lines_are(lines: list[str], most: int) -> None:
    tail = Tail(most=most)
    whole = b""
    for line in lines:
        tail.add(line)
        whole += line.encode("utf-8", "replace") + b"\n"
    assert tail.end == len(whole)
    begin, data = tail.since(0, most=10**6)
    assert whole[begin : begin + len(data)] == data
    assert begin + len(data) == tail.end
    assert tail.end - tail.start <= most
    place = tail.start
    pieces = b""
    while place < tail.end:
        begin, data = tail.since(place, most=64)
        assert begin == place
        assert data
        pieces += data
        place += len(data)
    assert pieces == whole[tail.start :]


def test_records_of_the_journal() -> None:
    assert journal_record({"MESSAGE": "one", "TAG": "agent"}) == b"MESSAGE=one\nTAG=agent\n"
    assert journal_record({"MESSAGE": "a\nb"}) == b"MESSAGE\n\x03\0\0\0\0\0\0\0a\nb\n"


@pytest.mark.anyio
async def test_the_live_log_goes_on_after_a_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GATHER_SECONDS", "AWAY_SECONDS"):
        monkeypatch.setattr(f"firstlight.host.agent.logs.live.{name}", 0.01)
    stored = bytearray(b"earlier life\n")
    fail = False

    def script(asked: Asked) -> Said:
        if fail:
            return Said(raw=b"")
        offset = int(asked.query.removeprefix("offset=") or len(stored))
        stored[offset:] = asked.body
        return document({"next": len(stored)})

    tail = Tail()
    tail.add("one")
    async with scripted(script) as server:
        settings = settings_for(server.url, tmp_path)
        async with ServiceSession(settings, root=Root(tmp_path)) as session:
            sending = asyncio.create_task(send_log(session, tail, host_id=HOST_ID))
            await server.until(lambda asked: len(asked) == 1)
            fail = True
            tail.add("two")
            await server.until(lambda asked: len(asked) >= 3)
            fail = False
            tail.add("three")
            async with asyncio.timeout(10):
                while not stored.endswith(b"three\n"):
                    await asyncio.sleep(0.01)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
    assert bytes(stored) == b"earlier life\none\ntwo\nthree\n"
    assert server.asked[0].query == ""
