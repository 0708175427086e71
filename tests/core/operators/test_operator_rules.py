"""What operators say of hosts and clusters."""

from typing import Any

import pytest
from msgspec.structs import replace

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.hosts.facts import HostFacts
from firstlight.core.model.cluster_status import ClusterKind
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostKind, HostRole
from firstlight.core.model.inventory import Boot, Cpu, Gpu, Memory
from firstlight.core.model.reports import NO_REPORTS
from firstlight.core.operators.catalogue import OPERATORS
from firstlight.core.operators.rules import (
    cluster_rule_ids,
    host_rule_ids,
    operator_cluster_findings,
    operator_host_findings,
)
from firstlight.core.rules import Finding, Status
from tests.builders.clusters import a_cluster, a_policy
from tests.builders.facts import host_facts, pool_facts
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import GB, GIB, MIB, a_disk, an_inventory
from tests.builders.moments import NOW
from tests.core.operators.choices import chosen

R = HostRole
IDS = sorted(f"{'numa-resources' if name == 'numaresources' else name}-requirements-satisfied" for name in OPERATORS)
GPU_ID = "openshift-ai-gpu-requirements-satisfied"


def on_host(
    name: str,
    *,
    host: dict[str, Any] | None = None,
    roles: dict[HostRole, int] | None = None,
    also: tuple[str, ...] = (),
    reports: Any = None,
    policy: dict[str, Any] | None = None,
    inventory: dict[str, Any] | None = None,
    **cluster: Any,
) -> Finding:
    """What operator `name` says of a host of a cluster of three masters."""
    facts = host_facts(
        host=replace(host_state(1).host, **(host or {})),
        reports=some_reports(1, inventory=an_inventory(1, **(inventory or {}))) if reports is None else reports,
        cluster={"operators": chosen(name, *also)} | cluster,
    )
    counts = {R.MASTER: 3} if roles is None else roles
    facts = replace(facts, context=replace(facts.context, role_counts=counts, policy=a_policy(**(policy or {}))))
    return next(finding for finding in operator_host_findings(facts) if finding.id == OPERATORS[name].rule_id)


def on_cluster(
    name: str, *, hosts: tuple[HostState, ...] = (), also: tuple[str, ...] = (), rule_id: str = "", **cluster: Any
) -> Finding:
    facts = ClusterFacts(
        cluster=a_cluster(operators=chosen(name, *also), **cluster), hosts=hosts, policy=a_policy(), now=NOW
    )
    wanted = rule_id or OPERATORS[name].rule_id
    return next(finding for finding in operator_cluster_findings(facts) if finding.id == wanted)


def some_hosts(**numbers: int) -> tuple[HostState, ...]:
    """Hosts by role, each with one spare disk of 100 GB."""
    spare = an_inventory(1, disks=(a_disk(1), a_disk(2, size_bytes=100 * GB)))
    roles = [R(name.replace("_", "-")) for name, number in numbers.items() for _ in range(number)]
    return tuple(
        host_state(number, role=role, suggested_role=None, reports=some_reports(number, inventory=spare))
        for number, role in enumerate(roles, start=1)
    )


def test_every_operator_always_has_its_finding() -> None:
    findings = operator_host_findings(host_facts())
    assert [finding.id for finding in findings] == IDS
    assert host_rule_ids() == set(IDS)
    assert {finding.status for finding in findings} == {Status.SUCCESS}
    assert {finding.category for finding in findings} == {"operators"}
    assert findings[0].message == "amd-gpu is disabled"
    of_cluster = operator_cluster_findings(ClusterFacts(cluster=a_cluster(), hosts=(), policy=a_policy(), now=NOW))
    assert [finding.id for finding in of_cluster] == sorted([*IDS, GPU_ID])
    assert cluster_rule_ids() == {*IDS, GPU_ID}


def test_chosen_operators_keep_the_order() -> None:
    facts = host_facts(cluster={"operators": chosen(*OPERATORS)})
    assert [finding.id for finding in operator_host_findings(facts)] == IDS
    every = ClusterFacts(cluster=a_cluster(operators=chosen(*OPERATORS)), hosts=(), policy=a_policy(), now=NOW)
    assert [finding.id for finding in operator_cluster_findings(every)] == sorted([*IDS, GPU_ID])


def test_nothing_is_asked_of_pool_hosts() -> None:
    assert operator_host_findings(pool_facts()) == ()


