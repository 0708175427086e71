"""The set of checks, their order, categories and names; and that the examples pass all of them."""

import inspect

import pytest
from msgspec import json
from msgspec.structs import replace

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules import IN_ORDER, host_rules
from firstlight.core.hosts.rules.blocking import (
    BINDABLE,
    MIN_HARDWARE,
    NOT_IGNORABLE,
    REQUIRED_INPUT,
    SUFFICIENT,
    VALID_INVENTORY,
    conditions,
)
from firstlight.core.hosts.rules.shown import shown_findings
from firstlight.core.model.host import Progress
from firstlight.core.model.host_status import HostStatus, Stage
from firstlight.core.rules import Finding, Status
from firstlight.core.wire.views.findings import host_validations
from tests.builders.facts import host_facts, pool_facts
from tests.builders.hosts import a_host, some_reports

NETWORK = [
    "connected",
    "media-connected",
    "machine-cidr-defined",
    "belongs-to-machine-cidr",
    "ignition-downloadable",
    "belongs-to-majority-group",
    "mtu-valid",
    "valid-platform-network-settings",
    "ntp-synced",
    "time-synced-between-host-and-service",
    "container-images-available",
    "sufficient-network-latency-requirement-for-role",
    "sufficient-packet-loss-requirement-for-role",
    "has-default-route",
    "api-domain-name-resolved-correctly",
    "api-int-domain-name-resolved-correctly",
    "apps-domain-name-resolved-correctly",
    "dns-wildcard-not-configured",
    "non-overlapping-subnets",
    "no-ip-collisions-in-network",
    "no-iscsi-nic-belongs-to-machine-cidr",
]
HARDWARE = [
    "has-inventory",
    "inventory-not-partially-truncated",
    "inventory-not-fully-truncated",
    "has-min-cpu-cores",
    "has-min-memory",
    "has-min-valid-disks",
    "has-cpu-cores-for-role",
    "has-memory-for-role",
    "hostname-unique",
    "hostname-valid",
    "sufficient-installation-disk-speed",
    "compatible-with-cluster-platform",
    "disk-encryption-requirements-satisfied",
    "vsphere-disk-uuid-enabled",
    "compatible-agent",
    "no-skip-installation-disk",
    "no-skip-missing-disk",
]
OURS = ["identity-unique"]


def test_ids_and_their_order_in_each_category() -> None:
    assert [rule.id for rule in host_rules if rule.category == "network"] == NETWORK
    assert [rule.id for rule in host_rules if rule.category == "hardware"] == HARDWARE
    assert host_rules.ids() == set(NETWORK + HARDWARE + OURS)


def test_what_the_original_does_not_know_is_not_shown_to_its_clients() -> None:
    findings = [replace(found, status=Status.FAILURE) for found in host_rules.judge(host_facts())]
    text = host_validations(findings, a_host())
    assert not [rule_id for rule_id in OURS if rule_id in text]
    assert all(f'"{rule_id}"' in text for rule_id in NETWORK + HARDWARE)


def test_a_check_is_found_by_its_id() -> None:
    for rule_id, _, judge in IN_ORDER:
        assert inspect.unwrap(judge).__name__ == rule_id.replace("-", "_")


@pytest.mark.parametrize("facts", [host_facts(), pool_facts()], ids=["bound", "pool"])
def test_the_examples_pass(facts: HostFacts) -> None:
    assert [found.id for found in host_rules.judge(facts) if not found.holds] == []


def test_before_the_first_report_nothing_that_needs_one_passes() -> None:
    facts = host_facts(reports=some_reports(inventory=None, connectivity=None, ntp=None, domains=None))
    waiting = {found.id for found in host_rules.judge(facts) if found.status is Status.PENDING}
    assert waiting == {
        "inventory-not-partially-truncated",
        "inventory-not-fully-truncated",
        "has-min-cpu-cores",
        "has-min-memory",
        "has-min-valid-disks",
        "has-cpu-cores-for-role",
        "has-memory-for-role",
        "hostname-unique",
        "belongs-to-machine-cidr",
        "mtu-valid",
        "valid-platform-network-settings",
        "ntp-synced",
        "sufficient-installation-disk-speed",
        "sufficient-network-latency-requirement-for-role",
        "sufficient-packet-loss-requirement-for-role",
        "has-default-route",
        "compatible-with-cluster-platform",
        "dns-wildcard-not-configured",
        "non-overlapping-subnets",
        "vsphere-disk-uuid-enabled",
        "no-skip-missing-disk",
        "no-iscsi-nic-belongs-to-machine-cidr",
    }


