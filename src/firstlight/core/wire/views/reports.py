"""Measurements as the JSON-inside-a-string fields of a host."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from firstlight.core.model.host import Host
from firstlight.core.model.reports import ApiVipReply, DiskSpeed, ImageStatus, NtpSource, Resolution, TangReply
from firstlight.core.network.addresses import is_v6
from firstlight.core.steps.inventory_document import EligibilityPart, InventoryDocument

_encode = msgspec.json.Encoder().encode
_DECODER: Final = msgspec.json.Decoder(InventoryDocument)


def _text(value: object) -> str:
    return _encode(value).decode()


def inventory_text(raw: bytes, host: Host) -> str:
    """The inventory as sent, with the service's own opinion about each disk added."""
    return _with_eligibility(raw, tuple(sorted(host.disk_problems.items())))


@lru_cache(maxsize=256)
def _with_eligibility(raw: bytes, problems: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    document = _DECODER.decode(raw)
    own = dict(problems)
    for disk in document.disks or ():
        if disk is not None:
            told = disk.installation_eligibility
            reasons = list((told.not_eligible_reasons if told is not None else None) or ())
            reasons.extend(own.get(disk.id or "", ()))
            disk.installation_eligibility = EligibilityPart(eligible=not reasons or None, not_eligible_reasons=reasons)
    return _text(document)


def ntp_text(sources: tuple[NtpSource, ...]) -> str:
    return _text([{"source_name": source.name, "source_state": source.state} for source in sources])


def domains_text(domains: Mapping[str, Resolution]) -> str:
    return _text(
        {
            "resolutions": [
                {
                    "domain_name": name,
                    "ipv4_addresses": [address for address in found.addresses if not is_v6(address)],
                    "ipv6_addresses": [address for address in found.addresses if is_v6(address)],
                    "cnames": list(found.cnames),
                }
                for name, found in domains.items()
            ]
        }
    )


def images_text(images: Mapping[str, ImageStatus]) -> str:
    return _text(
        {
            name: {
                "name": name,
                "result": "success" if image.success else "failure",
                **{
                    key: value
                    for key, value in (
                        ("size_bytes", image.size_bytes),
                        ("time", image.seconds),
                        ("download_rate", image.megabytes_per_second),
                    )
                    if value
                },
            }
            for name, image in images.items()
        }
    )


def disks_text(speeds: Mapping[str, DiskSpeed]) -> str:
    return _text(
        {
            path: {
                "path": path,
                "disk_speed": {"tested": True, "speed_ms": speed.speed_ms, "exit_code": speed.exit_code},
            }
            for path, speed in speeds.items()
        }
    )


def tang_text(reply: TangReply) -> str:
    return _text({"is_success": True}) if reply.success else reply.error or _text({"tang_server_response": None})


def api_vip_text(reply: ApiVipReply) -> str:
    document: dict[str, object] = {"url": reply.url}
    if reply.success:
        document |= {"is_success": True, "ignition": reply.ignition}
    else:
        document["download_error"] = reply.error
    return _text(document)
