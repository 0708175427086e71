"""An installation that is called off: cancelled, reset, and the cluster is a draft again."""

from typing import Final

import httpx2
from playwright.sync_api import expect

from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import create_by_api, status_is
from tests.ui.conftest import OpenPage

SLOW: Final = 30.0
"""Simulated seconds in one real one: there is time to call it off."""
LATE_MS: Final = 90_000


def test_an_installation_is_called_off(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "regretted")
    machines = some_machines(masters=3, salt="ui-regret")
    network = machines[0].network
    vips = {"api_vips": [{"ip": network.api_vip}], "ingress_vips": [{"ip": network.ingress_vip}]}
    page = open_page(f"/clusters/{cluster_id}/hosts")
    with powered(service.url, infra_env_id, machines, speed=SLOW):
        expect(page.get_by_test_id(f"host-{machines[2].name}")).to_be_visible(timeout=LATE_MS)
        httpx2.patch(f"{service.api}/v2/clusters/{cluster_id}", json=vips).raise_for_status()
        page.get_by_role("button", name="Install cluster").click(timeout=LATE_MS)
        page.get_by_role("button", name="Install", exact=True).click()
        # Before the hosts begin, calling it off leads straight back to a cluster that is ready.
        status_is(page, "installing", timeout=LATE_MS)
        page.get_by_role("button", name="Cancel installation").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel installation").click()
        status_is(page, "cancelled", timeout=LATE_MS)
        page.get_by_role("button", name="Reset and try again").click()
        page.get_by_role("dialog").get_by_role("button", name="Reset").click()
        expect(page.get_by_role("link", name="Go on with the setup")).to_be_visible(timeout=LATE_MS)
