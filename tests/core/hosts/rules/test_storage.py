"""Installation disk, kept disks, disk UUIDs, iSCSI paths."""

from typing import Any

import pytest

from firstlight.core.hosts.facts import DiskVerdict, HostFacts
from firstlight.core.model.cluster_status import ClusterKind
from firstlight.core.model.inventory import Disk, SystemVendor
from firstlight.core.model.reports import DiskSpeed
from firstlight.core.rules import Status
from tests.builders.facts import host_facts, pool_facts
from tests.builders.hosts import a_host, some_reports
from tests.builders.inventories import a_disk, an_interface, an_inventory
from tests.builders.moments import EARLIER
from tests.core.hosts.rules.judging import ERROR, FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding

NOTHING = host_facts(reports=some_reports(inventory=None))
ONE, TWO = a_disk(1), a_disk(2)


def disks(*given: Disk, **changes: Any) -> HostFacts:
    return host_facts(inventory=an_inventory(disks=given), **changes)


REFUSED = a_disk(1, refusals=("is mounted",))


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("one", host_facts(), SUCCESS),
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("no-disk-at-all", disks(), ERROR, "no-disks"),
        case("refused", disks(REFUSED), FAILURE, "no-eligible-disk"),
        case("one-of-two", disks(REFUSED, TWO), SUCCESS),
        case("pool", pool_facts(inventory=an_inventory(disks=(REFUSED,))), FAILURE, "no-eligible-disk"),
    ],
)
def test_has_min_valid_disks(facts: HostFacts, status: Status, cause: str) -> None:
    check("has-min-valid-disks", facts, status, cause)


def test_reasons_of_agent_and_service_are_evidence() -> None:
    verdicts = (DiskVerdict(id=REFUSED.id, eligible=False, problems=("Too small.",)),)
    found = finding("has-min-valid-disks", disks(REFUSED, disks=verdicts))
    assert found.evidence["disks"] == ["/dev/sda: is mounted Too small."]


def measured(speeds: dict[str, DiskSpeed] | None, **host: Any) -> HostFacts:
    return host_facts(
        host=a_host(**host),
        reports=some_reports(disk_speeds=speeds, inventory=an_inventory(disks=(ONE, TWO))),
    )


OK, BAD = DiskSpeed(exit_code=0, speed_ms=4), DiskSpeed(exit_code=1)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("not-measured", measured(None), SUCCESS),
        case("another-measured", measured({TWO.id: BAD}), SUCCESS),
        case("fine", measured({ONE.id: OK}), SUCCESS),
        case("slow-is-only-an-event", measured({ONE.id: DiskSpeed(exit_code=0, speed_ms=900)}), SUCCESS),
        case("failed", measured({ONE.id: BAD}), FAILURE, "disk-speed-not-measured"),
        case("killed", measured({ONE.id: DiskSpeed(exit_code=-1)}), FAILURE, "disk-speed-not-measured"),
        case("failed-by-path", measured({ONE.path: BAD}), FAILURE, "disk-speed-not-measured"),
        case("id-before-path", measured({ONE.path: BAD, ONE.id: OK}), SUCCESS),
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case(
            "no-installation-disk",
            measured(None, installation_disk_id="", installation_disk_path=""),
            ERROR,
            "no-installation-disk",
        ),
    ],
)
def test_sufficient_installation_disk_speed(facts: HostFacts, status: Status, cause: str) -> None:
    check("sufficient-installation-disk-speed", facts, status, cause)


def test_why_a_disk_was_not_written_to_is_told() -> None:
    refusal = DiskSpeed(exit_code=-1, error="/dev/sda is in use and was not written to: sda1 is mounted at /data.")
    found = finding("sufficient-installation-disk-speed", measured({ONE.id: refusal}))
    assert "was not written to: sda1 is mounted at /data. Check the disk" in found.message


@pytest.mark.parametrize(
    ("host", "bodies"),
    [
        pytest.param({}, [{"disks_selected_config": [{"id": TWO.id, "role": "install"}]}], id="another-disk"),
        pytest.param({"skip_formatting_disks": (TWO.id,)}, [], id="kept-disks-are-not-offered"),
    ],
)
def test_another_disk_is_offered(host: dict[str, Any], bodies: list[object]) -> None:
    found = finding("sufficient-installation-disk-speed", measured({ONE.id: BAD}, **host))
    assert [fix.body for fix in found.fixes] == bodies
    assert found.measured_at == EARLIER


VMWARE = SystemVendor(manufacturer="VMware, Inc.")
HIDDEN = a_disk(1, has_uuid=False)


def on_vmware(*given: Disk) -> HostFacts:
    return host_facts(inventory=an_inventory(vendor=VMWARE, disks=given))


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("other-manufacturer", disks(HIDDEN), SUPPRESSED),
        case("no-manufacturer", host_facts(inventory=an_inventory(vendor=None, disks=(HIDDEN,))), SUPPRESSED),
        case("pool", pool_facts(inventory=an_inventory(vendor=VMWARE, disks=(HIDDEN,))), SUPPRESSED),
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("no-disks", on_vmware(), PENDING, "no-disks"),
        case("shown", on_vmware(ONE), SUCCESS),
        case("hidden", on_vmware(HIDDEN), FAILURE, "disk-uuid-hidden"),
        case("hidden-on-one-of-two", on_vmware(HIDDEN, TWO), FAILURE, "disk-uuid-hidden"),
        case("hidden-on-a-refused-disk", on_vmware(a_disk(1, has_uuid=False, refusals=("mounted",))), SUCCESS),
        case("hidden-on-an-optical-drive", on_vmware(TWO, a_disk(1, has_uuid=False, drive_type="ODD")), SUCCESS),
    ],
)
def test_vsphere_disk_uuid_enabled(facts: HostFacts, status: Status, cause: str) -> None:
    check("vsphere-disk-uuid-enabled", facts, status, cause)


