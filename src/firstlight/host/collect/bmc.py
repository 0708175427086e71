"""Addresses of the machine's management controller, asked for with ipmitool where there is a controller to ask."""

import asyncio
import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from firstlight.host.collect.health import ABSENT
from firstlight.host.collect.view import View

DEVICES: Final = ("/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0")
CHANNELS: Final = range(1, 13)
SECONDS: Final = 30.0
"""For one question; these controllers are slow."""
SECONDS_IN_ALL: Final = 120.0
NO_V4: Final = "0.0.0.0"  # noqa: S104 - what the original answers, not an address to bind
NO_V6: Final = "::/0"
_V4: Final = re.compile(r"^IP Address\s*:\s*(\S+)\s*$", re.MULTILINE)
_ENABLES: Final = re.compile(r"^\s*IPv6/IPv4 Addressing Enables\s*:\s*(\S+)\s*$", re.MULTILINE)


class _NotInstalled(Exception):
    """There is nobody to ask with."""


async def no_bmc() -> tuple[str, str]:
    """For whoever does not want to ask."""
    return NO_V4, NO_V6


async def collect_bmc(view: View) -> tuple[str, str]:
    """The IPv4 and the IPv6 address, each of the first channel that has one; the original's words for none."""
    if not any(view.root.exists(device) for device in DEVICES):
        return NO_V4, NO_V6
    found = {4: NO_V4, 6: NO_V6}
    try:
        async with asyncio.timeout(SECONDS_IN_ALL):
            await _ask(view, found)
    except (TimeoutError, _NotInstalled):
        pass
    return found[4], found[6]


async def _ask(view: View, found: dict[int, str]) -> None:
    for channel in CHANNELS:
        found[4] = v4_address(await _print(view, "lan", channel)) or NO_V4
        if found[4] != NO_V4:
            break
    for channel in CHANNELS:
        if uses_v6(await _print(view, "lan6", channel, "enables")):
            dynamic = v6_address(await _print(view, "lan6", channel, "dynamic_addr"), static=False)
            found[6] = dynamic or v6_address(await _print(view, "lan6", channel, "static_addr"), static=True) or NO_V6
        if found[6] != NO_V6:
            return


async def _print(view: View, kind: str, channel: int, *what: str) -> str:
    outcome = await view.programs.run("ipmitool", kind, "print", str(channel), *what, limit=SECONDS, keep=65_536)
    if outcome.exit_code in ABSENT:
        raise _NotInstalled
    return outcome.text if outcome.succeeded else ""


def v4_address(text: str) -> str:
    """The address in the output of `lan print`; empty if there is none that means something."""
    for word in _V4.findall(text):
        try:
            address = IPv4Address(word)
        except AddressValueError:
            continue
        if not address.is_unspecified:
            return str(address)
    return ""


def uses_v6(text: str) -> bool:
    found = _ENABLES.search(text)
    return found is not None and found[1].lower() in ("both", "ipv6")


def v6_address(text: str, *, static: bool) -> str:
    """The first active address of a list of address slots; static ones must be enabled too."""
    slot: dict[str, str] = {}
    for line in [*text.split("\n"), "end:"]:
        name, colon, value = line.partition(":")
        if colon and not value.strip():
            # A headline such as `Dynamic Address 0:` begins a new slot.
            if address := _active(slot, static=static):
                return address
            slot = {}
        elif colon:
            slot[name.strip().lower()] = value.strip()
    return ""


def _active(slot: dict[str, str], *, static: bool) -> str:
    if slot.get("status", "").lower() != "active":
        return ""
    if static and slot.get("enabled", "").lower() != "yes":
        return ""
    try:
        address = IPv6Address(slot.get("address", "").partition("/")[0])
    except AddressValueError:
        return ""
    return "" if address.is_unspecified else str(address)
