"""DNS questions and answers (RFC 1035) for A, AAAA, CNAME and PTR; reading hostile bytes never raises or loops."""

import struct
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from msgspec import Struct

_HEADER: Final = struct.Struct("!HHHHHH")
_RECORD: Final = struct.Struct("!HHIH")
_RECURSE, _ANSWER, _TRUNCATED, _CODE = 0x0100, 0x8000, 0x0200, 0x000F
A, CNAME, PTR, AAAA = 1, 5, 12, 28
_INTERNET: Final = 1
NO_ERROR, NO_SUCH_NAME = 0, 3
_LABELS: Final = 128
_RECORDS: Final = 512


class Record(Struct, frozen=True, kw_only=True):
    name: str
    """Lower case, absolute, with its final dot."""
    kind: int
    value: str


class DnsAnswer(Struct, frozen=True, kw_only=True):
    """What a server said about one question."""

    code: int
    truncated: bool
    records: tuple[Record, ...]

    def canonical(self, name: str) -> str:
        """Where the aliases lead from a name; the name itself if it has none."""
        aliases = {record.name: record.value for record in self.records if record.kind == CNAME}
        name = name.lower()
        for _ in range(len(aliases)):
            if name not in aliases:
                break
            name = aliases[name].lower()
        return name

    def values(self, name: str, *, kind: int) -> tuple[str, ...]:
        """The values of a name, its aliases followed, in the server's order."""
        owner = self.canonical(name)
        return tuple(record.value for record in self.records if record.kind == kind and record.name == owner)


def dns_query(name: str, *, kind: int, identifier: int) -> bytes:
    """A recursive question for an absolute name. Raises ValueError for what is no name."""
    return _HEADER.pack(identifier, _RECURSE, 1, 0, 0, 0) + _encoded(name) + struct.pack("!HH", kind, _INTERNET)


def dns_answer_of(data: bytes, *, query: bytes) -> DnsAnswer | None:
    """The answer to exactly this query, None for anything else."""
    if len(data) < _HEADER.size:
        return None
    identifier, flags, questions, answers, _, _ = _HEADER.unpack_from(data)
    question = query[_HEADER.size :]
    place = _HEADER.size + len(question)
    if (identifier, questions) != (struct.unpack_from("!H", query)[0], 1) or not flags & _ANSWER:
        return None
    if data[_HEADER.size : place].lower() != question.lower():
        return None
    records: list[Record] = []
    for _ in range(min(answers, _RECORDS)):
        owner = _name(data, place)
        if owner is None or owner[1] + _RECORD.size > len(data):
            break
        kind, _, _, length = _RECORD.unpack_from(data, owner[1])
        start = owner[1] + _RECORD.size
        place = start + length
        if place > len(data):
            break
        value = _value(data, kind, start, length)
        if value is not None:
            records.append(Record(name=owner[0].lower(), kind=kind, value=value))
    return DnsAnswer(code=flags & _CODE, truncated=bool(flags & _TRUNCATED), records=tuple(records))


def _value(data: bytes, kind: int, start: int, length: int) -> str | None:
    if kind == A and length == 4:
        return str(IPv4Address(data[start : start + 4]))
    if kind == AAAA and length == 16:
        return str(IPv6Address(data[start : start + 16]))
    if kind in (CNAME, PTR):
        name = _name(data, start)
        return None if name is None else name[0]
    return None


def _name(data: bytes, place: int) -> tuple[str, int] | None:
    """A possibly compressed name and where the data goes on behind it."""
    labels: list[str] = []
    end: int | None = None
    for _ in range(_LABELS):
        if place >= len(data):
            return None
        length = data[place]
        if length >= 0xC0:
            if place + 2 > len(data):
                return None
            end = place + 2 if end is None else end
            place = (length & 0x3F) << 8 | data[place + 1]
        elif length == 0:
            return ".".join(labels) + ".", place + 1 if end is None else end
        elif length > 63 or place + 1 + length > len(data):
            return None
        else:
            labels.append(data[place + 1 : place + 1 + length].decode("ascii", "replace"))
            place += 1 + length
    return None


def _encoded(name: str) -> bytes:
    labels = [label.encode("idna" if not label.isascii() else "ascii") for label in name.rstrip(".").split(".")]
    if any(not 0 < len(label) < 64 for label in labels) or sum(map(len, labels)) + len(labels) > 254:
        raise ValueError(f"{name!r} is not a domain name.")
    return b"".join(bytes((len(label),)) + label for label in labels) + b"\0"
