"""A DHCP lease as text, in the block form that ISC's client keeps on disk and the new cluster will read."""

import re
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from typing import Final

from firstlight.host.links.dhcp_packets import (
    BROADCAST,
    DNS,
    DOMAIN,
    HOST_NAME,
    KIND,
    LEASE_SECONDS,
    MASK,
    REBIND,
    RENEW,
    ROUTERS,
    SERVER,
    DhcpAnswer,
)

_FIXED: Final = re.compile(r"^\s*fixed-address\s+([0-9.]{7,15})\s*;", re.MULTILINE)
_ADDRESSES: Final = {
    MASK: "subnet-mask",
    ROUTERS: "routers",
    DNS: "domain-name-servers",
    BROADCAST: "broadcast-address",
    SERVER: "dhcp-server-identifier",
}
_NUMBERS: Final = {LEASE_SECONDS: "dhcp-lease-time", RENEW: "dhcp-renewal-time", REBIND: "dhcp-rebinding-time"}
_NAMES: Final = {DOMAIN: "domain-name", HOST_NAME: "host-name"}
_FOREVER: Final = 0xFFFF_FFFF


def lease_text(answer: DhcpAnswer, *, interface: str, now: datetime) -> str:
    """The block of a granted lease."""
    lines = [f'interface "{interface}"', f"fixed-address {answer.address}"]
    for code, value in sorted(answer.options.items()):
        if code == KIND and len(value) == 1:
            lines.append(f"option dhcp-message-type {value[0]}")
        elif code in _ADDRESSES and value and len(value) % 4 == 0:
            listed = ",".join(str(IPv4Address(value[at : at + 4])) for at in range(0, len(value), 4))
            lines.append(f"option {_ADDRESSES[code]} {listed}")
        elif code in _NUMBERS and len(value) == 4:
            lines.append(f"option {_NUMBERS[code]} {int.from_bytes(value, 'big')}")
        elif code in _NAMES and (name := _plain(value)):
            lines.append(f'option {_NAMES[code]} "{name}"')
    seconds = answer.seconds
    renew = answer.number(RENEW, default=seconds // 2)
    rebind = answer.number(REBIND, default=seconds * 7 // 8)
    times = (("renew", renew), ("rebind", rebind), ("expire", seconds))
    lines += [f"{word} {_moment(now, after, lasting=seconds)}" for word, after in times]
    return "lease {\n" + "".join(f"  {line};\n" for line in lines) + "}\n"


def address_in(text: str) -> IPv4Address | None:
    """The address of a lease block, the last one if there are several."""
    for found in reversed(_FIXED.findall(text)):
        try:
            return IPv4Address(found)
        except ValueError:
            continue
    return None


def _moment(now: datetime, after: int, *, lasting: int) -> str:
    if lasting == _FOREVER:
        return "never"
    moment = now.astimezone(UTC) + timedelta(seconds=min(after, lasting))
    # Days of the week count from Sunday.
    return f"{moment.isoweekday() % 7} {moment:%Y/%m/%d %H:%M:%S}"


def _plain(value: bytes) -> str:
    """Names as they may stand between quotes; anything stranger is left out."""
    name = value.rstrip(b"\0").decode("ascii", "replace")
    return name if re.fullmatch(r"[A-Za-z0-9._ -]+", name) else ""
