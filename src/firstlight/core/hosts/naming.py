"""Names for many hosts from one pattern: `worker-{n}`, `rack7-{n:02}`, `node-{serial}`."""

import re
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.model.host import HostState
from firstlight.core.validate.quoting import shown

_BLANK: Final = re.compile(r"\{([a-z]*)(?::0?(\d))?\}")
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9.-]+")


def name_from(pattern: str, *, number: int, state: HostState) -> str:
    """The pattern with its blanks filled for one host; whether the outcome is a good name is judged elsewhere."""

    def filled(blank: re.Match[str]) -> str:
        word, width = blank.group(1), int(blank.group(2) or 0)
        if word == "n":
            return f"{number:0{width}d}"
        value = _fact(word, state)
        if value is None:
            raise Invalid(f"{shown(blank.group(0))} is no blank of a name. Use {{n}}, {{role}}, {{serial}} or {{mac}}.")
        return _NOT_IN_NAMES.sub("-", value.lower()).strip("-")

    return _BLANK.sub(filled, pattern)


def _fact(word: str, state: HostState) -> str | None:
    inventory = state.reports.inventory
    if word == "role":
        return state.host.effective_role.value
    if word == "serial":
        return inventory.vendor.serial_number if inventory and inventory.vendor else ""
    if word == "mac":
        macs = [nic.mac for nic in inventory.interfaces if nic.mac] if inventory else []
        return macs[0].replace(":", "") if macs else ""
    return None
