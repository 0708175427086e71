"""Commands that builders run, and a cache of what they made: complete or not there, never half."""

import fcntl
import hashlib
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
KEPT: Final = 3
"""So many of each kind, the latest used, stay when something new is made."""


Make = Callable[[Path], None]
"""Fills the folder it is given."""


class Missing(Exception):
    """Something a builder needs is not on this machine; the text says how to get it."""


class BuildFailed(Exception):
    """A command ended with an error; the text has its last lines."""


def run(
    command: Sequence[str | Path], *, where: Path | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """What the command printed. Blocks."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=where,
        env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
        raise BuildFailed(f"{' '.join(map(str, command))[:400]} ended with {done.returncode}:\n{last}")
    return done.stdout


def tool(name: str, *, package: str) -> str:
    """The path of a program; system administrators' folders are not on everybody's PATH."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        raise Missing(f"{name} is not installed: sudo apt-get install --no-install-recommends {package}")
    return found


def part(path: str, *, package: str) -> Path:
    """A file of a package that no program stands for."""
    if not Path(path).exists():
        raise Missing(f"{path} is not there: sudo apt-get install --no-install-recommends {package}")
    return Path(path)


def peer(name: str) -> Path:
    asked = subprocess.run([ROOT / "tools" / "peers", "path", name], check=False, capture_output=True, text=True)
    if asked.returncode:
        raise Missing(asked.stderr.strip())
    return Path(asked.stdout.strip())


def digest(*inputs: str | bytes | Path) -> str:
    """One name for many inputs; a path stands for its contents, a folder for all that is in it."""
    total = hashlib.sha256()
    for one in inputs:
        data = one if isinstance(one, bytes) else one.encode() if isinstance(one, str) else _contents(one)
        total.update(b"%d " % len(data) + data)
    return total.hexdigest()[:20]


def _contents(path: Path) -> bytes:
    if path.is_file():
        return path.read_bytes()
    files = sorted(one for one in path.rglob("*") if one.is_file())
    return b"".join(
        f"{one.relative_to(path)} {one.stat().st_mode & 0o111:o} ".encode() + one.read_bytes() for one in files
    )


def folder() -> Path:
    cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache_home) / "firstlight" / "lab"


def kept(stage: str, key: str, make: Make) -> Path:
    """The folder that `make` filled for this key: made now, or long ago. One builder at a time; the others wait."""
    place = folder() / stage / key
    place.parent.mkdir(parents=True, exist_ok=True)
    with (folder() / f".{stage}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            _make(stage, place, make)
    os.utime(place)
    return place


def _make(stage: str, place: Path, make: Make) -> None:
    for abandoned in place.parent.glob(".making-*"):
        shutil.rmtree(abandoned)
    finished = [one for one in place.parent.iterdir() if one.is_dir()]
    for old in sorted(finished, key=lambda one: one.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(old)
    print(f"lab: making the {stage}", flush=True)
    started, used = time.monotonic(), _child_seconds()
    work = Path(tempfile.mkdtemp(dir=place.parent, prefix=".making-"))
    try:
        make(work)
        work.chmod(0o755)
        work.rename(place)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    cpu, wall = _child_seconds() - used, time.monotonic() - started
    print(f"lab: {stage} made, {cpu:.0f} CPU seconds, {wall:.0f} seconds by the clock", flush=True)


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
