"""Records of the system journal, in the form its socket takes."""

from pathlib import Path
from typing import Final

SOCKET: Final = Path("/run/systemd/journal/socket")


def journal_record(fields: dict[str, str]) -> bytes:
    """The journal's own form: `NAME=value` lines, and for values of several lines their length in eight bytes."""
    record = bytearray()
    for name, value in fields.items():
        data = value.encode("utf-8", "replace")
        if b"\n" in data:
            record += name.encode() + b"\n" + len(data).to_bytes(8, "little") + data + b"\n"
        else:
            record += name.encode() + b"=" + data + b"\n"
    return bytes(record)