@pytest.mark.parametrize(
    "facts",
    [
        host_facts(cluster={"kind": ClusterKind.ADD_HOSTS, "operators": chosen("odf")}),
        host_facts(host=replace(host_state(1).host, kind=HostKind.DAY_TWO), cluster={"operators": chosen("odf")}),
    ],
)
def test_nothing_is_asked_of_hosts_that_join_later(facts: HostFacts) -> None:
    findings = operator_host_findings(facts)
    assert [finding.id for finding in findings] == IDS
    assert all(finding.status is Status.SUCCESS and "added" in finding.message for finding in findings)


def test_nothing_is_asked_of_a_running_cluster() -> None:
    cluster = a_cluster(kind=ClusterKind.ADD_HOSTS, operators=chosen("odf"))
    findings = operator_cluster_findings(ClusterFacts(cluster=cluster, hosts=(), policy=a_policy(), now=NOW))
    assert all(finding.status is Status.SUCCESS for finding in findings)


def test_checks_can_be_switched_off() -> None:
    off = frozenset({"cnv-requirements-satisfied"})
    for findings in (
        operator_host_findings(host_facts(cluster={"operators": chosen("cnv")}), disabled=off),
        operator_cluster_findings(
            ClusterFacts(cluster=a_cluster(operators=chosen("cnv")), hosts=(), policy=a_policy(), now=NOW), disabled=off
        ),
    ):
        assert {finding.id for finding in findings if finding.status is Status.DISABLED} == off


LOOKS_AT_INVENTORY = ["amd-gpu", "cnv", "kmm", "lvm", "mce", "mtv", "nvidia-gpu", "odf", "openshift-ai", "osc"]


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_without_inventory_those_that_look_at_it_wait(name: str) -> None:
    expected = Status.PENDING if name in LOOKS_AT_INVENTORY else Status.SUCCESS
    assert on_host(name, reports=NO_REPORTS).status is expected


def memory(mib: int) -> Memory:
    return Memory(physical_bytes=1 << 50, usable_bytes=mib * MIB)


SPARE = (a_disk(1), a_disk(2, size_bytes=100 * GB))


