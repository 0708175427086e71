"""One machine fails in the middle of an installation: it is tried again, or another one takes its place."""

from typing import Final

import httpx2
import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import INSTALL_MS, create_by_api, status_is
from tests.ui.conftest import OpenPage

LATE_MS: Final = 90_000


@pytest.fixture(scope="module")
def service(empty_service: RunningService) -> RunningService:
    """Any machine that is free may take the place of another."""
    return empty_service


def test_a_failed_host_is_tried_again(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "stubborn")
    machines = some_machines(masters=3, workers=1, salt="ui-stubborn")
    machines[0] = replace(machines[0], write_fails_at_percent=35, write_failures=1)
    network = machines[0].network
    vips = {"api_vips": [{"ip": network.api_vip}], "ingress_vips": [{"ip": network.ingress_vip}]}
    page = open_page(f"/clusters/{cluster_id}")
    with powered(service.url, infra_env_id, machines):
        expect(page.get_by_role("tab", name="Hosts (4)")).to_be_visible(timeout=LATE_MS)
        httpx2.patch(f"{service.api}/v2/clusters/{cluster_id}", json=vips).raise_for_status()
        page.get_by_role("button", name="Install cluster").click(timeout=LATE_MS)
        page.get_by_role("button", name="Install", exact=True).click()
        failed = page.locator("#problems")
        expect(failed).to_contain_text("Failed hosts", timeout=LATE_MS)
        expect(failed).to_contain_text(machines[0].name)
        # The menu of the host offers it as well, and another machine in its place.
        page.get_by_role("tab", name="Hosts").click()
        page.get_by_role("button", name=f"Actions of {machines[0].name}").click()
        page.get_by_role("menuitem", name="Replace by another machine").click()
        expect(page.get_by_role("dialog")).to_contain_text("No machine is free")
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="Overview").click()
        failed.get_by_test_id("fix").click()
        expect(page.get_by_text("Failed hosts")).to_have_count(0)
        status_is(page, "installed", timeout=INSTALL_MS)


def test_another_machine_takes_the_place(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "replaced")
    machines = some_machines(masters=3, workers=1, salt="ui-replaced")
    machines[0] = replace(machines[0], write_fails_at_percent=35)
    (spare,) = (replace(one, name="spare") for one in some_machines(masters=1, salt="ui-spare"))
    secret = {"name": "spares", "pull_secret": '{"auths":{"a.example":{"auth":"YTpi"}}}'}
    pool = httpx2.post(f"{service.api}/v2/infra-envs", json=secret).raise_for_status().json()["id"]
    network = machines[0].network
    vips = {"api_vips": [{"ip": network.api_vip}], "ingress_vips": [{"ip": network.ingress_vip}]}
    page = open_page(f"/clusters/{cluster_id}/hosts")
    with powered(service.url, infra_env_id, machines), powered(service.url, pool, [spare]):
        expect(page.get_by_role("tab", name="Hosts (4)")).to_be_visible(timeout=LATE_MS)
        httpx2.patch(f"{service.api}/v2/clusters/{cluster_id}", json=vips).raise_for_status()
        page.get_by_role("button", name="Install cluster").click(timeout=LATE_MS)
        page.get_by_role("button", name="Install", exact=True).click()
        row = page.get_by_test_id(f"host-{machines[0].name}")
        expect(row).to_contain_text("Error", timeout=LATE_MS)
        page.get_by_role("button", name=f"Actions of {machines[0].name}").click()
        page.get_by_role("menuitem", name="Replace by another machine").click()
        expect(page.get_by_label("Machine", exact=True)).to_contain_text("spare")
        page.get_by_role("button", name="Replace", exact=True).click()
        expect(page.get_by_text("takes the place of the machine that failed")).to_be_visible()
        expect(row).not_to_contain_text("Error", timeout=LATE_MS)
        status_is(page, "installing")
        assert httpx2.get(f"{service.api}/v2/infra-envs/{pool}/hosts/{spare.id}").json()["cluster_id"] == str(
            cluster_id
        )
