"""Steps that use programs of the host: time, images, rebooting; and which of two programs is taken."""

import asyncio
import functools
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.actions import ntp
from firstlight.host.actions.chrony_output import is_server, sources, wanted_sources
from firstlight.host.actions.images import is_reference
from firstlight.host.actions.inventory import OwnOrHost
from firstlight.host.actions.reclaim import mainframe_parameters
from firstlight.host.actions.registry import ACTIONS
from firstlight.host.links.resolving import Resolver
from firstlight.host.programs import LocalPrograms, Outcome
from tests.agent_sites import Scripted, a_site, output_of, text

CHRONY = """\
MS Name/IP address         Stratum Poll Reach LastRx Last sample
===============================================================================
^* 192.0.2.1                     2   6   377    33   +163us[ +215us] +/-   21ms
^+ 192.0.2.2                     2   6   377    33   +163us[ +215us] +/-   21ms
^- fd00::3                       2   6   377    33   +163us[ +215us] +/-   21ms
^? nowhere.lab                   0   6     0     -     +0ns[   +0ns] +/-    0ns
^x 192.0.2.5                     2   6   377    33   +163us[ +215us] +/-   21ms
^~ 192.0.2.6                     2   6   377    33   +163us[ +215us] +/-   21ms
^! 192.0.2.7                     2   6   377    33   +163us[ +215us] +/-   21ms
=? 192.0.2.8                     2   6   377    33   +163us[ +215us] +/-   21ms
#* PHC0                          0   3   377    33   +163us[ +215us] +/-   21ms
"""


def test_what_chrony_prints() -> None:
    assert [(source.name, source.state) for source in sources(CHRONY)] == [
        ("192.0.2.1", "synced"),
        ("192.0.2.2", "combined"),
        ("fd00::3", "not_combined"),
        ("nowhere.lab", "unreachable"),
        ("192.0.2.5", "error"),
        ("192.0.2.6", "variable"),
        ("192.0.2.7", "error"),
    ]


@given(st.text())
def test_whatever_is_printed_is_read(text: str) -> None:
    sources(text)
    assert all(source for source in wanted_sources(text))


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("192.0.2.1", True),
        ("fd00::1", True),
        ("ntp.lab.example", True),
        ("0.rhel.pool.ntp.org.", True),
        ("-x", False),
        ("a b", False),
        ("a;b", False),
        ("", False),
        ("a..b", False),
        ("x" * 64, False),
    ],
)
def test_names_of_time_servers(name: str, is_one: bool) -> None:
    assert is_server(name) == is_one


@pytest.mark.anyio
async def test_only_new_time_servers_are_added(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    (tmp_path / "etc/hosts").write_text("192.0.2.2 known.lab\n192.0.2.99 new.lab\n")
    host = Scripted(lambda command: Outcome(exit_code=0, output=CHRONY.encode() if "sources" in command else b""))
    wanted = text({"ntp_source": "192.0.2.1,known.lab,new.lab,--reboot"})
    done = await ACTIONS["ntp-synchronizer"].run((wanted,), a_site(tmp_path, host=host))
    added = [command for command in host.commands if "add" in command]
    assert added == [("chronyc", "add", "server", "new.lab", "iburst")]
    assert output_of(done)["ntp_sources"][0] == {"source_name": "192.0.2.1", "source_state": "synced"}


@pytest.mark.anyio
async def test_name_servers_that_are_silent_do_not_keep_the_clock_from_telling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ntp, "_NAME_SECONDS", 0.1)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
    host = Scripted(lambda command: Outcome(exit_code=0, output=CHRONY.encode() if "sources" in command else b""))
    wanted = text({"ntp_source": ",".join(f"ntp-{number}.lab" for number in range(8))})
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        asked = functools.partial(Resolver, port=silent.getsockname()[1])
        monkeypatch.setattr(ntp, "Resolver", asked)
        async with asyncio.timeout(20):
            done = await ACTIONS["ntp-synchronizer"].run((wanted,), a_site(tmp_path, host=host))
    assert {"source_name": "192.0.2.1", "source_state": "synced"} in output_of(done)["ntp_sources"]
    assert len([command for command in host.commands if "add" in command]) == 8


@pytest.mark.anyio
async def test_a_clock_daemon_that_is_not_there(tmp_path: Path) -> None:
    host = Scripted(lambda _: Outcome(exit_code=1, errors=b"506 Cannot talk to daemon"))
    done = await ACTIONS["ntp-synchronizer"].run((text({"ntp_source": ""}),), a_site(tmp_path, host=host))
    assert done.exit_code == 1
    assert "506" in done.error


