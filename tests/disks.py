"""Disks that are full or cannot be written, without a disk of one's own."""

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MIB = 1024 * 1024


def may_mount() -> bool:
    return os.geteuid() == 0


@contextmanager
def tiny_disk(folder: Path, *, size: int = MIB) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A disk of this size and a way to make it big; without the right to mount, a limit on file sizes instead."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if may_mount() and subprocess.run(mount, check=False, capture_output=True).returncode == 0:
        try:
            yield folder, lambda: subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True) and None
        finally:
            subprocess.run(["umount", str(folder)], check=True)
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield folder, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing under the folder can be written; root, whom modes do not stop, gets a mount that does."""
    before = folder.stat().st_mode
    bind = [["mount", "--bind", str(folder), str(folder)], ["mount", "-o", "remount,bind,ro", str(folder)]]
    mounted = may_mount() and all(
        subprocess.run(step, check=False, capture_output=True).returncode == 0 for step in bind
    )
    if not mounted:
        for path in (folder, *folder.rglob("*")):
            if path.is_dir():
                path.chmod(0o500)
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)
        else:
            for path in (folder, *folder.rglob("*")):
                if path.is_dir():
                    path.chmod(before)
