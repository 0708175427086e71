"""Thousands of hosts at once, written straight into the store: what a page of them costs, not how they came."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final
from uuid import UUID

import msgspec

from firstlight.core.model.host import Host
from firstlight.core.model.inventory import Inventory, SystemVendor
from firstlight.core.model.reports import NtpSource, ReportKind
from firstlight.core.rules import Finding, Status
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import host_subject
from firstlight.server.ports.writes import PutFindings, PutHost, PutPresence, PutReport, Write
from tests.builders.hosts import a_host, a_pool_host
from tests.builders.inventories import an_inventory
from tests.builders.moments import NOW

AT_ONCE: Final = 500
ODD: Final = 7
"""Every seventh host has more cores and fails a check."""


def inventory_of(number: int) -> Inventory:
    vendor = SystemVendor(manufacturer="Example", product_name="Rack", serial_number=f"SN-{number:06}", virtual=True)
    return an_inventory(number, hostname=f"machine-{number}", vendor=vendor, cpu_count=16 if number % ODD == 0 else 8)


def writes_of(number: int, infra_env_id: UUID, cluster_id: UUID | None, now: datetime) -> Iterator[Write]:
    """One host of the crowd; `number` counts from 1."""
    made = a_host if cluster_id else a_pool_host
    host: Host = made(
        number,
        infra_env_id=infra_env_id,
        cluster_id=cluster_id,
        requested_hostname=f"machine-{number}",
        created_at=now,
        updated_at=now,
        status_updated_at=now,
        registered_at=now + timedelta(milliseconds=number),
    )
    key = (infra_env_id, host.id)
    yield PutHost(host=host)
    yield PutPresence(key=key, checked_in_at=now, clock_offset_seconds=0.0, agent_version="")
    for kind, facts in (
        (ReportKind.INVENTORY, inventory_of(number)),
        (ReportKind.NTP, (NtpSource("ntp.example.com", "synced"),)),
    ):
        document = msgspec.json.encode(facts)
        digest = sha256(document).hexdigest()[:32]
        yield PutReport(key=key, kind=kind, digest=digest, facts=document, raw=b"{}", measured_at=now)
    status = Status.FAILURE if number % ODD == 0 else Status.SUCCESS
    found = Finding(id="ntp-synced", category="network", status=status, message="Measured.")
    yield PutFindings(subject=host_subject(key), findings=(found,))


async def crowd(
    store: Store, count: int, *, infra_env_id: UUID, cluster_id: UUID | None = None, now: datetime = NOW
) -> None:
    """Hosts 1 to `count` of an infra-env that is there already, and of its cluster if one is named."""
    for first in range(1, count + 1, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, count + 1))
        await store.commit(*[write for number in numbers for write in writes_of(number, infra_env_id, cluster_id, now)])
