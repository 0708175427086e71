"""The session behind an iSCSI disk: from where it is reached, and whether the firmware will reach it at boot."""

import re
from typing import Final

from msgspec import Struct

from firstlight.host.collect.blocks import Block
from firstlight.host.root import Root

FIRMWARE: Final = "/sys/firmware"
_HOST: Final = re.compile(r"/(host[0-9]+)/")
_SESSION: Final = re.compile(r"/(session[0-9]+)/")


class Session(Struct, frozen=True, kw_only=True):
    """Empty where the kernel does not tell."""

    host_address: str = ""
    state: str = ""
    name: str = ""
    target: str = ""


def read_session(root: Root, block: Block) -> Session:
    """Host adapter and session stand in the device's place, below `platform` or below an adapter on the bus."""
    host, session = _HOST.search(block.place), _SESSION.search(block.place)
    return Session(
        host_address=(root.line(f"/sys/class/iscsi_host/{host[1]}/ipaddress") or "") if host else "",
        state=root.line(f"{block.folder}/device/state") or "",
        name=session[1] if session else "",
        target=(root.line(f"/sys/class/iscsi_session/{session[1]}/targetname") or "") if session else "",
    )


def firmware_targets(root: Root) -> frozenset[str]:
    """Targets in the firmware's boot table (iBFT)."""
    folders = (name for name in root.names(f"{FIRMWARE}/ibft") if name.startswith("target"))
    return frozenset(filter(None, (root.line(f"{FIRMWARE}/ibft/{name}/target-name") for name in folders)))
