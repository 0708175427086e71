"""`installation-disk-speed-check`: is the disk fast enough for etcd? Measuring destroys the beginning of the disk.

So a disk that anybody uses is never touched, and one that carries data only if it is the disk to install to. The
original's service asks for no other disk; a service that does says `"installation_disk": false`.
"""

import asyncio
from math import isnan
from typing import Final

from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import DiskSpeedCheckRequest
from firstlight.core.wire.step_outputs import DiskSpeedCheckResponse
from firstlight.host.actions.action import FAILED, Action, Done, Site, first_document, replied
from firstlight.host.actions.disk_contents import contents, device_of, why_not_a_disk
from firstlight.host.actions.fio_command import fio_command, slow_sync_ms
from firstlight.host.programs import Outcome

_DEFAULT_SECONDS: Final = 480.0
_LONGEST_SECONDS: Final = 3600.0
_JOBS: Final = 2
"""Two writers at once, as etcd is not alone on its disk."""


class Wanted(DiskSpeedCheckRequest, frozen=True, kw_only=True):
    installation_disk: bool = True


_WANTED: Final = Reader(Wanted)


async def measure(arguments: tuple[str, ...], site: Site) -> Done:
    wanted = first_document(arguments, _WANTED)
    if site.dry_run:
        return replied(DiskSpeedCheckResponse(path=wanted.path, io_sync_duration=1))
    refusal = await asyncio.to_thread(_refusal, wanted, site)
    if refusal:
        return _failure(wanted.path, refusal, exit_code=FAILED)
    limit, device = seconds_of(arguments[1:]), device_of(wanted.path, root=site.root)
    outcomes = await asyncio.gather(
        *(site.programs.run(*fio_command(device, name=f"job{number}"), limit=limit) for number in range(_JOBS))
    )
    measured = [value for outcome in outcomes if (value := _value(outcome)) is not None]
    if not measured:
        worst = max(outcomes, key=lambda outcome: outcome.exit_code)
        sentence = f"The speed of {wanted.path} could not be measured with fio: {worst.complaint}"
        return _failure(wanted.path, sentence, exit_code=worst.exit_code or FAILED)
    return replied(DiskSpeedCheckResponse(path=wanted.path, io_sync_duration=max(measured)))


def seconds_of(arguments: tuple[str, ...]) -> float:
    """The time limit that the service names, within reason."""
    try:
        seconds = float(arguments[0]) if arguments else _DEFAULT_SECONDS
    except ValueError:
        return _DEFAULT_SECONDS
    return min(max(seconds, 1.0), _LONGEST_SECONDS) if not isnan(seconds) else _DEFAULT_SECONDS


def _refusal(wanted: Wanted, site: Site) -> str:
    refusal = why_not_a_disk(wanted.path, root=site.root, lab=site.lab)
    if refusal or wanted.installation_disk:
        return refusal
    found = contents(wanted.path, root=site.root)
    way_out = "Choose it as the installation disk, or erase it."
    return f"{wanted.path} carries {found} and was not written to. {way_out}" if found else ""


def _value(outcome: Outcome) -> int | None:
    return slow_sync_ms(outcome.output) if outcome.succeeded else None


def _failure(path: str, sentence: str, *, exit_code: int) -> Done:
    """With the path in its output the service can say which disk failed."""
    return replied(DiskSpeedCheckResponse(path=path), exit_code=exit_code, error=sentence)


DISK_SPEED: Final = Action(
    step_type="installation-disk-speed-check", perform=measure, limit_seconds=3700.0, exclusive=True, once=True
)
