"""Every kind of fix, behind its button: afterwards the problem is gone, without a reload."""

import httpx2
from msgspec.structs import replace
from playwright.sync_api import Locator, Page, expect

from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import create_by_wizard, infra_env_of
from tests.ui.conftest import OpenPage

LATE_MS = 60_000


def test_addresses_are_mended(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/")
    cluster_id = create_by_wizard(page, "mended")
    cluster = f"{service.api}/v2/clusters/{cluster_id}"
    machines = some_machines(masters=3, workers=1, salt="ui-mended")
    with powered(service.url, infra_env_of(service, cluster_id), machines):
        page.goto(f"{service.url}/clusters/{cluster_id}/problems")
        # Set the VIPs from the free list.
        apply_fix(page, "machine-cidr-defined", "Use the free addresses")
        expect(page.get_by_test_id("problem-machine-cidr-defined")).to_have_count(0)
        api_vips = httpx2.get(cluster).json()["api_vips"]
        assert len(api_vips) == 1


def test_a_single_node_chooses_its_network(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/")
    cluster_id = create_by_wizard(page, "alone")
    cluster = f"{service.api}/v2/clusters/{cluster_id}"
    assert httpx2.patch(cluster, json={"control_plane_count": 1}).status_code == 201
    (machine,) = some_machines(masters=1, salt="ui-alone")
    with powered(service.url, infra_env_of(service, cluster_id), [machine]):
        page.goto(f"{service.url}/clusters/{cluster_id}/setup/networking")
        network = page.get_by_label("Machine network")
        expect(network.get_by_role("option", name=machine.network.cidr)).to_have_count(1, timeout=LATE_MS)
        network.select_option(machine.network.cidr)
        expect(network).to_have_value(machine.network.cidr)
        expect(page.get_by_test_id("problem-machine-cidr-defined")).to_have_count(0)
        assert [it["cidr"] for it in httpx2.get(cluster).json()["machine_networks"]] == [machine.network.cidr]


def test_another_disk_is_a_click_away(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/")
    cluster_id = create_by_wizard(page, "disks")
    infra_env_id = infra_env_of(service, cluster_id)
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
        assert httpx2.get(host).json()["installation_disk_id"] not in {chosen, ""}


def shown(page: Page, check: str) -> Locator:
    """The problem, opened."""
    problem = page.get_by_test_id(f"problem-{check}").first
    toggle = problem.get_by_role("button").first
    harmless = page.get_by_role("button", name="not block", expanded=False)
    # It may move to those that do not block while we look.
    expect(toggle.or_(harmless).first).to_be_visible(timeout=LATE_MS)
    expect(problem).to_be_attached(timeout=LATE_MS)
    if not problem.is_visible():
        expect(toggle.or_(harmless).first).to_be_visible(timeout=LATE_MS)
        harmless.click()
    expect(toggle).to_be_visible(timeout=LATE_MS)
    if toggle.get_attribute("aria-expanded") == "false":
        toggle.click()
    return problem


def apply_fix(page: Page, check: str, title: str) -> None:
    button = shown(page, check).get_by_test_id("fix").filter(has_text=title).first
    expect(button).to_be_visible(timeout=LATE_MS)
    button.click()
