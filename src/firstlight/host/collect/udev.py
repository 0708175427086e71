"""What the device manager found out about a device when it appeared, read from its database."""

from typing import Final

from firstlight.host.root import Root

DATABASE: Final = "/run/udev/data"
_MOST: Final = 2**18


def parse_record(data: bytes) -> dict[str, str]:
    """The properties (`E:NAME=value` lines) of one record."""
    found: dict[str, str] = {}
    for line in data.decode("utf-8", "replace").split("\n"):
        if line.startswith("E:"):
            name, equals, value = line[2:].partition("=")
            if name and equals:
                found[name] = value
    return found


def block_properties(root: Root, device: str) -> dict[str, str]:
    """Of the block device with this number, such as `8:0`; empty if the device manager does not know it."""
    return parse_record(root.bytes(f"{DATABASE}/b{device}", most=_MOST) or b"") if device else {}