# --- images -----------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_images_that_are_there_that_come_and_that_do_not() -> None:
    def podman(command: tuple[str, ...]) -> Outcome:
        image = command[-1]
        if command[1:3] == ("image", "exists"):
            return Outcome(exit_code=0 if "old" in image else 1)
        if command[1] == "pull":
            return Outcome(exit_code=125 if "bad" in image else 0, errors=b"unauthorized")
        return Outcome(exit_code=0, output=b"333000000\n")

    host = Scripted(podman)
    images = ["quay.io/a/old:1", "quay.io/a/new:1", "quay.io/a/bad:1", "--privileged"]
    done = await ACTIONS["container-image-availability"].run(
        (text({"images": images, "timeout": 960}),), a_site(host=host)
    )
    assert done.exit_code == 2
    assert "quay.io/a/bad:1" in done.error
    assert "unauthorized" in done.error
    old, new, bad, none = msgspec.json.decode(done.output)["images"]
    assert old == {"name": "quay.io/a/old:1", "result": "success"}
    assert new["size_bytes"] == 333000000
    assert new["download_rate"] > 0
    assert (bad["result"], none["result"]) == ("failure", "failure")
    assert not [command for command in host.commands if "--privileged" in command]


@pytest.mark.anyio
@pytest.mark.parametrize(("granted", "used"), [(3600, 3600), (10**6, 6 * 3600)])
async def test_the_time_that_a_service_grants_for_images_is_theirs(granted: int, used: int) -> None:
    """The supervisor's own limit comes after it."""
    limits: list[float] = []

    class Patient(Scripted):
        async def run(self, *command: str, limit: float, **how: Any) -> Outcome:
            limits.append(limit)
            return Outcome(exit_code=1 if command[1:3] == ("image", "exists") else 0)

    check = ACTIONS["container-image-availability"]
    await check.run((text({"images": ["quay.io/a/b:1"], "timeout": granted}),), a_site(host=Patient()))
    assert used - 60 < limits[1] <= used
    assert check.limit_seconds > limits[1]


@pytest.mark.parametrize(
    ("image", "is_one"),
    [
        ("quay.io/example/agent:latest", True),
        ("registry.lab:5000/a/b/c@sha256:" + "a" * 64, True),
        ("quay.io/a/b:v1@sha256:" + "0" * 64, True),
        ("localhost/firstlight-agent:1", True),
        ("[fd00::1]:5000/a/b:1", True),
        ("busybox", True),
        ("", False),
        ("-v", False),
        ("quay.io/a b", False),
        ("quay.io/a@sha256:zz", False),
        ("quay.io/a\n", False),
    ],
)
def test_names_of_images(image: str, is_one: bool) -> None:
    assert is_reference(image) == is_one


# --- back to the pool -------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_machine_reboots_into_what_was_prepared(tmp_path: Path) -> None:
    request = text({"host_fs_mount_dir": str(tmp_path)})
    host = Scripted()
    nothing = await ACTIONS["reboot-for-reclaim"].run((request,), a_site(tmp_path, host=host))
    assert nothing.exit_code == -1
    assert host.commands == []
    entry = tmp_path / "boot/loader/entries/00-assisted-discovery.conf"
    entry.parent.mkdir(parents=True)
    entry.write_text("options a=b\n")
    assert (await ACTIONS["reboot-for-reclaim"].run((request,), a_site(tmp_path, host=host))).exit_code == 0
    assert host.commands[-1] == ("systemctl", "reboot")


def test_a_mainframe_keeps_its_network_and_disks() -> None:
    running = "root=/dev/x ip=10.0.0.1::10.0.0.2 rd.znet=qeth,0.0.bdf0 rd.dasd=0.0.3333 quiet nameserver=10.0.0.9 ip"
    assert mainframe_parameters("title x\noptions a=b c\n", command_line=running) == (
        "a=b c ip=10.0.0.1::10.0.0.2 rd.znet=qeth,0.0.bdf0 rd.dasd=0.0.3333 nameserver=10.0.0.9"
    )


# --- whose program ----------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_the_hosts_program_is_taken_where_ours_is_missing() -> None:
    host = Scripted(lambda _: Outcome(exit_code=0, output=b"host"))
    programs = OwnOrHost(LocalPrograms(), host)
    assert (await programs.run("no-such-program-here", limit=5)).text == "host"
    assert (await programs.run("sh", "-c", "exit 3", limit=5)).exit_code == 3
    assert host.commands == [("no-such-program-here",)]
