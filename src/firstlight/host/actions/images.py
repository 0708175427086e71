"""Pulling container images with the host's podman, and `container-image-availability`: are they there, how fast?"""

import re
import time
from typing import Final

from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import ContainerImageAvailabilityRequest
from firstlight.core.wire.step_outputs import ContainerImageAvailability, ContainerImageAvailabilityResponse
from firstlight.host.actions.action import IMAGE_NOT_PULLED, Action, Done, Site, first_document, replied
from firstlight.host.programs import Outcome, Programs

_ASK_SECONDS: Final = 120.0
_DEFAULT_SECONDS: Final = 960
_LONGEST_SECONDS: Final = 6 * 3600
"""Whatever the service grants."""
_MEGABYTE: Final = 1e6
_REFERENCE: Final = re.compile(
    r"(?:[a-zA-Z0-9][a-zA-Z0-9.-]*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?(?:/[a-z0-9][a-z0-9._-]*)+(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
    r"|[a-z0-9][a-z0-9._-]*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?",
    re.ASCII,
)


class Wanted(ContainerImageAvailabilityRequest, frozen=True, kw_only=True):
    images: tuple[str, ...] = ()


_WANTED: Final = Reader(Wanted)


def is_reference(image: str) -> bool:
    """Whether a text names an image; never true for what podman could take for an option."""
    return len(image) <= 1024 and _REFERENCE.fullmatch(image) is not None


async def is_present(image: str, programs: Programs) -> bool:
    return (await programs.run("podman", "image", "exists", image, limit=_ASK_SECONDS)).succeeded


async def pulled(image: str, programs: Programs, *, limit: float) -> Outcome:
    return await programs.run("podman", "pull", "--quiet", image, limit=limit)


async def check(arguments: tuple[str, ...], site: Site) -> Done:
    wanted = first_document(arguments, _WANTED)
    deadline = time.monotonic() + min(wanted.timeout or _DEFAULT_SECONDS, _LONGEST_SECONDS)
    results = [await _available(image, site, deadline=deadline) for image in wanted.images]
    bad = [(name, complaint) for (name, complaint) in ((r.name, why) for r, why in results) if complaint]
    report = ContainerImageAvailabilityResponse(images=tuple(result for result, _ in results))
    if not bad:
        return replied(report)
    sentences = [f"The image {name} could not be pulled: {complaint}" for name, complaint in bad]
    return replied(report, exit_code=IMAGE_NOT_PULLED, error="\n".join(sentences))


async def _available(image: str, site: Site, *, deadline: float) -> tuple[ContainerImageAvailability, str]:
    """The result, and why it failed."""
    if site.dry_run:
        return _result(image, size=400e6, seconds=10.0, rate=100.0), ""
    if not is_reference(image):
        return ContainerImageAvailability(name=image, result="failure"), "this is not the name of an image."
    if await is_present(image, site.host):
        return ContainerImageAvailability(name=image, result="success"), ""
    started = time.monotonic()
    if started >= deadline:
        return ContainerImageAvailability(name=image, result="failure"), "no time was left for it."
    outcome = await pulled(image, site.host, limit=deadline - started)
    seconds = time.monotonic() - started
    if not outcome.succeeded:
        return ContainerImageAvailability(name=image, result="failure"), outcome.complaint
    size = await _size(image, site.host)
    return _result(image, size=size, seconds=seconds, rate=size / _MEGABYTE / seconds), ""


def _result(image: str, *, size: float, seconds: float, rate: float) -> ContainerImageAvailability:
    return ContainerImageAvailability(
        name=image, result="success", size_bytes=size, time=round(seconds, 3), download_rate=round(rate, 3)
    )


async def _size(image: str, programs: Programs) -> float:
    shown = await programs.run("podman", "image", "inspect", "--format", "{{.Size}}", image, limit=_ASK_SECONDS)
    try:
        return float(int(shown.text.strip()))
    except ValueError:
        return 0.0


IMAGE_AVAILABILITY: Final = Action(
    step_type="container-image-availability", perform=check, limit_seconds=_LONGEST_SECONDS + 1800.0, exclusive=True
)
