"""Keys and half a release lie in these folders: they go, whoever was killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from firstlight.server.release.work_folders import sweep, work_folder

pytestmark = pytest.mark.anyio
KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from firstlight.server.release.work_folders import work_folder

async def work():
    async with work_folder(Path(sys.argv[1]), prefix="work-") as folder:
        (folder / "key").write_text("private")
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(work())
"""


async def test_a_folder_is_private_and_goes_with_the_block(tmp_path: Path) -> None:
    async with work_folder(tmp_path / "new", prefix="work-") as folder:
        (folder / "key").write_text("private")
        assert folder.stat().st_mode & 0o077 == 0
    assert list((tmp_path / "new").iterdir()) == []


async def test_what_a_killed_process_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    assert (left / "key").exists()
    (tmp_path / "other").mkdir()
    async with work_folder(tmp_path, prefix="work-") as mine:
        sweep(tmp_path, prefix="work-")
        assert {path.name for path in tmp_path.iterdir()} == {mine.name, "other"}


async def test_there_may_be_nothing_to_sweep(tmp_path: Path) -> None:
    sweep(tmp_path / "absent", prefix="work-")


async def test_a_renamed_folder_stays(tmp_path: Path) -> None:
    async with work_folder(tmp_path, prefix="work-") as folder:
        folder.rename(tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
