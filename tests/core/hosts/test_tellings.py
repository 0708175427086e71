"""What a host's installation and reset tell besides the change of status."""

from typing import Any

import pytest

from firstlight.core.events.event import Event
from firstlight.core.events.host import DiskFormatPerformed, DiskFormatSkipped, HostResetNeedsUser
from firstlight.core.hosts.refresh import REFRESH_TABLE
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.tellings import disk_formats
from firstlight.core.hosts.transitions import TRANSITIONS
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import Reports
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_host, some_reports
from tests.builders.inventories import a_disk, an_inventory
from tests.builders.moments import NOW

BOOT = a_disk()
OTHER = a_disk(id="/dev/disk/by-id/other", name="sdb", path="/dev/sdb")


def a_situation(*, reports: Reports | None = None, **changes: Any) -> HostSituation:
    reports = some_reports(inventory=an_inventory(disks=(BOOT, OTHER))) if reports is None else reports
    return HostSituation(host=a_host(**changes), reports=reports, cluster=a_cluster(), policy=Policy(), now=NOW)


def told(events: tuple[Event, ...]) -> list[tuple[type[Event], object, object]]:
    return [(type(event), event.props()["disk_id"], event.props()["disk_name"]) for event in events]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, [], id="nothing-to-format"),
        pytest.param(
            {"disks_to_be_formatted": (BOOT.id, OTHER.id)},
            [(DiskFormatPerformed, BOOT.id, BOOT.name), (DiskFormatPerformed, OTHER.id, "sdb")],
            id="all",
        ),
        pytest.param(
            {"disks_to_be_formatted": (BOOT.id, OTHER.id), "skip_formatting_disks": (OTHER.id, "/dev/gone")},
            [(DiskFormatPerformed, BOOT.id, BOOT.name), (DiskFormatSkipped, OTHER.id, "sdb")],
            id="one-is-spared-by-its-user",
        ),
        pytest.param(
            {"disks_to_be_formatted": (BOOT.id, OTHER.id), "installer_args": ("--save-partlabel", "data")},
            [(DiskFormatSkipped, BOOT.id, BOOT.name), (DiskFormatPerformed, OTHER.id, "sdb")],
            id="the-installation-disk-keeps-partitions",
        ),
        pytest.param({"skip_formatting_disks": (OTHER.id,)}, [], id="spared-but-never-in-danger"),
    ],
)
def test_formatted_disks(changes: dict[str, Any], expected: list[tuple[type[Event], str, str]]) -> None:
    assert told(disk_formats(a_situation(**changes))) == expected


def test_a_disk_nobody_knows_any_more_has_no_name() -> None:
    facts = a_situation(reports=Reports(), disks_to_be_formatted=("/dev/x",))
    assert told(disk_formats(facts)) == [(DiskFormatPerformed, "/dev/x", "")]


@pytest.mark.parametrize("row_id", ["R5", "I1"])
def test_it_is_told_when_the_installation_begins(row_id: str) -> None:
    facts = a_situation(disks_to_be_formatted=(BOOT.id,))
    assert DiskFormatPerformed in kinds(row_id, facts)


@pytest.mark.parametrize("row_id", ["Z1", "R41"])
def test_a_reset_asks_for_a_boot(row_id: str) -> None:
    assert HostResetNeedsUser in kinds(row_id, a_situation())


def kinds(row_id: str, facts: HostSituation) -> set[type[Event]]:
    (row,) = (row for row in (*REFRESH_TABLE, *TRANSITIONS) if row.id == row_id)
    assert row.tell is not None
    return {type(event) for event in row.tell(facts)}
