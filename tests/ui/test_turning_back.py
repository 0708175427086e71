"""An installation that is called off: cancelled, reset, and the cluster is a draft again."""

import httpx2
from playwright.sync_api import expect

from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import create_by_wizard, infra_env_of, status_is
from tests.ui.conftest import OpenPage

SLOW = 20.0
"""Simulated seconds in one real one: there is time to call it off."""
LATE_MS = 180_000


def test_an_installation_is_called_off(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/")
    cluster_id = create_by_wizard(page, "regretted")
    machines = some_machines(masters=3, salt="ui-regret")
    network = machines[0].network
    vips = {"api_vips": [{"ip": network.api_vip}], "ingress_vips": [{"ip": network.ingress_vip}]}
    with powered(service.url, infra_env_of(service, cluster_id), machines, speed=SLOW):
        page.goto(f"{service.url}/clusters/{cluster_id}/hosts")
        expect(page.get_by_test_id(f"host-{machines[2].name}")).to_be_visible(timeout=LATE_MS)
        assert httpx2.patch(f"{service.api}/v2/clusters/{cluster_id}", json=vips).status_code == 201
        page.get_by_role("button", name="Install cluster").click(timeout=LATE_MS)
        page.get_by_role("button", name="Install", exact=True).click()
        page.get_by_role("button", name="Cancel installation").click(timeout=LATE_MS)
        page.get_by_role("dialog").get_by_role("button", name="Cancel installation").click()
        status_is(page, "cancelled")
        page.get_by_role("tab", name="Danger zone").click()
        page.get_by_role("button", name="Reset", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Reset").click()
        expect(page.get_by_role("link", name="Go on with the setup")).to_be_visible(timeout=LATE_MS)
