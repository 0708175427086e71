"""The measurement of synchronous writes: fio's command line, and the number in its report."""

from typing import Final

import msgspec
from msgspec import Struct

_PERCENTILE: Final = "99.000000"
_NANOSECONDS: Final = 1_000_000


class _Latency(Struct, frozen=True):
    percentile: dict[str, float] = {}


class _Sync(Struct, frozen=True):
    lat_ns: _Latency = _Latency()


class _Job(Struct, frozen=True):
    sync: _Sync = _Sync()


class _Report(Struct, frozen=True):
    jobs: tuple[_Job, ...] = ()


def fio_command(device: str, *, name: str) -> tuple[str, ...]:
    """What etcd's write-ahead log does: small writes, each made durable. It overwrites the first 22 MiB."""
    # A colon would separate two file names.
    escaped = device.replace(":", "\\:")
    return (
        "fio",
        f"--name={name}",
        f"--filename={escaped}",
        "--rw=write",
        "--ioengine=sync",
        "--size=22m",
        "--bs=2300",
        "--fdatasync=1",
        "--output-format=json",
    )


def slow_sync_ms(output: bytes) -> int | None:
    """The time within which 99 of 100 syncs ended, in whole milliseconds; None if the report does not say."""
    # Warnings may stand before the report.
    start = output.find(b"{")
    try:
        report = msgspec.json.decode(output[start:], type=_Report)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    value = report.jobs[0].sync.lat_ns.percentile.get(_PERCENTILE) if report.jobs else None
    return None if value is None else int(value) // _NANOSECONDS