def keeping(*ids: str, **changes: Any) -> HostFacts:
    return host_facts(host=a_host(skip_formatting_disks=ids), inventory=an_inventory(disks=(ONE, TWO)), **changes)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("none-kept", keeping(), SUCCESS),
        case("another-kept", keeping(TWO.id), SUCCESS),
        case("installation-disk-kept", keeping(ONE.id), FAILURE, "installation-disk-kept"),
        case("installation-disk-kept-by-path", keeping(ONE.path), FAILURE, "installation-disk-kept"),
        case(
            "nothing-yet",
            host_facts(host=a_host(skip_formatting_disks=(ONE.id,)), reports=some_reports(inventory=None)),
            FAILURE,
            "installation-disk-kept",
        ),
        case(
            "no-installation-disk",
            host_facts(host=a_host(skip_formatting_disks=("",), installation_disk_id="", installation_disk_path="")),
            SUCCESS,
        ),
    ],
)
def test_no_skip_installation_disk(facts: HostFacts, status: Status, cause: str) -> None:
    check("no-skip-installation-disk", facts, status, cause)


def test_both_ways_out_are_offered() -> None:
    bodies = [fix.body for fix in finding("no-skip-installation-disk", keeping(ONE.id)).fixes]
    assert bodies == [
        {"disks_skip_formatting": [{"disk_id": ONE.id, "skip_formatting": False}]},
        {"disks_selected_config": [{"id": TWO.id, "role": "install"}]},
    ]


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("none-kept", keeping(), SUCCESS),
        case("present", keeping(ONE.id, TWO.id), SUCCESS),
        case("gone", keeping(TWO.id, "/dev/disk/by-id/gone"), FAILURE, "kept-disk-missing"),
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
    ],
)
def test_no_skip_missing_disk(facts: HostFacts, status: Status, cause: str) -> None:
    check("no-skip-missing-disk", facts, status, cause)


STORAGE_NIC = an_interface(2, name="enp2s0", ipv4=("198.51.100.1/24",))


def iscsi(address: str, **cluster: Any) -> HostFacts:
    disk = a_disk(1, drive_type="iSCSI", iscsi_host_ip=address)
    inventory = an_inventory(disks=(disk,), interfaces=(an_interface(), STORAGE_NIC))
    return host_facts(inventory=inventory, cluster=cluster)


def multipath(*paths: Disk) -> HostFacts:
    device = a_disk(1, name="dm-0", path="/dev/dm-0", drive_type="Multipath")
    inventory = an_inventory(disks=(device, *paths), interfaces=(an_interface(), STORAGE_NIC))
    return host_facts(inventory=inventory)


def path(number: int, address: str, kind: str = "iSCSI", holder: str = "dm-0") -> Disk:
    return a_disk(number, drive_type=kind, iscsi_host_ip=address, holders=(holder,))


IN, OUT = "192.0.2.11", "198.51.100.1"


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("local-disk", host_facts(), SUPPRESSED),
        case("pool", pool_facts(), SUPPRESSED),
        case("user-managed", iscsi(IN, user_managed_networking=True), SUPPRESSED),
        case(
            "user-managed-single-node",
            iscsi(IN, user_managed_networking=True, control_plane_count=1),
            FAILURE,
            "iscsi-in-machine-network",
        ),
        case("imported", iscsi(IN, imported=True), SUPPRESSED),
        case("day-2", iscsi(IN, kind=ClusterKind.ADD_HOSTS), SUPPRESSED),
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case(
            "no-installation-disk",
            host_facts(host=a_host(installation_disk_id="", installation_disk_path="")),
            SUPPRESSED,
        ),
        case("no-machine-network", iscsi(IN, machine_networks=()), PENDING, "no-machine-network"),
        case("outside", iscsi(OUT), SUCCESS),
        case("inside", iscsi(IN), FAILURE, "iscsi-in-machine-network"),
        case("interface-unknown", iscsi("203.0.113.1"), ERROR, "iscsi-interface-unknown"),
        case("no-address", iscsi(""), ERROR, "iscsi-interface-unknown"),
        case("multipath-outside", multipath(path(2, OUT), path(3, OUT)), SUCCESS),
        case("multipath-one-inside", multipath(path(2, OUT), path(3, IN)), FAILURE, "iscsi-in-machine-network"),
        case("multipath-over-fc", multipath(path(2, IN, "FC")), SUPPRESSED),
        case("path-of-another-device", multipath(path(2, IN, holder="dm-01")), SUPPRESSED),
    ],
)
def test_no_iscsi_nic_belongs_to_machine_cidr(facts: HostFacts, status: Status, cause: str) -> None:
    check("no-iscsi-nic-belongs-to-machine-cidr", facts, status, cause)
