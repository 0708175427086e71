"""The status page as text: who this machine is, whom it talks to, and what stands in the way. Plain ASCII, 80 by 24."""

import textwrap
from collections.abc import Iterator
from typing import Final

from firstlight.core.wire.offers import Standing
from firstlight.host.agent.board import Check, Picture

WIDTH: Final = 80
HEIGHT: Final = 24
_LABEL: Final = 12
_STATES: Final = {
    "starting": "starting",
    "registering": "introducing this machine ...",
    "connected": "connected",
    "refused": "NOT ACCEPTED by the service",
    "unreachable": "NOT CONNECTED",
    "ending": "ending",
}
_MARKS: Final = {True: "ok", False: "FAIL", None: "-"}


def page_of(picture: Picture, *, last_lines: tuple[str, ...] = (), width: int = WIDTH, height: int = HEIGHT) -> str:
    """Lines no longer than `width` - 1 and no more than `height` - 1, so that no terminal scrolls."""
    lines = [plain(line)[: width - 1] for line in _lines(picture, width=width - 1)]
    room = height - 1 - len(lines)
    if room > 2 and last_lines:
        lines += ["-" * (width - 1), *(plain(line)[: width - 1] for line in last_lines[-(room - 1) :])]
    return "\n".join(lines[: height - 1]) + "\n"


def plain(text: str) -> str:
    """What the smallest terminal can show; nothing that comes from outside may steer it."""
    shown = text.replace("…", "...").replace("’", "'")
    return "".join(char if " " <= char <= "~" else "?" for char in shown)


def _lines(picture: Picture, *, width: int) -> Iterator[str]:
    title = "Firstlight: this machine is being discovered"
    code = f"code {picture.short_code}" if picture.short_code else ""
    yield f"{title}{code:>{max(1, width - len(title))}}" if code else title
    yield "=" * width
    name = picture.standing.name if picture.standing and picture.standing.name else picture.hostname
    yield from _field("machine", f"{name}  {picture.host_id or ''}".strip(), width)
    for number, address in enumerate(picture.addresses[:5]):
        yield from _field("addresses" if number == 0 else "", address, width, most=1)
    if not picture.addresses:
        yield from _field("addresses", "none: check the cable and the DHCP server of this network", width)
    yield from _field("service", picture.service_url, width, most=1)
    yield from _field("state", _STATES[picture.state], width)
    if picture.trouble:
        yield from _field("why", picture.trouble, width, most=3)
    for check in picture.checks:
        yield from _check(check, width)
    if picture.standing is not None and picture.state == "connected":
        yield from _standing(picture.standing, width)
    if picture.steps:
        yield from _field("doing", ", ".join(picture.steps), width, most=1)


def _check(check: Check, width: int) -> Iterator[str]:
    yield from _field(f"  {check.name}", f"{_MARKS[check.passed]:4} {check.sentence}", width, most=2)
    if check.passed is False and check.fix:
        yield from _field("", f"     -> {check.fix}", width, most=2)


def _standing(standing: Standing, width: int) -> Iterator[str]:
    stage = f" ({standing.stage})" if standing.stage else ""
    yield from _field("status", f"{standing.status}{stage}  role {standing.role or 'not chosen'}", width)
    if standing.status_info:
        yield from _field("", standing.status_info, width, most=2)
    for number, problem in enumerate(standing.problems[:5]):
        yield from _field("problems" if number == 0 else "", f"* {problem}", width, most=2)
    more = standing.more_problems + max(0, len(standing.problems) - 5)
    if more:
        yield from _field("", f"* and {more} more; see the service", width)


def _field(label: str, text: str, width: int, *, most: int = 2) -> Iterator[str]:
    room = width - _LABEL
    parts = textwrap.wrap(text, room, drop_whitespace=True, break_long_words=True) or [""]
    if len(parts) > most:
        parts = [*parts[: most - 1], parts[most - 1][: room - 3] + "..."]
    for number, part in enumerate(parts):
        yield f"{label if number == 0 else '':{_LABEL}}{part}"