@pytest.mark.parametrize(
    ("name", "parts", "status"),
    [
        # Own CPU and memory, at the edge and one below
        ("mce", {"inventory": {"cpu_count": 4, "memory": memory(16384)}}, Status.SUCCESS),
        ("mce", {"inventory": {"cpu_count": 3, "memory": memory(16384)}}, Status.FAILURE),
        ("mce", {"inventory": {"cpu_count": 4, "memory": memory(16383)}}, Status.FAILURE),
        ("mce", {"inventory": {"cpu_count": 8, "memory": memory(32768)}, "control_plane_count": 1}, Status.SUCCESS),
        ("mce", {"inventory": {"cpu_count": 7, "memory": memory(32768)}, "control_plane_count": 1}, Status.FAILURE),
        ("mce", {"inventory": {"cpu_count": 0}, "host": {"role": R.ARBITER}}, Status.SUCCESS),
        ("mtv", {"inventory": {"cpu_count": 1, "memory": memory(1024)}}, Status.SUCCESS),
        ("mtv", {"inventory": {"cpu_count": 1, "memory": memory(1023)}}, Status.FAILURE),
        ("mtv", {"inventory": {"cpu_count": 0}, "host": {"role": R.ARBITER}}, Status.SUCCESS),
        ("osc", {"inventory": {"cpu_count": 1, "memory": memory(1024)}}, Status.SUCCESS),
        ("osc", {"inventory": {"cpu_count": 0, "memory": memory(1024)}}, Status.FAILURE),
        (
            "openshift-ai",
            {"inventory": {"cpu_count": 8, "memory": memory(32768)}, "host": {"role": R.WORKER}},
            Status.SUCCESS,
        ),
        (
            "openshift-ai",
            {"inventory": {"cpu_count": 7, "memory": memory(32768)}, "host": {"role": R.WORKER}},
            Status.FAILURE,
        ),
        (
            "openshift-ai",
            {"inventory": {"cpu_count": 8, "memory": memory(32767)}, "host": {"role": R.WORKER}},
            Status.FAILURE,
        ),
        ("openshift-ai", {"inventory": {"cpu_count": 1}, "host": {"role": R.MASTER}}, Status.SUCCESS),
        # Virtualization
        ("cnv", {"inventory": {"cpu_count": 4, "memory": memory(150)}}, Status.SUCCESS),
        ("cnv", {"inventory": {"cpu_count": 3, "memory": memory(150)}}, Status.FAILURE),
        ("cnv", {"inventory": {"cpu_count": 4, "memory": memory(149)}}, Status.FAILURE),
        ("cnv", {"inventory": {"cpu_count": 2, "memory": memory(360)}, "host": {"role": R.WORKER}}, Status.SUCCESS),
        ("cnv", {"inventory": {"cpu_count": 2, "memory": memory(359)}, "host": {"role": R.WORKER}}, Status.FAILURE),
        ("cnv", {"inventory": {"cpu_count": 6, "memory": memory(510)}, "control_plane_count": 1}, Status.SUCCESS),
        ("cnv", {"inventory": {"cpu_count": 5, "memory": memory(510)}, "control_plane_count": 1}, Status.FAILURE),
        (
            "cnv",
            {"inventory": {"cpu_count": 0, "cpu": Cpu(count=0, flags=("svm",))}, "host": {"role": R.ARBITER}},
            Status.SUCCESS,
        ),
        ("cnv", {"inventory": {"cpu": Cpu(count=8, flags=("fpu",))}}, Status.FAILURE),
        ("cnv", {"inventory": {"cpu": Cpu(count=8, flags=("svm",))}}, Status.SUCCESS),
        ("cnv", {"inventory": {"cpu": Cpu(count=8, architecture="aarch64")}}, Status.SUCCESS),
        ("cnv", {"host": {"suggested_role": None}}, Status.FAILURE),
        ("cnv", {"control_plane_count": 1, "openshift_version": "4.11.0"}, Status.FAILURE),
        ("cnv", {"control_plane_count": 1, "openshift_version": "4.9.0"}, Status.SUCCESS),
        ("cnv", {"control_plane_count": 1, "openshift_version": "4.12.0"}, Status.SUCCESS),
        (
            "cnv",
            {"control_plane_count": 1, "openshift_version": "4.11.0", "policy": {"cnv_hostpath_on_single_node": False}},
            Status.SUCCESS,
        ),
        (
            "cnv",
            {
                "control_plane_count": 1,
                "openshift_version": "4.10.0",
                "inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=50 * GIB))},
            },
            Status.FAILURE,
        ),
        (
            "cnv",
            {
                "control_plane_count": 1,
                "openshift_version": "4.10.0",
                "inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=50 * GIB + 1))},
            },
            Status.SUCCESS,
        ),
        # Volumes
        ("lvm", {"inventory": {"disks": SPARE}}, Status.SUCCESS),
        ("lvm", {}, Status.FAILURE),
        ("lvm", {"inventory": {"disks": (a_disk(1), a_disk(2, drive_type="iSCSI"))}}, Status.FAILURE),
        ("lvm", {"inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=0))}}, Status.FAILURE),
        ("lvm", {"host": {"role": R.ARBITER}}, Status.SUCCESS),
        ("lvm", {"schedulable_masters_forced": False}, Status.SUCCESS),
        ("lvm", {"schedulable_masters_forced": False, "schedulable_masters": True}, Status.FAILURE),
        ("lvm", {"schedulable_masters_forced": False, "host": {"role": R.WORKER}}, Status.FAILURE),
        ("lvm", {"schedulable_masters_forced": False, "host": {"suggested_role": None}}, Status.FAILURE),
        ("lvm", {"host": {"suggested_role": None}, "inventory": {"disks": SPARE}}, Status.SUCCESS),
        ("lvm", {"also": ("mce",), "inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=50 * GB))}}, Status.SUCCESS),
        (
            "lvm",
            {"also": ("mce",), "inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=50 * GB - 1))}},
            Status.FAILURE,
        ),
        (
            "lvm",
            {
                "also": ("mce",),
                "control_plane_count": 1,
                "inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=70 * GB))},
            },
            Status.SUCCESS,
        ),
        (
            "lvm",
            {
                "also": ("mce",),
                "control_plane_count": 1,
                "inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=70 * GB - 1))},
            },
            Status.FAILURE,
        ),
        # Data Foundation
        ("odf", {"inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=25 * GB))}}, Status.SUCCESS),
        ("odf", {"inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=25 * GB - 1))}}, Status.FAILURE),
        ("odf", {}, Status.FAILURE),
        (
            "odf",
            {"also": ("mce",), "inventory": {"disks": (a_disk(1), a_disk(2, size_bytes=50 * GB - 1))}},
            Status.FAILURE,
        ),
        ("odf", {"roles": {R.AUTO_ASSIGN: 3}, "inventory": {"disks": SPARE}}, Status.SUCCESS),
        ("odf", {"roles": {R.AUTO_ASSIGN: 4}, "inventory": {"disks": SPARE}}, Status.PENDING),
        ("odf", {"roles": {R.MASTER: 3, R.WORKER: 3}, "host": {"role": R.MASTER}}, Status.SUCCESS),
        ("odf", {"roles": {R.MASTER: 3, R.WORKER: 3}, "host": {"role": R.WORKER}}, Status.FAILURE),
        ("odf", {"roles": {R.MASTER: 3, R.WORKER: 2}, "host": {"role": R.WORKER}}, Status.SUCCESS),
        # Accelerators
        ("nvidia-gpu", {"inventory": {"boot": Boot(secure_boot="Enabled")}}, Status.SUCCESS),
        (
            "nvidia-gpu",
            {"inventory": {"boot": Boot(secure_boot="Enabled"), "gpus": (Gpu(vendor_id="10de"),)}},
            Status.FAILURE,
        ),
        (
            "nvidia-gpu",
            {"inventory": {"boot": Boot(secure_boot="Disabled"), "gpus": (Gpu(vendor_id="10de"),)}},
            Status.SUCCESS,
        ),
        (
            "amd-gpu",
            {"inventory": {"boot": Boot(secure_boot="Enabled"), "gpus": (Gpu(vendor_id="10de"),)}},
            Status.SUCCESS,
        ),
        (
            "amd-gpu",
            {"inventory": {"boot": Boot(secure_boot="Enabled"), "gpus": (Gpu(vendor_id="1002"),)}},
            Status.FAILURE,
        ),
        ("kmm", {"inventory": {"boot": Boot(secure_boot="Enabled")}}, Status.FAILURE),
        ("kmm", {"inventory": {"boot": Boot(secure_boot="NotSupported")}}, Status.SUCCESS),
    ],
)
def test_hosts(name: str, parts: dict[str, Any], status: Status) -> None:
    finding = on_host(name, **parts)
    assert finding.status is status, finding.message
    assert finding.message.endswith(".")
    assert bool(finding.cause) is (status is not Status.SUCCESS)


def test_both_shortages_are_named() -> None:
    finding = on_host("mce", inventory={"cpu_count": 1, "memory": memory(10)})
    assert "4 CPU cores, found 1" in finding.message
    assert "16384 MiB of usable memory, found 10 MiB" in finding.message
    assert finding.evidence["usable_ram_mib"] == 10


GPU_MEMBER = host_state(
    1, reports=some_reports(1, inventory=an_inventory(1, gpus=(Gpu(vendor_id="10de"), Gpu(vendor_id="1002"))))
)


def with_role(member: HostState, role: HostRole) -> HostState:
    return replace(member, host=replace(member.host, role=role))


@pytest.mark.parametrize(
    ("name", "parts", "status"),
    [
        ("odf", {"hosts": some_hosts(master=3)}, Status.SUCCESS),
        ("odf", {"hosts": some_hosts(auto_assign=3)}, Status.SUCCESS),
        ("odf", {"hosts": some_hosts(auto_assign=4)}, Status.FAILURE),
        ("odf", {"hosts": some_hosts(master=2, arbiter=1)}, Status.SUCCESS),
        ("odf", {"hosts": some_hosts(master=2)}, Status.FAILURE),
        ("odf", {"hosts": some_hosts(master=3, worker=1)}, Status.FAILURE),
        ("odf", {"hosts": some_hosts(master=3, worker=2)}, Status.FAILURE),
        ("odf", {"hosts": some_hosts(master=3, worker=3)}, Status.SUCCESS),
        ("odf", {"hosts": some_hosts(master=2, arbiter=1, worker=3)}, Status.SUCCESS),
        ("odf", {"hosts": some_hosts(master=2, worker=3)}, Status.FAILURE),
        ("odf", {"hosts": (*some_hosts(master=3)[:2], host_state(3, role=R.MASTER))}, Status.FAILURE),
        (
            "odf",
            {"hosts": (*some_hosts(master=3)[:2], host_state(3, role=R.MASTER, reports=NO_REPORTS))},
            Status.PENDING,
        ),
        (
            "odf",
            {
                "hosts": (
                    *some_hosts(master=3, worker=3),
                    host_state(9, role=R.AUTO_ASSIGN, suggested_role=R.WORKER, reports=NO_REPORTS),
                )
            },
            Status.SUCCESS,
        ),
        ("lvm", {"openshift_version": "4.15.0"}, Status.SUCCESS),
        ("lvm", {"openshift_version": "4.14.0"}, Status.FAILURE),
        ("lvm", {"openshift_version": "4.11.0", "control_plane_count": 1}, Status.SUCCESS),
        ("lvm", {"openshift_version": "4.10.0", "control_plane_count": 1}, Status.FAILURE),
        ("lvm", {"openshift_version": "4.11.0", "control_plane_count": 1, "also": ("cnv",)}, Status.FAILURE),
        ("lvm", {"openshift_version": "4.12.0", "control_plane_count": 1, "also": ("cnv",)}, Status.SUCCESS),
        ("mce", {"openshift_version": "4.10.0"}, Status.SUCCESS),
        ("mce", {"openshift_version": "4.9.9"}, Status.FAILURE),
        ("mce", {"openshift_version": ""}, Status.FAILURE),
        ("mtv", {"openshift_version": "4.14.0"}, Status.SUCCESS),
        ("mtv", {"openshift_version": "4.13.0"}, Status.FAILURE),
        ("mtv", {"cpu_architecture": "arm64"}, Status.FAILURE),
        ("osc", {"openshift_version": "4.10.0"}, Status.SUCCESS),
        ("osc", {"openshift_version": "4.9.0"}, Status.FAILURE),
        ("nmstate", {"openshift_version": "4.12.0"}, Status.SUCCESS),
        ("nmstate", {"openshift_version": "4.11.0"}, Status.FAILURE),
        ("nmstate", {"cpu_architecture": "s390x"}, Status.FAILURE),
        ("nmstate", {"cpu_architecture": "multi"}, Status.SUCCESS),
        ("cnv", {}, Status.SUCCESS),
        ("cnv", {"cpu_architecture": "ppc64le"}, Status.FAILURE),
        ("cnv", {"cpu_architecture": "arm64", "openshift_version": "4.14.0"}, Status.SUCCESS),
        ("cnv", {"cpu_architecture": "arm64", "openshift_version": "4.13.0"}, Status.FAILURE),
        ("loki", {"openshift_version": "4.17.0"}, Status.SUCCESS),
        ("loki", {"openshift_version": "4.16.0"}, Status.FAILURE),
        ("openshift-logging", {"openshift_version": "4.16.0"}, Status.FAILURE),
        ("openshift-ai", {"hosts": some_hosts(master=3, worker=2)}, Status.SUCCESS),
        ("openshift-ai", {"hosts": some_hosts(master=3, worker=1)}, Status.FAILURE),
        ("openshift-ai", {"control_plane_count": 1}, Status.SUCCESS),
        ("nvidia-gpu", {}, Status.FAILURE),
        ("nvidia-gpu", {"hosts": (GPU_MEMBER,)}, Status.SUCCESS),
        ("amd-gpu", {"hosts": (GPU_MEMBER,)}, Status.SUCCESS),
        ("nvidia-gpu", {"hosts": (GPU_MEMBER,), "schedulable_masters_forced": False}, Status.FAILURE),
        (
            "nvidia-gpu",
            {"hosts": (with_role(GPU_MEMBER, R.WORKER),), "schedulable_masters_forced": False},
            Status.SUCCESS,
        ),
        ("nvidia-gpu", {"hosts": (with_role(GPU_MEMBER, R.ARBITER),)}, Status.FAILURE),
        ("nvidia-gpu", {"hosts": (host_state(1, reports=NO_REPORTS),)}, Status.FAILURE),
    ],
)
def test_clusters(name: str, parts: dict[str, Any], status: Status) -> None:
    finding = on_cluster(name, **parts)
    assert finding.status is status, finding.message
    assert finding.message.endswith(".")


CONTENT = sorted(
    set(OPERATORS)
    - {
        "odf",
        "lvm",
        "mce",
        "mtv",
        "osc",
        "nmstate",
        "cnv",
        "loki",
        "openshift-logging",
        "openshift-ai",
        "nvidia-gpu",
        "amd-gpu",
    }
)


@pytest.mark.parametrize("name", CONTENT)
def test_the_others_fit_every_cluster(name: str) -> None:
    assert on_cluster(name, openshift_version="4.1.0", cpu_architecture="s390x").status is Status.SUCCESS


def test_gpus_are_only_a_note() -> None:
    without = on_cluster("openshift-ai", rule_id=GPU_ID)
    assert (without.status, "without GPUs" in without.message) == (Status.SUCCESS, True)
    assert "part of the cluster" in on_cluster("openshift-ai", also=("amd-gpu",), rule_id=GPU_ID).message
