"""Every kind of fix, behind its button: afterwards the problem is gone, without a reload."""

import json
import re
from collections.abc import Callable
from typing import Final

import httpx2
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from firstlight.simulate.inventory import inventory_text
from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import LATE_MS, apply_fix, create_by_api, shown
from tests.ui.conftest import OpenPage

Keep = Callable[[Page, str], None]
NEXT_CHECK: Final = re.compile(r"Next check in \d+ s\.")
SECOND_CARD: Final = {
    "name": "ens9",
    "mac_address": "02:00:00:00:99:01",
    "ipv4_addresses": ["198.51.100.7/24"],
    "ipv6_addresses": [],
    "mtu": 1500,
    "has_carrier": True,
    "type": "physical",
}


def test_names_roles_and_time_are_mended(service: RunningService, open_page: OpenPage, keep: Keep) -> None:
    cluster_id, infra_env_id = create_by_api(service, "mended")
    cluster = f"{service.api}/v2/clusters/{cluster_id}"
    machines = some_machines(masters=3, workers=3, salt="ui-mended")
    # Two have one name, one reaches no time server, and one is too small for what it shall be.
    machines[4] = replace(machines[4], name=machines[3].name)
    machines[2] = replace(machines[2], reaches_ntp=False)
    machines[5] = replace(machines[5], cpu_cores=2)
    small = f"{service.api}/v2/infra-envs/{infra_env_id}/hosts/{machines[5].id}"
    page = open_page(f"/clusters/{cluster_id}/problems")
    with powered(service.url, infra_env_id, machines):
        twins = shown(page, "hostname-unique")
        expect(twins).to_contain_text("2 hosts", timeout=LATE_MS)
        expect(twins.get_by_test_id("next-check").first).to_have_text(NEXT_CHECK)
        keep(page, "problems")
        # As proposed, or as the person wants it.
        twins.get_by_test_id("fix-other").first.click()
        page.get_by_label("Name of the host").fill("not a name!")
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_role("dialog").get_by_role("heading", name="Danger alert")).to_be_visible()
        page.get_by_label("Name of the host").fill("renamed-by-hand")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_test_id("problem-hostname-unique")).to_have_count(0)
        named = httpx2.get(f"{service.api}/v2/infra-envs/{infra_env_id}/hosts").json()
        assert "renamed-by-hand" in {host.get("requested_hostname") for host in named}

        httpx2.patch(small, json={"host_role": "master"}).raise_for_status()
        apply_fix(page, "has-cpu-cores-for-role", "Make this host a worker")
        expect(page.get_by_test_id("problem-has-cpu-cores-for-role")).to_have_count(0)
        assert httpx2.get(small).json()["role"] == "worker"

        apply_fix(page, "ntp-synced", "Add pool.ntp.org as an NTP source")
        expect(page.get_by_test_id("fix").filter(has_text="pool.ntp.org")).to_have_count(0)
        assert httpx2.get(cluster).json()["additional_ntp_source"] == "pool.ntp.org"


def test_networks_are_mended_checked_and_waived(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "connected", base_dns_domain="")
    cluster = f"{service.api}/v2/clusters/{cluster_id}"
    machines = some_machines(masters=3, salt="ui-networks")
    none: dict[str, list[str]] = {"cluster_networks": [], "service_networks": []}
    httpx2.patch(cluster, json=none).raise_for_status()
    page = open_page(f"/clusters/{cluster_id}/problems")
    with powered(service.url, infra_env_id, machines) as fleet:
        apply_fix(page, "cluster-cidr-defined", "Use the default cluster network")
        apply_fix(page, "service-cidr-defined", "Use the default service network")
        # A domain cannot be guessed: it is asked for.
        apply_fix(page, "dns-domain-defined", "Set a base domain")
        page.get_by_role("textbox", name="Base domain").fill("mended.example.com")
        page.get_by_role("button", name="Apply").click()
        for check in ("cluster-cidr-defined", "service-cidr-defined", "dns-domain-defined"):
            expect(page.get_by_test_id(f"problem-{check}")).to_have_count(0)
        stored = httpx2.get(cluster).json()
        assert stored["base_dns_domain"] == "mended.example.com"
        assert stored["cluster_networks"]
        assert stored["service_networks"]

        # Not now, and then after all.
        waived = shown(page, "machine-cidr-defined")
        expect(waived.get_by_test_id("waive")).to_be_visible()
        waived.get_by_test_id("waive").click()
        expect(page.locator("#waive")).to_be_disabled()
        page.get_by_label("Reason").fill("The lab has no such network yet.")
        page.get_by_role("button", name="Let it pass", exact=True).click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        again = page.get_by_test_id("problem-machine-cidr-defined").filter(has_text="Waived")
        page.get_by_role("button", name="not block").click()
        again.get_by_role("button", name="Machine network").click()
        expect(again).to_contain_text("Waived because: The lab has no such network yet.")
        again.get_by_role("button", name="Let it count again").click()
        expect(page.get_by_text("Waived", exact=True)).to_have_count(0)

        # The addresses come from the list of free ones.
        apply_fix(page, "machine-cidr-defined", "Use the free addresses")
        expect(page.get_by_test_id("problem-machine-cidr-defined")).to_have_count(0)
        assert len(httpx2.get(cluster).json()["api_vips"]) == 1

        # Whoever has mended a cable need not wait for the next round.
        fleet.site.cut_links.add(frozenset((machines[0].id, machines[1].id)))
        httpx2.post(f"{service.url}/api/firstlight/v1/clusters/{cluster_id}/actions/check", json={}).raise_for_status()
        torn = shown(page, "belongs-to-majority-group")
        fleet.site.cut_links.clear()
        torn.get_by_test_id("check-now").click()
        expect(page.get_by_text("Hosts measure anew with their next call")).to_be_visible()
        expect(page.get_by_test_id("problem-belongs-to-majority-group")).to_have_count(0, timeout=LATE_MS)


