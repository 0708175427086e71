"""What agents answer: the truth about the site, in the words of the wire."""

from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from firstlight.core.wire.words import StepType
from firstlight.simulate.machines import Machine, Plan, make_machines
from firstlight.simulate.scenarios import parse_scenario
from firstlight.simulate.site import Site
from firstlight.simulate.steps import ACTIONS, run

RUN_BY_THE_AGENT_ITSELF = {"install", "logs-gather"}
HANDED_OUT_BY_NOBODY = {"execute", "next-step-runner"}

MACHINES = make_machines(Plan(masters=3, workers=2), seed=1)


def site_with(scenario: str = "") -> Site:
    return parse_scenario(scenario, MACHINES).applied(MACHINES)


def answer(kind: str, *args: object, site: Site | None = None, machine: Machine | None = None) -> Any:
    site = site or site_with()
    texts = [arg if isinstance(arg, str) else msgspec.json.encode(arg).decode() for arg in args]
    outcome = run(kind, machine or site.machines[0], site, texts)
    assert outcome.exit_code == 0, outcome.error
    return msgspec.json.decode(outcome.output) if outcome.output else None


def peer(machine: Machine) -> dict[str, object]:
    return {
        "host_id": str(machine.id),
        "nics": [{"name": "enp1s0", "mac": machine.mac, "ip_addresses": [machine.address]}],
    }


def test_every_step_type_is_answered() -> None:
    assert {*ACTIONS} | RUN_BY_THE_AGENT_ITSELF == {*get_args(StepType)} - HANDED_OUT_BY_NOBODY


def test_an_unknown_step_is_refused_in_the_words_the_service_looks_for() -> None:
    outcome = run("knit", MACHINES[0], site_with(), [])
    assert (outcome.exit_code, outcome.error) == (-1, "failed to find action for step type knit")


@pytest.mark.parametrize("kind", sorted({*ACTIONS} - {"stop-installation", "reboot-for-reclaim"}))
@pytest.mark.parametrize("args", [[], ["{"], ["[1]"]])
def test_unreadable_arguments_are_an_outcome(kind: str, args: list[str]) -> None:
    outcome = run(kind, MACHINES[0], site_with(), args)
    assert outcome.exit_code == -1
    assert outcome.output == ""


def test_the_inventory_is_only_for_the_host_that_is_meant() -> None:
    assert answer("inventory", str(MACHINES[0].id))["hostname"] == "master-0"
    assert run("inventory", MACHINES[0], site_with(), [str(MACHINES[1].id)]).exit_code == -1


def test_peers_are_reached_with_their_own_mac_and_a_small_delay() -> None:
    report = answer("connectivity-check", [peer(MACHINES[2]), peer(MACHINES[1])])
    assert [entry["host_id"] for entry in report["remote_hosts"]] == sorted(
        str(machine.id) for machine in MACHINES[1:3]
    )
    for entry in report["remote_hosts"]:
        near, ping = entry["l2_connectivity"][0], entry["l3_connectivity"][0]
        assert near["successful"]
        assert ping["successful"]
        assert 0 < ping["average_rtt_ms"] < 1


def test_a_cut_link_is_cut_in_both_directions() -> None:
    site = site_with("lost-link@master-0+worker-1")
    for here, there in ((0, 4), (4, 0)):
        report = answer("connectivity-check", [peer(MACHINES[there])], site=site, machine=site.machines[here])
        (entry,) = report["remote_hosts"]
        assert entry["l2_connectivity"] == []
        assert "successful" not in entry["l3_connectivity"][0]
    report = answer("connectivity-check", [peer(MACHINES[1])], site=site)
    assert report["remote_hosts"][0]["l3_connectivity"][0]["successful"]


def test_an_address_nobody_has_does_not_answer() -> None:
    stranger = replace(MACHINES[1], address="192.168.101.250")
    (entry,) = answer("connectivity-check", [peer(stranger)])["remote_hosts"]
    assert entry["l2_connectivity"] == []


def test_free_addresses_are_those_without_a_device() -> None:
    network = MACHINES[0].network
    (found,) = answer("free-network-addresses", [network.cidr])
    free = set(found["free_addresses"])
    assert {network.api_vip, network.ingress_vip} <= free
    assert not free & {machine.address for machine in MACHINES}
    assert network.gateway not in free
    assert len(free) == 256 - len(MACHINES) - 2
    (found,) = answer("free-network-addresses", [network.cidr], site=site_with("vip-taken"))
    assert network.api_vip not in found["free_addresses"]


