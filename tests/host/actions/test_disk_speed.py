"""Measuring a disk destroys its beginning, so refusing is as much tested as measuring."""

import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.actions import disk_contents
from firstlight.host.actions.action import Done
from firstlight.host.actions.disk_contents import told_by
from firstlight.host.actions.disk_speed import seconds_of
from firstlight.host.actions.fio_command import fio_command, slow_sync_ms
from firstlight.host.actions.registry import ACTIONS
from firstlight.host.collect.lab import Lab, LabDisk
from firstlight.host.programs import Outcome
from tests.agent_sites import Script, Scripted, a_site, text


def fio_report(nanoseconds: int) -> bytes:
    jobs = [{"jobname": "x", "sync": {"lat_ns": {"percentile": {"50.000000": 1, "99.000000": nanoseconds}}}}]
    return b"fio: a warning\n" + msgspec.json.encode({"fio version": "fio-3.33", "jobs": jobs})


def fio(*values: int | None) -> Script:
    """One answer per job; None is a failed one."""
    answers = iter(values)

    def run(_: tuple[str, ...]) -> Outcome:
        value = next(answers)
        if value is None:
            return Outcome(exit_code=1, errors=b"no space")
        return Outcome(exit_code=0, output=fio_report(value))

    return run


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with the disk sda; its node is a plain file, so `stat` is told that such files are block devices."""
    for folder in ("dev/disk/by-id", "sys/block/sda/holders", "sys/block/loop0/holders", "proc/1"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "dev/sda").write_bytes(bytes(4096))
    (tmp_path / "dev/loop0").touch()
    (tmp_path / "dev/disk/by-id/wwn-0x5:6").symlink_to("../../sda")
    (tmp_path / "sys/block/sda/dev").write_text("8:0\n")
    (tmp_path / "proc/1/mountinfo").write_text("1 0 253:0 / / rw - ext4 /dev/dm-0 rw\n")
    monkeypatch.setattr(disk_contents.stat, "S_ISBLK", stat.S_ISREG)
    return tmp_path


async def measured(host: Path, programs: Scripted, *more: str, path: str = "/dev/sda", **keys: Any) -> Done:
    site: dict[str, Any] = {"lab": keys.pop("lab", None)}
    request = text({"path": path, **keys})
    return await ACTIONS["installation-disk-speed-check"].run((request, *more), a_site(host, programs=programs, **site))


def output(done: Done) -> Any:
    return msgspec.json.decode(done.output)


@pytest.mark.anyio
async def test_the_worse_of_two_jobs_counts(host: Path) -> None:
    programs = Scripted(fio(4_900_000, 7_999_999))
    done = await measured(host, programs, "480.00", "more")
    assert output(done) == {"io_sync_duration": 7, "path": "/dev/sda"}
    assert len(programs.commands) == 2
    assert "--filename=/dev/sda" in programs.commands[0]


@pytest.mark.anyio
async def test_a_link_is_followed_once_and_the_reply_names_what_was_asked(host: Path) -> None:
    programs = Scripted(fio(1_000_000, 1_000_000))
    done = await measured(host, programs, path="/dev/disk/by-id/wwn-0x5:6")
    assert output(done)["path"] == "/dev/disk/by-id/wwn-0x5:6"
    assert "--filename=/dev/sda" in programs.commands[0]


@pytest.mark.anyio
async def test_one_failing_job_is_tolerated_two_are_not(host: Path) -> None:
    assert output(await measured(host, Scripted(fio(None, 3_000_000))))["io_sync_duration"] == 3
    done = await measured(host, Scripted(fio(None, None)))
    assert done.exit_code == 1
    assert "no space" in done.error
    assert output(done) == {"path": "/dev/sda"}


@pytest.mark.anyio
async def test_a_disk_too_slow_to_measure_is_the_code_of_timeout(host: Path) -> None:
    done = await measured(host, Scripted(lambda _: Outcome(exit_code=124, errors=b"late")))
    assert (done.exit_code, output(done)) == (124, {"path": "/dev/sda"})


@pytest.mark.anyio
@pytest.mark.parametrize(
    "path", ["/dev/sdz", "/etc/passwd", "/dev/../etc/passwd", "sda", "", "/dev/loop0", "/dev/sda\0x", "/dev/disk"]
)
async def test_what_is_no_disk_is_not_written_to(host: Path, path: str) -> None:
    programs = Scripted()
    done = await measured(host, programs, path=path)
    assert done.exit_code == -1
    assert done.error
    assert programs.commands == []


@pytest.mark.anyio
async def test_a_disk_in_use_is_never_written_to(host: Path) -> None:
    """Not even the installation disk: the running system may stand on it."""
    part = host / "sys/block/sda/sda1"
    part.mkdir()
    (part / "partition").write_text("1\n")
    (part / "dev").write_text("8:1\n")
    with (host / "proc/1/mountinfo").open("a") as table:
        table.write("2 1 8:1 / /data rw - xfs /dev/sda1 rw\n")
    programs = Scripted()
    done = await measured(host, programs)
    assert done.exit_code == -1
    assert "sda1 is mounted at /data" in done.error
    assert programs.commands == []


@pytest.mark.anyio
async def test_a_disk_whose_users_are_unknown_is_not_written_to(host: Path) -> None:
    (host / "proc/1/mountinfo").unlink()
    programs = Scripted()
    assert "mount table" in (await measured(host, programs)).error
    assert programs.commands == []


@pytest.mark.anyio
@pytest.mark.parametrize(("chosen", "runs"), [(True, 2), (None, 2), (False, 0)])
async def test_data_is_overwritten_only_on_the_installation_disk(host: Path, chosen: bool | None, runs: int) -> None:
    (host / "dev/sda").write_bytes(bytes(512) + b"EFI PART" + bytes(4000))
    programs = Scripted(fio(1, 1))
    keys = {} if chosen is None else {"installation_disk": chosen}
    done = await measured(host, programs, **keys)
    assert len(programs.commands) == runs
    if not runs:
        assert "carries a GPT partition table and was not written to" in done.error


@pytest.mark.anyio
async def test_an_empty_disk_may_be_measured_whoever_it_is_for(host: Path) -> None:
    programs = Scripted(fio(1, 1))
    assert (await measured(host, programs, installation_disk=False)).exit_code == 0


@pytest.mark.anyio
async def test_a_laboratory_admits_its_own_loop_devices(host: Path) -> None:
    lab = Lab(disks=(LabDisk(device="/dev/loop0"),))
    programs = Scripted(fio(2_000_000, 2_000_000))
    assert (await measured(host, programs, path="/dev/loop0", lab=lab)).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [((), 480.0), (("480.00",), 480.0), (("nonsense",), 480.0), (("-5",), 1.0), (("1e9",), 3600.0)],
)
def test_the_time_limit(arguments: tuple[str, ...], seconds: float) -> None:
    assert seconds_of(arguments) == seconds


@given(st.binary(max_size=300))
def test_any_output_of_fio_is_a_number_or_nothing(data: bytes) -> None:
    slow_sync_ms(data)


@given(st.binary(max_size=2000))
def test_any_beginning_says_something_unless_it_is_empty(data: bytes) -> None:
    assert bool(told_by(data)) == any(data)


def test_the_command_is_an_argument_list() -> None:
    command = fio_command("/dev/x:y; rm -rf $HOME", name="job0")
    assert command[0] == "fio"
    assert "--filename=/dev/x\\:y; rm -rf $HOME" in command
    assert {"--rw=write", "--ioengine=sync", "--size=22m", "--bs=2300", "--fdatasync=1"} <= set(command)
