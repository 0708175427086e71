"""The two DHCP leases a host took for the virtual addresses."""

import re
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.steps.decoding import Text, decode, number_of_address


class _DhcpReport(Struct):
    api_vip_address: Text | None = None
    ingress_vip_address: Text | None = None
    api_vip_lease: Text | None = None
    ingress_vip_lease: Text | None = None


class VipLeases(Struct, frozen=True, kw_only=True):
    api_vip: str
    ingress_vip: str
    api_lease: str = ""
    ingress_lease: str = ""


_DECODER: Final = msgspec.json.Decoder(_DhcpReport)
# One `lease { … }` block of statements. Each begins with a letter and runs to its semicolon: one way to read it.
_LEASE: Final = re.compile(r"\s*lease\s*\{(?:\s*[A-Za-z][^;{}]*;)+\s*\}\s*")


def parse_dhcp(output: str | bytes) -> VipLeases:
    """Whether the addresses lie in the machine network is for the cluster to judge."""
    report = decode(_DECODER, output, what="DHCP lease report")
    return VipLeases(
        api_vip=_address(report.api_vip_address, name="API"),
        ingress_vip=_address(report.ingress_vip_address, name="ingress"),
        api_lease=_lease(report.api_vip_lease, name="API"),
        ingress_lease=_lease(report.ingress_vip_lease, name="ingress"),
    )


def _address(text: str | None, *, name: str) -> str:
    number = number_of_address(text or "")
    if text is None or number is None or number[0] != 4:
        raise Invalid(f"The DHCP lease of the {name} VIP carries no IPv4 address. Take the lease anew.")
    return text


def _lease(text: str | None, *, name: str) -> str:
    if text and _LEASE.fullmatch(text) is None:
        raise Invalid(f"The DHCP lease of the {name} VIP is not a lease block. Send it as the DHCP client wrote it.")
    return text or ""