@pytest.mark.parametrize(
    ("scenario", "api", "ingress"), [("", "succeeded", "succeeded"), ("vip-taken", "failed", "succeeded")]
)
def test_virtual_addresses_are_free_unless_taken(scenario: str, api: str, ingress: str) -> None:
    vips = [{"vip": "192.168.101.5", "vip_type": "api"}, {"vip": "192.168.101.6", "vip_type": "ingress"}]
    told = answer("verify-vips", vips, site=site_with(scenario))
    assert [vip["verification"] for vip in told] == [api, ingress]


def test_an_address_of_a_machine_is_no_free_virtual_address() -> None:
    (told,) = answer("verify-vips", [{"vip": MACHINES[3].address, "vip_type": "ingress"}])
    assert told["verification"] == "failed"


@pytest.mark.parametrize(
    ("scenario", "sources", "states"),
    [
        ("", "", ["synced"]),
        ("", "ntp.lab, 10.0.0.1", ["synced", "not_combined"]),
        ("no-ntp@master-0", "ntp.lab", ["unreachable"]),
    ],
)
def test_time_servers(scenario: str, sources: str, states: list[str]) -> None:
    told = answer("ntp-synchronizer", {"ntp_source": sources}, site=site_with(scenario))
    assert [source["source_state"] for source in told["ntp_sources"]] == states


def test_the_disk_that_is_asked_for_is_measured() -> None:
    disk = MACHINES[0].disks[0]
    for path in (f"/dev/{disk.name}", f"/dev/disk/by-id/wwn-{disk.wwn}"):
        assert answer("installation-disk-speed-check", {"path": path}, "480.00") == {
            "io_sync_duration": disk.sync_ms,
            "path": path,
        }
    outcome = run("installation-disk-speed-check", MACHINES[0], site_with(), ['{"path":"/dev/nothing"}', "480.00"])
    assert outcome.exit_code == 255


def test_images_that_cannot_be_pulled_are_told_and_fail_the_step() -> None:
    site = site_with()
    site.missing_images.add("quay.io/b")
    outcome = run("container-image-availability", MACHINES[0], site, ['{"images":["quay.io/a","quay.io/b"]}'])
    told = msgspec.json.decode(outcome.output)["images"]
    assert outcome.exit_code == 2
    assert [(image["name"], image["result"]) for image in told] == [("quay.io/a", "success"), ("quay.io/b", "failure")]


@pytest.mark.parametrize(
    ("name", "scenario", "resolves"),
    [
        ("api.c.lab", "", True),
        ("console-openshift-console.apps.c.lab", "", True),
        ("quay.io", "", True),
        ("validateNoWildcardDNS.c.lab", "", False),
        ("validateNoWildcardDNS.c.lab.", "", False),
        ("validateNoWildcardDNS.c.lab.", "dns-wildcard", True),
    ],
)
def test_names_come_back_as_asked(name: str, scenario: str, resolves: bool) -> None:
    told = answer("domain-resolution", {"domains": [{"domain_name": name}]}, site=site_with(scenario))
    (entry,) = told["resolutions"]
    assert entry["domain_name"] == name
    assert bool(entry["ipv4_addresses"]) is resolves


def test_worker_ignition_is_fetched_or_the_reason_is_told_without_failing() -> None:
    site = site_with()
    told = answer("api-vip-connectivity-check", {"url": "http://api.c.lab:22624/config/worker"}, site=site)
    assert told["is_success"]
    assert msgspec.json.decode(told["ignition"])["ignition"]["version"] == "3.2.0"
    site.serves_worker_ignition = False
    told = answer("api-vip-connectivity-check", {"url": "http://api.c.lab:22624/config/worker"}, site=site)
    assert "connection refused" in told["download_error"]


def test_leases_and_tang_answers_are_read_by_the_service() -> None:
    from firstlight.core.steps.leases import parse_dhcp

    request = {"interface": "enp1s0", "api_vip_mac": "00:1a:4a:00:00:01", "ingress_vip_mac": "00:1a:4a:00:00:02"}
    outcome = run("dhcp-lease-allocate", MACHINES[0], site_with(), [msgspec.json.encode(request).decode()])
    leases = parse_dhcp(outcome.output)
    assert (leases.api_vip, leases.ingress_vip) == MACHINES[0].network.leased_vips
    told = answer("tang-connectivity-check", {"tang_servers": '[{"url":"http://tang:7500","thumbprint":"x"}]'})
    assert told["is_success"]
    assert [server["tang_url"] for server in told["tang_server_response"]] == ["http://tang:7500"]
