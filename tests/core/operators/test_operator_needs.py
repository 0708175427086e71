"""What operators add to the needs of a host, and what preflight tells about it."""

from typing import Any

import pytest

from firstlight.core.model.cluster import Cluster, DiskEncryption
from firstlight.core.model.cluster_status import ClusterKind, EncryptionMode
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import Gpu
from firstlight.core.model.reports import NO_REPORTS
from firstlight.core.operators.catalogue import OPERATORS
from firstlight.core.operators.requirements import cluster_preflight, host_requirements
from firstlight.core.operators.spec import count_roles
from tests.builders.clusters import a_cluster, a_policy
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import GB, a_disk, an_interface, an_inventory
from tests.core.operators.choices import chosen

R = HostRole
IDS = sorted(f"{'numa-resources' if name == 'numaresources' else name}-requirements-satisfied" for name in OPERATORS)
GPU_ID = "openshift-ai-gpu-requirements-satisfied"


def added(cluster: Cluster, member: HostState, roles: dict[HostRole, int]) -> tuple[int, int, int]:
    minimum = a_policy().hardware[0].master
    found = host_requirements(member, cluster, a_policy(), minimum, roles=roles)
    assert found.network_latency_threshold_ms == minimum.network_latency_threshold_ms
    return (
        found.cpu_cores - minimum.cpu_cores,
        found.ram_mib - minimum.ram_mib,
        found.disk_size_gb - minimum.disk_size_gb,
    )


def spare_disks(number: int) -> dict[str, Any]:
    disks = tuple(a_disk(index, size_bytes=25 * GB) for index in range(1, number + 2))
    return {"reports": some_reports(1, inventory=an_inventory(1, disks=disks))}


MASTERS, MIXED = {R.MASTER: 3}, {R.MASTER: 3, R.WORKER: 3}
DEVICES = {
    "reports": some_reports(
        1,
        inventory=an_inventory(
            1,
            gpus=(Gpu(vendor_id="10DE", device_id="1db6"), Gpu(vendor_id="10de", device_id="9999")),
            interfaces=(
                an_interface(1, vendor="0x8086", product="0x158b"),
                an_interface(2, vendor="0x8086", product="0x1"),
            ),
        ),
    )
}


@pytest.mark.parametrize(
    ("names", "cluster", "host", "roles", "need"),
    [
        ((), {}, {}, MASTERS, (0, 0)),
        (("lso", "console"), {}, {}, MASTERS, (0, 0)),
        (("odf",), {}, {"role": R.MASTER}, MASTERS, (8, 24 * 1024)),
        (("odf",), {}, {"role": R.MASTER, **spare_disks(1)}, MASTERS, (8, 24 * 1024)),
        (("odf",), {}, {"role": R.MASTER, **spare_disks(3)}, MASTERS, (12, 34 * 1024)),
        (("odf",), {}, {"role": R.MASTER}, MIXED, (0, 0)),
        (("odf",), {}, {"role": R.WORKER}, MIXED, (8, 19 * 1024)),
        (("odf",), {}, {"role": R.WORKER, **spare_disks(2)}, MIXED, (12, 29 * 1024)),
        (("odf",), {}, {"role": R.WORKER}, {R.MASTER: 3, R.WORKER: 1}, (0, 0)),
        (("odf",), {}, {"role": R.AUTO_ASSIGN}, {R.AUTO_ASSIGN: 5}, (0, 0)),
        (("odf",), {}, {}, {}, (0, 0)),
        (("cnv",), {}, {"role": R.MASTER, **DEVICES}, MASTERS, (4, 150)),
        (("cnv",), {}, {"role": R.WORKER, **DEVICES}, MASTERS, (2, 360 + 2048)),
        (("cnv",), {"control_plane_count": 1}, {"role": R.MASTER, **DEVICES}, MASTERS, (6, 510 + 2048)),
        (("cnv",), {}, {"role": R.ARBITER}, MASTERS, (0, 0)),
        (("cnv",), {}, {"role": R.WORKER, "reports": NO_REPORTS}, MASTERS, (2, 360)),
        (("lvm",), {"openshift_version": "4.12.9"}, {}, MASTERS, (1, 1200)),
        (("lvm",), {"openshift_version": "4.13.0"}, {}, MASTERS, (1, 400)),
        (("lvm",), {"openshift_version": "4.15.9"}, {}, MASTERS, (1, 400)),
        (("lvm",), {"openshift_version": "4.16.0"}, {}, MASTERS, (1, 100)),
        (("lvm",), {"schedulable_masters_forced": False}, {}, MASTERS, (0, 0)),
        (("lvm",), {"schedulable_masters_forced": False}, {"role": R.WORKER}, MASTERS, (1, 100)),
        (("lvm",), {}, {"role": R.ARBITER}, MASTERS, (0, 0)),
        (("mce",), {}, {}, MASTERS, (4, 16384)),
        (("mce",), {"control_plane_count": 1}, {}, MASTERS, (8, 32768)),
        (("mce",), {}, {"role": R.ARBITER}, MASTERS, (0, 0)),
        (("mtv", "osc", "mce"), {}, {}, MASTERS, (6, 18432)),
        (("openshift-ai",), {}, {"role": R.WORKER}, MASTERS, (8, 32768)),
        (("openshift-ai",), {}, {"role": R.MASTER}, MASTERS, (0, 0)),
        (("mce",), {"kind": ClusterKind.ADD_HOSTS}, {}, MASTERS, (0, 0)),
    ],
)
def test_needs_add_up(
    names: tuple[str, ...],
    cluster: dict[str, Any],
    host: dict[str, Any],
    roles: dict[HostRole, int],
    need: tuple[int, int],
) -> None:
    found = added(a_cluster(operators=chosen(*names), **cluster), host_state(1, **host), roles)
    assert found == (*need, 0)


