"""Inventory, cores, memory."""

import pytest

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import Memory, MemoryMethod, Truncation
from firstlight.core.rules import Status
from tests.builders.facts import host_facts, pool_facts
from tests.builders.hosts import a_host, some_reports
from tests.builders.inventories import MIB, an_inventory
from tests.builders.moments import EARLIER
from tests.core.hosts.rules.judging import ERROR, FAILURE, PENDING, SUCCESS, case, check, finding

NOTHING = host_facts(reports=some_reports(inventory=None))


def cores(count: int) -> HostFacts:
    return host_facts(inventory=an_inventory(cpu_count=count))


def memory(mib: int, method: str = MemoryMethod.DMIDECODE, *, extra_bytes: int = 0) -> HostFacts:
    amount = Memory(physical_bytes=mib * MIB + extra_bytes, usable_bytes=0, method=method)
    return host_facts(inventory=an_inventory(memory=amount))


def truncated(kind: str) -> HostFacts:
    return host_facts(inventory=an_inventory(truncation=Truncation(type=kind, reasons=("too many disks", "too large"))))


def test_has_inventory() -> None:
    check("has-inventory", host_facts(), SUCCESS, "")
    check("has-inventory", NOTHING, FAILURE, "no-inventory")


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("whole", host_facts(), SUCCESS),
        case("partial", truncated("partial"), FAILURE, "inventory-truncated-partially"),
        case("full", truncated("full"), SUCCESS),
        case("unheard-of", truncated("sideways"), ERROR, "unknown-truncation"),
    ],
)
def test_inventory_not_partially_truncated(facts: HostFacts, status: Status, cause: str) -> None:
    check("inventory-not-partially-truncated", facts, status, cause)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("whole", host_facts(), SUCCESS),
        case("partial", truncated("partial"), SUCCESS),
        case("full", truncated("full"), FAILURE, "inventory-truncated-fully"),
        case("unheard-of", truncated(""), ERROR, "unknown-truncation"),
    ],
)
def test_inventory_not_fully_truncated(facts: HostFacts, status: Status, cause: str) -> None:
    check("inventory-not-fully-truncated", facts, status, cause)


def test_truncation_reasons_are_told() -> None:
    found = finding("inventory-not-fully-truncated", truncated("full"))
    assert "too many disks, too large" in found.message
    assert found.evidence["reasons"] == ["too many disks", "too large"]
    bare = host_facts(inventory=an_inventory(truncation=Truncation(type="full")))
    assert "none" in finding("inventory-not-fully-truncated", bare).message


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("one-short", cores(1), FAILURE, "too-few-cores"),
        case("exactly", cores(2), SUCCESS),
        case("one-more", cores(3), SUCCESS),
        case("pool", pool_facts(inventory=an_inventory(cpu_count=1)), FAILURE, "too-few-cores"),
    ],
)
def test_has_min_cpu_cores(facts: HostFacts, status: Status, cause: str) -> None:
    check("has-min-cpu-cores", facts, status, cause)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("exactly", memory(8192), SUCCESS),
        case("firmware-keeps-100-mib", memory(8092), SUCCESS),
        case("a-byte-less", memory(8092, extra_bytes=-1), FAILURE, "too-little-memory"),
        case("a-byte-more", memory(8092, extra_bytes=1), SUCCESS),
        case("meminfo-gets-two-percent-more", memory(8092 - 163, MemoryMethod.MEMINFO), SUCCESS),
        case(
            "meminfo-a-byte-less",
            memory(8092 - 163, MemoryMethod.MEMINFO, extra_bytes=-1),
            FAILURE,
            "too-little-memory",
        ),
        case("ghw-does-not", memory(8091, MemoryMethod.GHW), FAILURE, "too-little-memory"),
        case("unknown-method-does-not", memory(8091, "guess"), FAILURE, "too-little-memory"),
    ],
)
def test_has_min_memory(facts: HostFacts, status: Status, cause: str) -> None:
    check("has-min-memory", facts, status, cause)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("one-short", cores(3), FAILURE, "too-few-cores-for-role"),
        case("exactly", cores(4), SUCCESS),
        case("one-more", cores(5), SUCCESS),
    ],
)
def test_has_cpu_cores_for_role(facts: HostFacts, status: Status, cause: str) -> None:
    check("has-cpu-cores-for-role", facts, status, cause)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("firmware-keeps-100-mib", memory(16284), SUCCESS),
        case("a-byte-less", memory(16284, extra_bytes=-1), FAILURE, "too-little-memory-for-role"),
        case("a-byte-more", memory(16284, extra_bytes=1), SUCCESS),
        case("meminfo-gets-nothing-more", memory(16283, MemoryMethod.MEMINFO), FAILURE, "too-little-memory-for-role"),
    ],
)
def test_has_memory_for_role(facts: HostFacts, status: Status, cause: str) -> None:
    check("has-memory-for-role", facts, status, cause)


@pytest.mark.parametrize(
    ("role", "bodies"),
    [(HostRole.MASTER, [{"host_role": "worker"}]), (HostRole.WORKER, []), (HostRole.AUTO_ASSIGN, [])],
)
def test_a_weak_master_may_become_a_worker(role: HostRole, bodies: list[object]) -> None:
    facts = host_facts(host=a_host(role=role, suggested_role=None), inventory=an_inventory(cpu_count=1, ram_mib=2048))
    for rule_id in ("has-cpu-cores-for-role", "has-memory-for-role"):
        assert [fix.body for fix in finding(rule_id, facts).fixes] == bodies


def test_a_weak_single_node_is_not_offered_to_be_a_worker() -> None:
    host = a_host(role=HostRole.MASTER, suggested_role=None)
    small = an_inventory(cpu_count=1, ram_mib=2048)
    facts = host_facts(host=host, inventory=small, cluster={"control_plane_count": 1})
    for rule_id in ("has-cpu-cores-for-role", "has-memory-for-role"):
        assert finding(rule_id, facts).fixes == ()


def test_numbers_are_evidence() -> None:
    found = finding("has-min-memory", memory(4096))
    assert found.evidence == {"measured_by": "host-1", "found_mib": 4096, "needed_mib": 8192, "method": "dmidecode"}
    assert found.measured_at == EARLIER