def test_a_single_node_chooses_its_network(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "alone", control_plane_count=1, high_availability_mode="None")
    cluster = f"{service.api}/v2/clusters/{cluster_id}"
    (machine,) = some_machines(masters=1, salt="ui-alone")
    # It has two cards and no default route: nobody can know which one is meant.
    inventory = json.loads(inventory_text(machine))
    inventory["interfaces"].append(SECOND_CARD)
    inventory["routes"] = []
    hosts = f"{service.api}/v2/infra-envs/{infra_env_id}/hosts"
    httpx2.post(hosts, json={"host_id": str(machine.id)}).raise_for_status()
    reply = {"step_id": "inventory-1", "step_type": "inventory", "exit_code": 0, "output": json.dumps(inventory)}
    httpx2.post(f"{hosts}/{machine.id}/instructions", json=reply).raise_for_status()
    page = open_page(f"/clusters/{cluster_id}/setup/networking")
    apply_fix(page, "machine-cidr-defined", "Use 198.51.100.0/24 as machine network")
    expect(page.get_by_test_id("problem-machine-cidr-defined")).to_have_count(0)
    expect(page.get_by_role("combobox", name="Machine network")).to_have_value("198.51.100.0/24")
    assert [it["cidr"] for it in httpx2.get(cluster).json()["machine_networks"]] == ["198.51.100.0/24"]


def test_another_disk_is_a_click_away(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "disks")
    page = open_page(f"/clusters/{cluster_id}/hosts")
    machines = some_machines(masters=3, salt="ui-disks")
    machine = machines[0]
    spare = replace(machine.disks[0], name="sdz", serial="SPARE", wwn="0x5000c500deadbeef")
    machines[0] = replace(machine, disks=(*machine.disks, spare))
    host = f"{service.api}/v2/infra-envs/{infra_env_id}/hosts/{machine.id}"
    with powered(service.url, infra_env_id, machines):
        page.goto(f"{service.url}/clusters/{cluster_id}/hosts?host={machine.id}")
        drawer = page.locator("#host-drawer")
        drawer.get_by_role("tab", name="Disks").click(timeout=LATE_MS)
        expect(drawer.get_by_test_id("install-here").first).to_be_visible(timeout=LATE_MS)
        before = httpx2.get(host).json()["installation_disk_id"]
        drawer.get_by_test_id("install-here").first.click()
        expect(page.get_by_text("The installation disk was changed.")).to_be_visible()
        chosen = httpx2.get(host).json()["installation_disk_id"]
        assert chosen != before

        # A disk that must be kept cannot be installed to: the finding offers both ways out.
        kept = {"disks_skip_formatting": [{"disk_id": chosen, "skip_formatting": True}]}
        assert httpx2.patch(host, json=kept).status_code == 201
        page.goto(f"{service.url}/clusters/{cluster_id}/problems")
        problem = shown(page, "no-skip-installation-disk")
        expect(problem.get_by_test_id("fix").filter(has_text="Allow formatting")).to_be_visible()
        problem.get_by_test_id("fix").filter(has_text="Install to").click()
        expect(page.get_by_test_id("problem-no-skip-installation-disk")).to_have_count(0)
        other = httpx2.get(host).json()["installation_disk_id"]
        assert other not in {chosen, ""}
        httpx2.patch(host, json={"disks_skip_formatting": [{"disk_id": other, "skip_formatting": True}]})
        apply_fix(page, "no-skip-installation-disk", "Allow formatting")
        expect(page.get_by_test_id("problem-no-skip-installation-disk")).to_have_count(0)
        assert httpx2.get(host).json()["installation_disk_id"] == other
