"""Whatever agents send and users store, every rule answers."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import json

from firstlight.core.hosts.disks import choose_installation_disk, disks_to_be_formatted, judge_disks
from firstlight.core.hosts.facts import HostContext, HostFacts, Peer
from firstlight.core.hosts.rules import host_rules
from firstlight.core.hosts.rules.blocking import conditions
from firstlight.core.model.cluster import ClusterNetwork, DiskEncryption, Platform
from firstlight.core.model.cluster_status import ClusterKind, EncryptionMode, LoadBalancer, PlatformType
from firstlight.core.model.host import FencingCredentials
from firstlight.core.model.host_status import HostKind, HostRole, MediaStatus
from firstlight.core.model.inventory import (
    Cpu,
    Disk,
    Interface,
    Inventory,
    Memory,
    Route,
    SystemVendor,
    Truncation,
)
from firstlight.core.model.policy import HardwareMinimum
from firstlight.core.model.reports import (
    ApiVipReply,
    BrokenMtu,
    Connectivity,
    DiskSpeed,
    ImageStatus,
    LossyPath,
    NtpSource,
    Reports,
    Resolution,
    SlowPath,
    TangReply,
)
from firstlight.core.rules import Finding, Status
from tests.builders.clusters import a_cluster, a_policy, an_infra_env
from tests.builders.facts import host_facts
from tests.builders.hosts import a_host, a_presence, some_reports
from tests.builders.inventories import an_inventory
from tests.builders.moments import host_id

TEXT = st.text(max_size=12)
ADDRESS = (
    st.sampled_from(
        ["", "192.0.2.11", "192.0.2.11/24", "192.0.2.11/33", "::/0", "0.0.0.0/0", "2001:db8::1/64", "fe80::1%eth0", "/"]
    )
    | TEXT
)
CIDR = st.sampled_from(["192.0.2.0/24", "192.0.2.7/24", "2001:db8::/64", "oops", "", "10.0.0.0/999"]) | TEXT
NUMBER = st.integers(-(2**63), 2**70)
FLOAT = st.floats()
NAME = st.sampled_from(["sda", "dm-0", "dm-1", "nvme0n1", "enp1s0", ""]) | TEXT
PEER = st.integers(1, 4).map(host_id)


def some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


DISK = st.builds(
    Disk,
    id=NAME.filter(bool),
    name=NAME,
    path=NAME,
    by_path=NAME,
    drive_type=st.sampled_from(["SSD", "HDD", "iSCSI", "FC", "Multipath", "LVM", ""]),
    size_bytes=NUMBER,
    bootable=st.booleans(),
    has_uuid=st.booleans(),
    holders=some(NAME),
    iscsi_host_ip=ADDRESS,
    refusals=some(TEXT),
)
INVENTORY = st.builds(
    Inventory,
    hostname=TEXT,
    cpu=st.builds(Cpu, architecture=st.sampled_from(["x86_64", "aarch64", "s390x", ""]), count=NUMBER),
    memory=st.builds(Memory, physical_bytes=NUMBER, usable_bytes=NUMBER, method=st.sampled_from(["meminfo", "x"])),
    disks=some(DISK),
    interfaces=some(st.builds(Interface, name=NAME, ipv4=some(ADDRESS), ipv6=some(ADDRESS))),
    routes=some(
        st.builds(Route, destination=ADDRESS, gateway=ADDRESS, interface=NAME, family=st.sampled_from([2, 10, 0]))
    ),
    vendor=st.none()
    | st.builds(
        SystemVendor,
        manufacturer=st.sampled_from(["VMware, Inc.", "Nutanix", ""]),
        product_name=st.sampled_from(["OpenStack Compute", ""]),
    ),
    tpm_version=TEXT,
    truncation=st.none() | st.builds(Truncation, type=st.sampled_from(["partial", "full", "x"]), reasons=some(TEXT)),
)
CONNECTIVITY = st.builds(
    Connectivity,
    slow=some(st.builds(SlowPath, PEER, ADDRESS, FLOAT)),
    lossy=some(st.builds(LossyPath, PEER, ADDRESS, FLOAT)),
    broken_mtu=some(st.builds(BrokenMtu, PEER, NAME, ADDRESS)),
)
PROBE = "validateNoWildcardDNS.east.example.com"
DOMAIN = st.sampled_from(["api.east.example.com", PROBE, f"{PROBE}."])
IGNITION = st.sampled_from(
    ["", "{", "null", '{"storage":{"luks":[{"clevis":{"tpm2":true}}]}}', '{"storage":{"luks":[{"clevis":{}}]}}']
)
REPORTS = st.builds(
    Reports,
    inventory=st.none() | INVENTORY,
    connectivity=st.none() | CONNECTIVITY,
    ntp=st.none() | some(st.builds(NtpSource, TEXT, st.sampled_from(["synced", "error", ""]))),
    domains=st.none() | st.dictionaries(DOMAIN, st.builds(Resolution, some(ADDRESS), some(TEXT)), max_size=3),
    images=st.none()
    | st.dictionaries(
        TEXT,
        st.builds(ImageStatus, success=st.booleans(), size_bytes=FLOAT, megabytes_per_second=FLOAT),
        max_size=2,
    ),
    disk_speeds=st.none() | st.dictionaries(NAME, st.builds(DiskSpeed, exit_code=NUMBER), max_size=2),
    tang=st.none() | st.builds(TangReply, success=st.booleans(), error=TEXT),
    api_vip=st.none() | st.builds(ApiVipReply, success=st.booleans(), url=TEXT, error=TEXT, ignition=IGNITION),
)
CLUSTER = st.builds(
    a_cluster,
    kind=st.sampled_from(ClusterKind),
    openshift_version=st.sampled_from(["4.18.3", "4.13", "", "new"]),
    base_dns_domain=st.sampled_from(["example.com", ""]),
    control_plane_count=st.integers(1, 3),
    platform=st.builds(Platform, type=st.sampled_from(PlatformType), external_name=st.sampled_from(["oci", ""])),
    user_managed_networking=st.booleans(),
    load_balancer=st.sampled_from(LoadBalancer),
    cluster_networks=some(st.builds(ClusterNetwork, cidr=CIDR)),
    service_networks=some(CIDR),
    machine_networks=some(CIDR),
    vip_dhcp_allocation=st.booleans(),
    imported=st.booleans(),
    additional_ntp_source=TEXT,
    disk_encryption=st.builds(
        DiskEncryption,
        enable_on=st.sampled_from(["none", "all", "masters", "workers,arbiters", ""]) | TEXT,
        mode=st.sampled_from(EncryptionMode),
    ),
    majority_groups=st.dictionaries(CIDR, some(PEER), max_size=2),
    connected_addresses=st.dictionaries(PEER, some(ADDRESS), max_size=2),
    ip_collisions=st.dictionaries(ADDRESS, some(TEXT), max_size=2),
)
HOST = st.builds(
    a_host,
    kind=st.sampled_from(HostKind),
    role=st.sampled_from(HostRole),
    bootstrap=st.booleans(),
    requested_hostname=TEXT,
    installation_disk_id=NAME,
    installation_disk_path=NAME,
    skip_formatting_disks=some(NAME),
    media=st.sampled_from(MediaStatus),
    fencing=st.none() | st.just(FencingCredentials(address="", username="", password="")),
)
LIMIT = st.none() | FLOAT
MINIMUM = st.builds(
    HardwareMinimum,
    cpu_cores=NUMBER,
    ram_mib=NUMBER,
    disk_size_gb=NUMBER,
    network_latency_threshold_ms=LIMIT,
    packet_loss_percentage=LIMIT,
)
CONTEXT = st.builds(
    HostContext,
    policy=st.just(a_policy()),
    cluster=st.none() | CLUSTER,
    peers=st.dictionaries(PEER, st.builds(Peer, TEXT, st.sampled_from(HostRole)), max_size=4),
    host_count=st.integers(0, 4),
    duplicate_names=st.frozensets(TEXT, max_size=2),
    managed_dns=st.none() | st.booleans(),
)


@st.composite
def hostile_facts(draw: st.DrawFn) -> HostFacts:
    reports = draw(REPORTS)
    inventory = reports.inventory
    disks = () if inventory is None else judge_disks(inventory, minimum_gb=draw(NUMBER), version=draw(TEXT))
    return HostFacts(
        host=draw(HOST),
        presence=a_presence(clock_offset_seconds=draw(LIMIT), agent_version=draw(TEXT)),
        reports=reports,
        connected=draw(st.booleans()),
        context=draw(CONTEXT),
        infra_env=draw(st.none() | st.just(an_infra_env())),
        requirements=draw(MINIMUM),
        minimum=draw(MINIMUM),
        disks=disks,
    )


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(facts=hostile_facts())
def test_every_rule_answers(facts: HostFacts) -> None:
    findings = host_rules.judge(facts)
    assert {found.id for found in findings} == host_rules.ids()
    for found in findings:
        assert found.status is not Status.DISABLED
        assert bool(found.cause) == (found.status not in (Status.SUCCESS, Status.SUPPRESSED))
        assert bool(found.message) == (found.status is not Status.SUPPRESSED)
    assert host_rules.judge(facts) == findings
    assert json.decode(json.encode(findings), type=tuple[Finding, ...])
    assert conditions(findings) <= conditions(findings, ignored=("all",)) <= host_rules.ids()


@given(inventory=INVENTORY, minimum=NUMBER, current=NAME)
def test_the_chosen_disk_is_eligible(inventory: Inventory, minimum: int, current: str) -> None:
    verdicts = judge_disks(inventory, minimum_gb=minimum, version="4.18")
    chosen = choose_installation_disk(inventory.disks, verdicts, current_id=current)
    assert (chosen is None) == (
        not ({verdict.id for verdict in verdicts if verdict.eligible} - {v.id for v in verdicts if not v.eligible})
    )
    if chosen is not None:
        assert chosen.refusals == ()
        assert chosen.size_bytes >= minimum * 10**9
    assert set(disks_to_be_formatted(inventory.disks)) <= {disk.id for disk in inventory.disks}


@pytest.mark.parametrize("count", [512])
def test_large_machines_are_judged(count: int) -> None:
    """As many interfaces and disks as intake lets through, all of them in one another's way."""
    interfaces = tuple(
        Interface(name=f"eth{number}", ipv4=(f"10.{number // 256}.{number % 256}.1/8",)) for number in range(count)
    )
    disks = tuple(
        Disk(id=f"/dev/d{number}", name=f"d{number}", drive_type="FC", holders=("dm-0",)) for number in range(count)
    )
    inventory = an_inventory(interfaces=interfaces, disks=disks)
    facts = host_facts(
        reports=some_reports(inventory=inventory, measured_at={}),
        disks=judge_disks(inventory, minimum_gb=100, version="4.18"),
    )
    findings = {found.id: found for found in host_rules.judge(facts)}
    assert findings["non-overlapping-subnets"].status is Status.FAILURE
    assert f"and {count - 7} more" in findings["non-overlapping-subnets"].message
    assert findings["has-min-valid-disks"].measured_at is None
