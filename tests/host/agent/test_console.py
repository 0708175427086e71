"""The page: fits the smallest screen, shows nothing that could steer it, and is drawn only when it changed."""

import asyncio
import os
import pty
from ipaddress import ip_interface
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.wire.offers import Standing
from firstlight.host.agent.addresses import address_lines
from firstlight.host.agent.board import Board, Check, Picture
from firstlight.host.agent.console.page import HEIGHT, WIDTH, page_of
from firstlight.host.agent.console.screen import CLEAR, consoles_of, show, write
from firstlight.host.agent.logs.writing import Tail
from firstlight.host.collect.view import Network
from firstlight.host.links.rows import LOOPBACK, Address, Link
from firstlight.host.root import Root
from tests.host.agent.setting import HOST_ID, INFRA_ENV_ID

TEXTS = st.text(max_size=200)
PICTURES = st.builds(
    Picture,
    service_url=TEXTS,
    infra_env_id=st.just(INFRA_ENV_ID),
    host_id=st.just(HOST_ID),
    hostname=TEXTS,
    addresses=st.lists(TEXTS, max_size=9).map(tuple),
    state=st.sampled_from(["starting", "registering", "connected", "refused", "unreachable", "ending"]),
    trouble=TEXTS,
    checks=st.lists(
        st.builds(Check, name=TEXTS, passed=st.sampled_from([True, False, None]), sentence=TEXTS, fix=TEXTS), max_size=6
    ).map(tuple),
    short_code=st.text(max_size=6),
    standing=st.none()
    | st.builds(
        Standing,
        status=TEXTS,
        status_info=TEXTS,
        name=TEXTS,
        role=TEXTS,
        problems=st.lists(TEXTS, max_size=9).map(tuple),
    ),
    steps=st.lists(TEXTS, max_size=6).map(tuple),
)


@given(PICTURES, st.lists(TEXTS, max_size=30).map(tuple))
def test_every_page_fits_and_is_plain(picture: Picture, lines: tuple[str, ...]) -> None:
    page = page_of(picture, last_lines=lines)
    assert page.endswith("\n")
    shown = page.split("\n")[:-1]
    assert len(shown) < HEIGHT
    assert all(len(line) < WIDTH for line in shown)
    assert all(" " <= char <= "~" for line in shown for char in line)


def a_picture(**parts: object) -> Picture:
    return Picture(service_url="https://hub.example.com", infra_env_id=INFRA_ENV_ID, host_id=HOST_ID, **parts)  # type: ignore[arg-type]


def test_what_a_person_finds_on_it() -> None:
    page = page_of(
        a_picture(
            state="connected",
            short_code="7KX2P",
            addresses=("enp1s0 52:54:00:aa:bb:01 192.0.2.11/24",),
            standing=Standing(
                status="insufficient",
                name="host-1",
                role="master",
                problems=("Add RAM.", "Add disks."),
                more_problems=3,
            ),
            steps=("inventory",),
        )
    )
    for part in ("7KX2P", str(HOST_ID), "host-1", "192.0.2.11/24", "https://hub.example.com", "connected"):
        assert part in page
    for part in ("insufficient", "* Add RAM.", "* Add disks.", "and 3 more", "inventory"):
        assert part in page


def test_what_stands_in_the_way_comes_with_the_way_out() -> None:
    checks = (
        Check(name="DNS", passed=True, sentence="hub.example.com is 192.0.2.9"),
        Check(name="route", passed=False, sentence="no answer", fix="Check the gateway."),
        Check(name="TLS", passed=None, sentence="not tried"),
    )
    page = page_of(
        a_picture(state="unreachable", trouble="It cannot be reached.", checks=checks), last_lines=("a line",)
    )
    for part in (
        "NOT CONNECTED",
        "It cannot be reached.",
        "ok   hub.example.com",
        "FAIL no answer",
        "Check the gateway.",
    ):
        assert part in page
    assert "-    not tried" in page
    assert page.endswith("a line\n")


def test_addresses_with_the_useful_ones_first() -> None:
    links = (
        Link(index=1, name="lo", flags=LOOPBACK),
        Link(index=2, name="eno2", mac="52:54:00:00:00:02"),
        Link(index=3, name="eno3", mac="52:54:00:00:00:03", carrier=True),
        Link(index=4, name="eno4", mac="52:54:00:00:00:04", carrier=True),
        Link(index=5, name="docker0", mac="52:54:00:00:00:05", kind="bridge"),
    )
    rows = tuple(
        Address(link=4, interface=ip_interface(text)) for text in ("192.0.2.4/24", "fe80::4/64", "2001:db8::4/64")
    )
    assert address_lines(Network(links=links, addresses=rows)) == (
        "eno4 52:54:00:00:00:04 192.0.2.4/24, 2001:db8::4/64",
        "eno3 52:54:00:00:00:03 no address",
        "eno2 52:54:00:00:00:02 no cable",
    )


@pytest.mark.parametrize(
    ("names", "active", "expected"),
    [
        (("auto",), "tty0 ttyS0\n", ("/dev/tty1", "/dev/ttyS0")),
        (("auto",), "ttyS1 hvc0", ("/dev/tty1", "/dev/ttyS1", "/dev/hvc0")),
        (("auto",), None, ("/dev/tty1",)),
        (("/dev/tty1", "/dev/console", "/dev/tty1"), None, ("/dev/tty1", "/dev/console")),
        ((), "tty0", ()),
    ],
)
def test_which_terminals(tmp_path: Path, names: tuple[str, ...], active: str | None, expected: tuple[str, ...]) -> None:
    if active is not None:
        (tmp_path / "sys/class/tty/console").mkdir(parents=True)
        (tmp_path / "sys/class/tty/console/active").write_text(active)
    assert consoles_of(names, root=Root(tmp_path)) == expected


def read_all(handle: int) -> bytes:
    found = b""
    while True:
        try:
            found += os.read(handle, 65_536)
        except (BlockingIOError, OSError):
            return found


@pytest.mark.anyio
async def test_a_real_terminal_is_drawn_when_something_changed_and_only_then() -> None:
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    board = Board(a_picture())
    task = asyncio.create_task(
        show(
            board,
            Tail(),
            consoles=("screen", "/nowhere/else"),
            path=lambda name: os.ttyname(slave) if name == "screen" else name,
        )
    )
    try:

        async def drawn() -> bytes:
            async with asyncio.timeout(10):
                while not (found := read_all(master)):
                    await asyncio.sleep(0.02)
            return found

        first = await drawn()
        assert first.startswith(CLEAR.encode())
        assert b"starting" in first
        board.change(state="starting")
        await asyncio.sleep(1.5)
        assert read_all(master) == b"", "nothing changed"
        board.change(state="connected")
        assert b"connected" in await drawn()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        os.close(master)
        os.close(slave)


@pytest.mark.anyio
async def test_a_terminal_that_takes_nothing_does_not_hold_anybody() -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    try:
        while True:
            os.write(write_end, b"x" * 65_536)
    except BlockingIOError:
        pass
    async with asyncio.timeout(10):
        assert not await write(f"/proc/self/fd/{write_end}", "page")
        assert not await write("/nowhere/tty9", "page")
    os.close(read_end)
    os.close(write_end)