@pytest.mark.parametrize("status", list(HostStatus))
def test_no_check_reads_the_status_of_the_host(status: HostStatus) -> None:
    assert host_rules.judge(host_facts(host=a_host(status=status))) == host_rules.judge(host_facts())


def test_findings_can_be_stored() -> None:
    findings = host_rules.judge(host_facts(reports=some_reports(inventory=None, ntp=())))
    assert json.decode(json.encode(findings), type=tuple[Finding, ...]) == findings


class TestConditions:
    def test_sets_name_checks_that_exist(self) -> None:
        named = VALID_INVENTORY | MIN_HARDWARE | BINDABLE | REQUIRED_INPUT | SUFFICIENT | NOT_IGNORABLE
        assert named <= host_rules.ids()
        assert len(SUFFICIENT) == 23

    def test_informational_and_separately_handled_checks_block_nothing(self) -> None:
        assert host_rules.ids() - (VALID_INVENTORY | MIN_HARDWARE | REQUIRED_INPUT | SUFFICIENT) == {
            "connected",
            "media-connected",
            "inventory-not-partially-truncated",
            "mtu-valid",
            "ntp-synced",
            "container-images-available",
            "vsphere-disk-uuid-enabled",
            "identity-unique",
        }

    @pytest.mark.parametrize(
        ("status", "holds"),
        [
            (Status.SUCCESS, True),
            (Status.SUPPRESSED, True),
            (Status.DISABLED, True),
            (Status.FAILURE, False),
            (Status.PENDING, False),
            (Status.ERROR, False),
        ],
    )
    def test_which_statuses_hold(self, status: Status, holds: bool) -> None:
        found = Finding(id="has-min-memory", category="hardware", status=status)
        assert conditions([found]) == ({"has-min-memory"} if holds else set())

    @pytest.mark.parametrize(
        ("rule_id", "ignored", "holds"),
        [
            pytest.param("has-min-memory", ("has-min-memory",), True, id="waived"),
            pytest.param("has-min-memory", ("has-min-cpu-cores",), False, id="another-waived"),
            pytest.param("has-min-memory", ("all",), True, id="all-waived"),
            pytest.param("has-min-memory", ("ALL",), False, id="all-in-capitals-means-nothing"),
            pytest.param("odf-requirements-satisfied", ("all",), True, id="operators-too"),
            pytest.param("hostname-valid", ("hostname-valid",), False, id="not-to-be-waived"),
            pytest.param("hostname-valid", ("all",), False, id="not-even-with-all"),
        ],
    )
    def test_waived_checks_hold(self, rule_id: str, ignored: tuple[str, ...], holds: bool) -> None:
        found = Finding(id=rule_id, category="hardware", status=Status.FAILURE)
        assert (rule_id in conditions([found], ignored=ignored)) is holds

    def test_waiving_invents_nothing(self) -> None:
        assert conditions([], ignored=("all", "has-min-memory")) == frozenset()


class TestShown:
    def test_what_does_not_concern_the_host_is_not_shown(self) -> None:
        findings = host_rules.judge(pool_facts())
        shown = shown_findings(findings, pool_facts().host)
        assert "machine-cidr-defined" in {found.id for found in findings}
        assert "machine-cidr-defined" not in {found.id for found in shown}
        assert [found for found in findings if found.status is not Status.SUPPRESSED] == list(shown)

    @pytest.mark.parametrize("stage", [None, *Stage])
    def test_stages_hide_what_nobody_measures(self, stage: Stage | None) -> None:
        findings = tuple(replace(found, status=Status.FAILURE) for found in host_rules.judge(host_facts()))
        shown = {found.id for found in shown_findings(findings, a_host(progress=Progress(stage=stage)))}
        hidden = set(host_rules.ids()) - shown
        gone = {"connected", "media-connected", "ntp-synced", "time-synced-between-host-and-service"}
        if stage is None:
            assert hidden == set()
        elif stage in (
            Stage.REBOOTING,
            Stage.WAITING_FOR_IGNITION,
            Stage.CONFIGURING,
            Stage.JOINED,
            Stage.DONE,
        ):
            assert hidden == gone | {"compatible-agent"}
        else:
            assert hidden == {"compatible-agent"}