def test_roles_are_counted_as_the_user_gave_them() -> None:
    hosts = (host_state(1), host_state(2, role=R.BOOTSTRAP), host_state(3, role=R.MASTER), host_state(4, role=R.WORKER))
    assert count_roles(hosts) == {R.AUTO_ASSIGN: 1, R.MASTER: 2, R.WORKER: 1}


def test_preflight_names_every_operator() -> None:
    found = cluster_preflight(a_cluster(), a_policy())
    assert [operator.name for operator in found.operators] == sorted(OPERATORS)
    by_name = {operator.name: operator for operator in found.operators}
    assert by_name["odf"].dependencies == ("lso",)
    assert by_name["odf"].preflight.master.cpu_cores == 6
    assert by_name["odf"].preflight.worker.ram_mib == 19 * 1024
    assert by_name["cnv"].preflight.master.cpu_cores == 4
    assert by_name["mtv"].preflight.worker.ram_mib == 1024
    assert by_name["lvm"].preflight.master.ram_mib == 100
    assert by_name["openshift-ai"].preflight.worker.cpu_cores == 8
    assert by_name["mce"].preflight.master.ram_mib == 16384
    assert by_name["loki"].preflight.master.cpu_cores == 0
    assert (found.master.minimum.cpu_cores, found.worker.minimum.cpu_cores) == (4, 2)


def test_preflight_of_one_node() -> None:
    found = cluster_preflight(a_cluster(control_plane_count=1, openshift_version="4.11.0"), a_policy())
    by_name = {operator.name: operator for operator in found.operators}
    assert found.master.minimum.cpu_cores == 8
    assert by_name["cnv"].preflight.master.cpu_cores == 6
    assert any("50 GiB" in note for note in by_name["cnv"].preflight.master_notes)
    assert by_name["openshift-ai"].dependencies == ("lvm",)


@pytest.mark.parametrize(
    ("enable_on", "mode", "tpm"),
    [
        ("none", "tpmv2", (False, False)),
        ("all", "tpmv2", (True, True)),
        ("masters", "tpmv2", (True, False)),
        ("arbiters,workers", "tpmv2", (False, True)),
        ("all", "tang", (False, False)),
    ],
)
def test_preflight_says_where_a_tpm_is_needed(enable_on: str, mode: str, tpm: tuple[bool, bool]) -> None:
    encryption = DiskEncryption(enable_on=enable_on, mode=EncryptionMode(mode))
    found = cluster_preflight(a_cluster(disk_encryption=encryption), a_policy())
    assert (found.master.needs_tpm, found.worker.needs_tpm) == tpm
