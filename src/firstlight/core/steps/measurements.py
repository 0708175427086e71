"""The small reports of an agent: time servers, names, images, disk speed, tang, the worker Ignition, VIPs, upgrades."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.model.reports import ApiVipReply, DiskSpeed, ImageStatus, NtpSource, Resolution, TangReply
from firstlight.core.steps.decoding import Integer, LongText, Text, decode, number_of_address

MOST_ENTRIES: Final = 1_024
LONGEST_REASON: Final = 400
"""Characters of a reason that becomes part of a sentence."""
"""No host has more time servers, names, images or VIPs to tell of."""


class _NtpSource(Struct):
    source_name: Text | None = None
    source_state: Text | None = None


class _NtpReport(Struct):
    ntp_sources: list[_NtpSource] | None = None


class _Resolution(Struct):
    domain_name: Text | None = None
    ipv4_addresses: list[Text] | None = None
    ipv6_addresses: list[Text] | None = None
    cnames: list[Text] | None = None


class _DomainReport(Struct):
    resolutions: list[_Resolution] | None = None


class _Image(Struct):
    name: Text | None = None
    result: Text | None = None
    size_bytes: float | None = None
    time: float | None = None
    download_rate: float | None = None


class _ImageReport(Struct):
    images: list[_Image] | None = None


class _DiskSpeedReport(Struct):
    path: Text | None = None
    io_sync_duration: Integer | None = None


class _TangReport(Struct):
    is_success: bool | None = None


class _ApiVipReport(Struct):
    is_success: bool | None = None
    url: Text | None = None
    download_error: LongText | None = None
    ignition: LongText | None = None


class _VerifiedVip(Struct):
    vip: Text | None = None
    verification: Text | None = None


class _UpgradeReport(Struct):
    agent_image: Text | None = None
    result: Text | None = None


class UpgradeReply(Struct, frozen=True, kw_only=True):
    """What came of pulling a newer agent."""

    agent_image: str = ""
    succeeded: bool | None = None
    """None while another pull of the same agent is still running."""


_NTP: Final = msgspec.json.Decoder(_NtpReport)
_DOMAINS: Final = msgspec.json.Decoder(_DomainReport)
_IMAGES: Final = msgspec.json.Decoder(_ImageReport)
_DISK_SPEED: Final = msgspec.json.Decoder(_DiskSpeedReport)
_TANG: Final = msgspec.json.Decoder(_TangReport)
_API_VIP: Final = msgspec.json.Decoder(_ApiVipReport)
_VIPS: Final[msgspec.json.Decoder[list[_VerifiedVip] | None]] = msgspec.json.Decoder(list[_VerifiedVip] | None)
_UPGRADE: Final = msgspec.json.Decoder(_UpgradeReport)


def parse_ntp(output: str | bytes) -> tuple[NtpSource, ...]:
    sources = decode(_NTP, output, what="time server report").ntp_sources or []
    _bounded(len(sources), "time servers")
    return tuple([NtpSource(source.source_name or "", source.source_state or "") for source in sources])


def parse_domains(output: str | bytes) -> dict[str, Resolution]:
    """Names exactly as they were asked for, trailing dot included."""
    resolutions = decode(_DOMAINS, output, what="name resolution report").resolutions or []
    _bounded(len(resolutions), "names")
    return {
        found.domain_name: Resolution(
            (*(found.ipv4_addresses or ()), *(found.ipv6_addresses or ())), tuple(found.cnames or ())
        )
        for found in resolutions
        if found.domain_name
    }


def parse_images(output: str | bytes, *, earlier: Mapping[str, ImageStatus] | None) -> dict[str, ImageStatus]:
    """The earlier statuses, renewed by those of this report."""
    images = decode(_IMAGES, output, what="image report").images or []
    _bounded(len(images), "images")
    statuses = dict(earlier or {})
    for image in images:
        if image.name:
            statuses[image.name] = ImageStatus(
                success=image.result == "success",
                size_bytes=image.size_bytes or 0.0,
                seconds=image.time or 0.0,
                megabytes_per_second=image.download_rate or 0.0,
            )
    _bounded(len(statuses), "images")
    return statuses


def parse_disk_speed(
    output: str | bytes, *, exit_code: int, asked: str, earlier: Mapping[str, DiskSpeed] | None, error: str = ""
) -> dict[str, DiskSpeed]:
    """The earlier results, renewed by this one.

    A check that was killed writes nothing; it still failed, on the disk that was `asked` for.
    """
    speeds = dict(earlier or {})
    reason = " ".join(error.split())[:LONGEST_REASON] if exit_code else ""
    if not output and exit_code and asked:
        return speeds | {asked: DiskSpeed(exit_code=exit_code, error=reason)}
    report = decode(_DISK_SPEED, output, what="disk speed report")
    path = report.path or asked
    if not path:
        raise Invalid("The disk speed report does not say which disk was measured. Send its path.")
    speeds[path] = DiskSpeed(exit_code=exit_code, speed_ms=max(0, report.io_sync_duration or 0), error=reason)
    _bounded(len(speeds), "disks")
    return speeds


def parse_tang(output: str | bytes, *, exit_code: int, error: str) -> TangReply:
    """A failed check says why in its error text; its output says nothing."""
    if exit_code:
        return TangReply(success=False, error=error)
    success = decode(_TANG, output, what="tang report").is_success or False
    return TangReply(success=success, error="" if success else error)


def parse_api_vip(output: str | bytes) -> ApiVipReply:
    report = decode(_API_VIP, output, what="Ignition download report")
    return ApiVipReply(
        success=report.is_success or False,
        url=report.url or "",
        error=report.download_error or "",
        ignition=report.ignition or "",
    )


def parse_vips(output: str | bytes) -> dict[str, bool]:
    """VIP → nobody answers there. VIPs that were not looked at are left out."""
    vips = decode(_VIPS, output, what="VIP report") or []
    _bounded(len(vips), "VIPs")
    return {
        vip.vip: vip.verification == "succeeded"
        for vip in vips
        if vip.vip and vip.verification in ("succeeded", "failed") and number_of_address(vip.vip) is not None
    }


def parse_upgrade(output: str | bytes) -> UpgradeReply:
    report = decode(_UPGRADE, output, what="upgrade report")
    return UpgradeReply(
        agent_image=report.agent_image or "", succeeded=None if not report.result else report.result == "success"
    )


def _bounded(count: int, what: str) -> None:
    if count > MOST_ENTRIES:
        raise Invalid(f"The report names {count} {what}; at most {MOST_ENTRIES} are read.")
