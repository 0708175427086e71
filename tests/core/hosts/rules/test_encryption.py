"""Disk encryption on the first day and on the second."""

from typing import Any

import msgspec
import pytest

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.model.cluster import DiskEncryption
from firstlight.core.model.cluster_status import ClusterKind, EncryptionMode
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.reports import ApiVipReply, TangReply
from firstlight.core.rules import Status
from tests.builders.facts import host_facts, pool_facts
from tests.builders.hosts import a_host, some_reports
from tests.builders.inventories import an_inventory
from tests.core.hosts.rules.judging import ERROR, FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding

RULE = "disk-encryption-requirements-satisfied"
M, A, W, AUTO = HostRole.MASTER, HostRole.ARBITER, HostRole.WORKER, HostRole.AUTO_ASSIGN


def tpm(version: str, *, on: str = "all", role: HostRole = M) -> HostFacts:
    return host_facts(
        host=a_host(role=role, suggested_role=None),
        inventory=an_inventory(tpm_version=version),
        cluster={"disk_encryption": DiskEncryption(enable_on=on)},
    )


def tang(reply: TangReply | None, *, on: str = "all") -> HostFacts:
    return host_facts(
        reports=some_reports(tang=reply),
        cluster={"disk_encryption": DiskEncryption(enable_on=on, mode=EncryptionMode.TANG)},
    )


OLD_AGENT = TangReply(success=False, error="failed to find action for step tang-connectivity-check")


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("pool", pool_facts(), SUPPRESSED),
        case("off", tpm("none", on="none"), SUPPRESSED),
        case("unset", tpm("none", on=""), SUPPRESSED),
        case("tpm-2", tpm("2.0"), SUCCESS),
        case("tpm-1", tpm("1.2"), FAILURE, "old-tpm"),
        case("no-tpm", tpm("none"), FAILURE, "no-tpm"),
        case("tpm-not-told", tpm(""), FAILURE, "no-tpm"),
        case("master-covered", tpm("none", on="masters", role=M), FAILURE, "no-tpm"),
        case("arbiter-covered", tpm("none", on="masters,arbiters", role=A), FAILURE, "no-tpm"),
        case("worker-covered", tpm("none", on="masters, workers", role=W), FAILURE, "no-tpm"),
        case("worker-not-covered", tpm("none", on="masters,arbiters", role=W), SUPPRESSED),
        case("master-not-covered", tpm("none", on="workers", role=M), SUPPRESSED),
        case("role-open", tpm("2.0", on="masters", role=AUTO), PENDING, "no-role"),
        case("role-open-but-all", tpm("none", on="all", role=AUTO), FAILURE, "no-tpm"),
        case(
            "tpm-nothing-yet",
            host_facts(
                reports=some_reports(inventory=None), cluster={"disk_encryption": DiskEncryption(enable_on="all")}
            ),
            PENDING,
            "no-inventory",
        ),
        case("tang-not-tried", tang(None), PENDING, "no-tang-report"),
        case("tang-reached", tang(TangReply(success=True)), SUCCESS),
        case("tang-not-reached", tang(TangReply(success=False, error="timeout")), FAILURE, "tang-unreachable"),
        case("tang-silent", tang(TangReply(success=False)), FAILURE, "tang-unreachable"),
        case("tang-old-agent", tang(OLD_AGENT), SUPPRESSED),
        case("tang-not-covered", tang(None, on="workers"), SUPPRESSED),
    ],
)
def test_first_day(facts: HostFacts, status: Status, cause: str) -> None:
    check(RULE, facts, status, cause)


def ignition(*devices: dict[str, Any] | None) -> str:
    luks = [{"name": "root"} if device is None else {"name": "root", "clevis": device} for device in devices]
    return msgspec.json.encode({"ignition": {"version": "3.2.0"}, "storage": {"luks": luks}}).decode()


TANG = {"tang": [{"url": "http://tang", "thumbprint": "x"}]}


def day_two(
    text: str | None, *, tpm_version: str = "2.0", reply: TangReply | None = None, on: str = "none"
) -> HostFacts:
    return host_facts(
        reports=some_reports(
            api_vip=None if text is None else ApiVipReply(success=True, ignition=text),
            inventory=an_inventory(tpm_version=tpm_version),
            tang=reply,
        ),
        cluster={"kind": ClusterKind.ADD_HOSTS, "disk_encryption": DiskEncryption(enable_on=on)},
    )


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("no-ignition", day_two(None), SUPPRESSED),
        case("no-ignition-but-configured", day_two(None, on="all"), PENDING, "no-ignition"),
        case("empty-ignition-but-configured", day_two("", on="workers"), PENDING, "no-ignition"),
        case("no-storage", day_two("{}"), SUPPRESSED),
        case("no-luks", day_two('{"storage":{}}'), SUPPRESSED),
        case("null-luks", day_two('{"storage":{"luks":null}}'), SUPPRESSED),
        case("no-clevis", day_two(ignition(None)), SUPPRESSED),
        case("tpm", day_two(ignition({"tpm2": True})), SUCCESS),
        case("tpm-missing", day_two(ignition({"tpm2": True}), tpm_version="none"), FAILURE, "no-tpm"),
        case("tang", day_two(ignition(TANG), reply=TangReply(success=True)), SUCCESS),
        case("tang-not-tried", day_two(ignition(TANG)), PENDING, "no-tang-report"),
        case("both", day_two(ignition({"tpm2": True}, TANG), reply=TangReply(success=True)), SUCCESS),
        case(
            "both-tang-fails",
            day_two(ignition({"tpm2": True, **TANG}), reply=TangReply(success=False)),
            FAILURE,
            "tang-unreachable",
        ),
        case("neither", day_two(ignition({})), FAILURE, "invalid-luks"),
        case("one-of-two-is-neither", day_two(ignition({"tpm2": True}, {"tpm2": False})), FAILURE, "invalid-luks"),
        case("no-json", day_two("oops"), ERROR, "unreadable-ignition"),
        case("no-ignition-either", day_two('{"storage":{"luks":7}}'), ERROR, "unreadable-ignition"),
        case("too-deep", day_two('{"storage":' + "[" * 100_000), ERROR, "unreadable-ignition"),
    ],
)
def test_second_day(facts: HostFacts, status: Status, cause: str) -> None:
    check(RULE, facts, status, cause)


def test_the_first_day_can_go_without() -> None:
    assert [fix.body for fix in finding(RULE, tpm("none")).fixes] == [{"disk_encryption": {"enable_on": "none"}}]
    assert finding(RULE, day_two(ignition({"tpm2": True}), tpm_version="none")).fixes == ()
