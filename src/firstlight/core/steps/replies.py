"""From one reply of an agent to the report it carries: facts, digest and, for an inventory, the document itself."""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from firstlight.core.model.plan import StepType
from firstlight.core.model.reports import NO_REPORTS, ReportKind, Reports
from firstlight.core.steps.connectivity_reply import parse_connectivity
from firstlight.core.steps.digests import ReportFacts, digest
from firstlight.core.steps.free_addresses import parse_free_addresses
from firstlight.core.steps.inventory_reply import parse_inventory
from firstlight.core.steps.limits import DEFAULT_LIMITS, Limits
from firstlight.core.steps.measurements import (
    parse_api_vip,
    parse_disk_speed,
    parse_domains,
    parse_images,
    parse_ntp,
    parse_tang,
    parse_vips,
)

REPORT_OF: Final[Mapping[StepType, ReportKind]] = {
    StepType.INVENTORY: ReportKind.INVENTORY,
    StepType.CONNECTIVITY_CHECK: ReportKind.CONNECTIVITY,
    StepType.NTP: ReportKind.NTP,
    StepType.DOMAIN_RESOLUTION: ReportKind.DOMAINS,
    StepType.IMAGE_AVAILABILITY: ReportKind.IMAGES,
    StepType.DISK_SPEED: ReportKind.DISK_SPEEDS,
    StepType.TANG: ReportKind.TANG,
    StepType.API_VIP: ReportKind.API_VIP,
    StepType.FREE_ADDRESSES: ReportKind.FREE_ADDRESSES,
    StepType.VERIFY_VIPS: ReportKind.VIPS,
}
"""The steps whose replies are measurements. The other replies only move the host along."""

TELLS_EVEN_WHEN_FAILED: Final = frozenset({StepType.TANG, StepType.DISK_SPEED, StepType.IMAGE_AVAILABILITY})
MAY_BE_EMPTY: Final = frozenset({StepType.DISK_SPEED, StepType.IMAGE_AVAILABILITY})
"""A second run beside a first one ends at once and says nothing."""


class Reply(Struct, frozen=True, kw_only=True):
    """What an agent sent back for one step."""

    step: StepType
    output: str | bytes = b""
    exit_code: int = 0
    error: str = ""
    step_id: str = ""


class Surroundings(Struct, frozen=True, kw_only=True):
    """What a reply is read against."""

    earlier: Reports = NO_REPORTS
    limits: Limits = DEFAULT_LIMITS
    virtual_interfaces: bool = False
    asked_disk: str = ""
    """The disk whose speed is being measured, if any."""


class Reading(Struct, frozen=True, kw_only=True):
    kind: ReportKind
    facts: ReportFacts
    digest: str
    document: bytes = b""
    """Inventories only: the document in normal form."""


def read_reply(reply: Reply, *, surroundings: Surroundings) -> Reading | None:
    """The report in a reply; None when there is none to keep, Invalid when it cannot be read."""
    kind = REPORT_OF.get(reply.step)
    if kind is None or (reply.exit_code and reply.step not in TELLS_EVEN_WHEN_FAILED):
        return None
    failed_blind = bool(reply.exit_code and surroundings.asked_disk and reply.step is StepType.DISK_SPEED)
    if not reply.output and reply.step in MAY_BE_EMPTY and not failed_blind:
        return None
    if kind is ReportKind.INVENTORY:
        inventory, document = parse_inventory(reply.output, virtual_interfaces=surroundings.virtual_interfaces)
        found = digest(kind, inventory, limits=surroundings.limits)
        return Reading(kind=kind, facts=inventory, digest=found, document=document)
    facts = _PARSERS[kind](reply, surroundings)
    return Reading(kind=kind, facts=facts, digest=digest(kind, facts, limits=surroundings.limits))


_PARSERS: Final[Mapping[ReportKind, Callable[[Reply, Surroundings], ReportFacts]]] = {
    ReportKind.CONNECTIVITY: lambda reply, around: parse_connectivity(
        reply.output, own=around.earlier.inventory, limits=around.limits
    ),
    ReportKind.NTP: lambda reply, _: parse_ntp(reply.output),
    ReportKind.DOMAINS: lambda reply, _: parse_domains(reply.output),
    ReportKind.IMAGES: lambda reply, around: parse_images(reply.output, earlier=around.earlier.images),
    ReportKind.DISK_SPEEDS: lambda reply, around: parse_disk_speed(
        reply.output,
        exit_code=reply.exit_code,
        asked=around.asked_disk,
        earlier=around.earlier.disk_speeds,
        error=reply.error,
    ),
    ReportKind.TANG: lambda reply, _: parse_tang(reply.output, exit_code=reply.exit_code, error=reply.error),
    ReportKind.API_VIP: lambda reply, _: parse_api_vip(reply.output),
    ReportKind.FREE_ADDRESSES: lambda reply, _: parse_free_addresses(reply.output),
    ReportKind.VIPS: lambda reply, _: parse_vips(reply.output),
}
