"""Programs of releases are made once, kept within a bound, and never taken away from whoever runs one."""

import asyncio
import os
from pathlib import Path

import pytest

from firstlight.core.errors import Invalid, Unavailable
from firstlight.server.release.tool_cache import UNFINISHED, Make, ToolCache

pytestmark = pytest.mark.anyio


class Maker:
    """Writes programs of a size, and counts."""

    def __init__(self, size: int = 100) -> None:
        self.size = size
        self.made = 0

    async def __call__(self, path: Path) -> None:
        self.made += 1
        await asyncio.sleep(0)
        path.write_bytes(b"x" * self.size)


async def use(cache: ToolCache, key: str, make: Make) -> Path:
    async with cache.using(key, "tool", make=make) as path:
        assert path.exists()
        return path


def keys(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def aged(folder: Path, *names: str) -> None:
    """As if used in this order, long ago."""
    for number, name in enumerate(names):
        os.utime(folder / name, (number, number))


async def test_a_tool_is_made_once_however_many_want_it_at_once(tmp_path: Path) -> None:
    cache, make = ToolCache(tmp_path, capacity=0), Maker()
    await asyncio.gather(*(use(cache, "a", make) for _ in range(20)))
    assert make.made == 1
    await use(ToolCache(tmp_path, capacity=0), "a", make)
    assert make.made == 1, "another process finds it too"


async def test_two_processes_may_make_the_same_tool(tmp_path: Path) -> None:
    first, second = ToolCache(tmp_path, capacity=0), ToolCache(tmp_path, capacity=0)
    await asyncio.gather(use(first, "a", Maker()), use(second, "a", Maker()))
    assert keys(tmp_path) == {"a"}


async def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache, make = ToolCache(tmp_path, capacity=250), Maker()
    for key in ("a", "b"):
        await use(cache, key, make)
    aged(tmp_path, "a", "b")
    await use(cache, "a", make)
    await use(cache, "c", make)
    assert keys(tmp_path) == {"a", "c"}


@pytest.mark.parametrize(("capacity", "left"), [(200, {"a", "b"}), (199, {"b"})])
async def test_the_bound_is_exact(tmp_path: Path, capacity: int, left: set[str]) -> None:
    cache, make = ToolCache(tmp_path, capacity=capacity), Maker()
    await use(cache, "a", make)
    aged(tmp_path, "a")
    await use(cache, "b", make)
    assert keys(tmp_path) == left


async def test_a_tool_in_use_stays(tmp_path: Path) -> None:
    cache, make = ToolCache(tmp_path, capacity=150), Maker()
    async with cache.using("a", "tool", make=make) as path:
        aged(tmp_path, "a")
        await use(ToolCache(tmp_path, capacity=150), "b", make)
        assert path.exists()
    aged(tmp_path, "a")
    await use(cache, "c", make)
    assert keys(tmp_path) == {"c"}


async def test_a_failure_leaves_nothing_and_the_next_one_tries_again(tmp_path: Path) -> None:
    cache = ToolCache(tmp_path, capacity=0)

    async def fails(path: Path) -> None:
        path.write_bytes(b"half")
        raise Invalid("The layer is broken.")

    with pytest.raises(Invalid, match="broken"):
        await use(cache, "a", fails)
    assert keys(tmp_path) == set()
    await use(cache, "a", Maker())


async def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    async def full(path: Path) -> None:
        with Path("/dev/full").open("wb", buffering=0) as file:
            file.write(b"x")

    with pytest.raises(Unavailable, match="tool cannot be kept .* No space left on device"):
        await use(ToolCache(tmp_path, capacity=0), "a", full)
    assert keys(tmp_path) == set()


async def test_what_a_killed_process_left_unfinished_is_not_taken_for_a_tool(tmp_path: Path) -> None:
    (tmp_path / f"{UNFINISHED}x").mkdir()
    (tmp_path / f"{UNFINISHED}x" / "tool").write_bytes(b"x" * 1000)
    make = Maker()
    await use(ToolCache(tmp_path, capacity=100), "a", make)
    assert make.made == 1
