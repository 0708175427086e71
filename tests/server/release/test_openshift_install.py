"""Running an installer: its own directory, its own environment, and an end that nobody has to wait for."""

import asyncio
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from firstlight.core.errors import Invalid, Unavailable
from firstlight.server.ports.installer import InstallerOrder, ManifestFile
from firstlight.server.release import openshift_install, programs
from firstlight.server.release.installers import InstallerSettings, ReleaseInstallers, installer_name

pytestmark = pytest.mark.anyio
ORDER = InstallerOrder(
    release_image="registry.example/ocp/release:4.19.0",
    version="4.19.0",
    architecture="x86_64",
    install_config="{}",
    pull_secret='{"auths": {"r.example": {"auth": "c2VjcmV0OnNlY3JldA=="}}}',
    bootstrap_address="192.0.2.10",
)


def installers(folder: Path, script: str, *, niceness: int = 10) -> ReleaseInstallers:
    """With a program that is a shell script: what is tested is how it is run."""
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return ReleaseInstallers(InstallerSettings(folder=folder / "installers", program=program, niceness=niceness))


@pytest.mark.parametrize("anyio_backend", [("asyncio", {"use_uvloop": fast}) for fast in (False, True)])
async def test_manifests_go_in_and_out_and_keys_do_not_stay(anyio_backend: object, tmp_path: Path) -> None:
    """On either loop: the service runs on the fast one, which knows fewer ways to start a program."""
    script = (
        "cd $4; mkdir -p manifests openshift; case $2 in"
        " manifests) cp install-config.yaml manifests/a.yaml; echo old >openshift/b.yaml;;"
        " *) cat manifests/* >bootstrap.ign; rmdir openshift;; esac"
    )
    async with installers(tmp_path, script).run(ORDER) as run:
        made = await run.manifests()
        assert [(one.folder, one.name, one.content) for one in made] == [
            ("manifests", "a.yaml", b"{}"),
            ("openshift", "b.yaml", b"old\n"),
        ]
        new = [ManifestFile(folder="manifests", name="c.yaml", content=b"new")]
        assert await run.configs(new, wanted=("bootstrap.ign",)) == {"bootstrap.ign": b"new"}
        (work,) = (tmp_path / "installers" / "work").iterdir()
        assert work.stat().st_mode & 0o077 == 0
    assert not list((tmp_path / "installers" / "work").iterdir())


async def test_the_installer_sees_nothing_of_our_own_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRSTLIGHT_DATABASE_URL", "postgresql://user:password@db/x")
    async with installers(tmp_path, "mkdir -p $4/manifests; env >$4/manifests/env").run(ORDER) as run:
        (seen,) = await run.manifests()
    names = {line.partition(b"=")[0] for line in seen.content.splitlines()}
    assert names - {b"PWD", b"SHLVL", b"_", b"OLDPWD"} == {
        b"PATH",
        b"HOME",
        b"TMPDIR",
        b"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE",
        b"OPENSHIFT_INSTALL_INVOKER",
        b"OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP",
    }


async def test_a_failure_is_told_in_its_own_words_without_the_pull_secret(tmp_path: Path) -> None:
    script = f"echo level=info msg=noise; echo 'level=error msg=bad secret {ORDER.pull_secret}' >&2; exit 3"
    async with installers(tmp_path, script).run(ORDER) as run:
        with pytest.raises(Invalid) as failure:
            await run.manifests()
    text = str(failure.value)
    assert "create manifests ended with 3: level=error msg=bad secret …" in text
    assert "noise" not in text
    assert "c2VjcmV0OnNlY3JldA" not in text


async def test_what_the_installer_quotes_is_not_shown_either(tmp_path: Path) -> None:
    """It quotes a value it refuses, and its log quotes the sentence once more."""
    refused = json.dumps(f"pullSecret: Invalid value: {json.dumps(ORDER.pull_secret)}")
    proxy = "proxy.httpProxy: Invalid value: http://user:pa55word@proxy.example:3128"
    script = f"cat <<'END'\nlevel=error msg={refused}\nlevel=error msg={proxy}\nEND\nexit 1"
    async with installers(tmp_path, script).run(ORDER) as run:
        with pytest.raises(Invalid) as failure:
            await run.manifests()
    text = str(failure.value)
    assert "c2VjcmV0OnNlY3JldA" not in text
    assert "pa55word" not in text
    assert "http://…@proxy.example:3128" in text


@pytest.mark.parametrize(("password", "hidden"), [("s3same", True), ("abc", True), ("in", False), ("", False)])
async def test_passwords_in_the_install_config_are_not_shown(tmp_path: Path, password: str, hidden: bool) -> None:
    config = {"platform": {"vsphere": {"vcenters": [{"server": "v.example", "password": password}]}}}
    order = replace(ORDER, install_config=json.dumps(config))
    async with installers(tmp_path, f"echo 'level=error msg=invalid: {password}!'; exit 1").run(order) as run:
        with pytest.raises(Invalid) as failure:
            await run.manifests()
    assert str(failure.value).endswith("msg=invalid: …!" if hidden else f"msg=invalid: {password}!")


async def test_missing_files_are_named(tmp_path: Path) -> None:
    async with installers(tmp_path, "true").run(ORDER) as run:
        with pytest.raises(Invalid, match=r"did not write master\.ign"):
            await run.configs((), wanted=("master.ign",))


async def test_an_installer_that_hangs_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openshift_install, "TIME_LIMIT", 0.5)
    async with installers(tmp_path, f"sleep 600 & echo $! >{tmp_path}/child; wait").run(ORDER) as run:
        with pytest.raises(Unavailable, match="did not end within"):
            await run.manifests()
    require_gone(tmp_path / "child")


async def test_whoever_gives_up_leaves_no_program_behind(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! >{tmp_path}/child.new; mv {tmp_path}/child.new {tmp_path}/child; wait"
    found = installers(tmp_path, script)

    async def one() -> None:
        async with found.run(ORDER) as run:
            await run.manifests()

    task = asyncio.create_task(one())
    async with asyncio.timeout(60):
        while not (tmp_path / "child").exists():
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    require_gone(tmp_path / "child")
    assert not list((tmp_path / "installers" / "work").iterdir())


def require_gone(child: Path) -> None:
    """Nobody may have waited for it yet: it has lost its parent."""
    status = Path(f"/proc/{child.read_text().strip()}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


async def test_a_program_for_another_processor_is_told(tmp_path: Path) -> None:
    found = installers(tmp_path, "true")
    (tmp_path / "program").write_bytes(b"\x7fELF" + bytes(60))
    async with found.run(ORDER) as run:
        with pytest.raises(Invalid, match="not made for this machine's processor"):
            await run.manifests()


async def test_only_so_many_run_at_once(tmp_path: Path) -> None:
    """Each run leaves a mark while it runs and writes down how many marks it saw."""
    marks, seen = tmp_path / "marks", tmp_path / "seen"
    marks.mkdir()
    script = f"touch {marks}/$$; ls {marks} | wc -l >>{seen}; sleep 0.2; rm {marks}/$$"
    found = installers(tmp_path, script)

    async def one() -> None:
        async with found.run(ORDER) as run:
            await run.manifests()

    await asyncio.gather(*(one() for _ in range(6)))
    counts = [int(line) for line in seen.read_text().split()]
    assert len(counts) == 6
    assert max(counts) <= 2


@pytest.mark.parametrize(("before", "after"), [(1_000, 1_000), (2**40, 512 * 2**20), (-1, 512 * 2**20)])
def test_a_lower_bound_is_not_raised(before: int, after: int) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        try:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (before, before))
            programs.limit(process.pid, niceness=10)
            assert resource.prlimit(process.pid, resource.RLIMIT_FSIZE) == (after, after)
        finally:
            process.kill()


@pytest.mark.parametrize("niceness", [10, 19])
async def test_it_runs_politely(tmp_path: Path, niceness: int) -> None:
    script = "mkdir -p $4/manifests; sleep 0.2; { nice; ulimit -c; } >$4/manifests/limits"
    async with installers(tmp_path, script, niceness=niceness).run(ORDER) as run:
        (limits,) = await run.manifests()
    nice, core = limits.content.split()
    assert (int(nice), core) == (max(niceness, os.nice(0)), b"0")


def test_every_thread_steps_back_also_those_that_were_there_before() -> None:
    """A program in Go has started several by the time anybody can reach it."""
    script = (
        "import threading, sys; threading.Thread(target=sys.stdin.read).start(); print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        programs.limit(process.pid, niceness=12)
        threads = [int(entry.name) for entry in Path(f"/proc/{process.pid}/task").iterdir()]
        assert len(threads) == 2
        assert {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads} == {max(12, os.nice(0))}
        process.kill()


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("4.15.42", "openshift-baremetal-install"),
        ("4.16.0-rc.1", "openshift-install"),
        ("4.16.0", "openshift-install"),
        ("4.19.3-multi", "openshift-install"),
    ],
)
def test_older_releases_have_an_installer_of_their_own_for_bare_metal(version: str, name: str) -> None:
    assert installer_name(version) == name
    assert installer_name(version, fips=True) == "openshift-baremetal-install"
