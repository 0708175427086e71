"""From the empty page to an installed cluster, in a browser, with machines that live in the simulator."""

import re
from collections.abc import Callable
from typing import Final

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import INSTALL_MS, create_by_wizard, infra_env_of, status_is, to_step
from tests.ui.conftest import OpenPage

Keep = Callable[[Page, str], None]
UNDERWAY: Final = re.compile("Writing image|Waiting for|Rebooting|Joined")


@pytest.fixture(scope="module")
def service(empty_service: RunningService) -> RunningService:
    """It begins with nothing."""
    return empty_service


def test_from_nothing_to_installed(service: RunningService, open_page: OpenPage, keep: Keep) -> None:
    page = open_page("/")
    expect(page.get_by_role("heading", name="Install your first cluster")).to_be_visible()
    expect(page.get_by_test_id("line")).to_have_attribute("data-state", "live")
    keep(page, "empty")

    cluster_id = create_by_wizard(page, "east")
    keep(page, "operators")
    to_step(page, "Boot media", "media")
    expect(page.get_by_role("link", name="Download the image")).to_be_visible()
    expect(page.get_by_text("No other machine can boot from the images").first).to_be_visible()
    expect(page.get_by_text("FIRSTLIGHT_IMAGE_SERVICE_BASE_URL").first).to_be_visible()
    keep(page, "boot-media")
    to_step(page, "Hosts", "hosts")
    expect(page.get_by_role("heading", name="Waiting for hosts")).to_be_visible()

    # A second window sees what the first one does.
    listed = open_page("/clusters")
    expect(listed.get_by_test_id("cluster-east")).to_contain_text("Draft")

    machines = some_machines(masters=3, workers=2, salt="ui-flow")
    with powered(service.url, infra_env_of(service, cluster_id), machines):
        # Nothing is reloaded from here on: hosts and states come by themselves.
        for machine in machines:
            expect(page.get_by_test_id(f"host-{machine.name}")).to_be_visible()
        keep(page, "hosts")

        to_step(page, "Networking", "networking")
        page.get_by_role("button", name="Use the free addresses").first.click()
        expect(page.locator("#api-vip")).not_to_have_value("")
        keep(page, "networking")

        to_step(page, "Review and install", "review")
        expect(page.get_by_role("button", name="Install cluster")).to_be_enabled(timeout=120_000)
        keep(page, "review")
        page.get_by_role("button", name="Install cluster").click()
        page.get_by_role("button", name="Install", exact=True).click()

        expect(page.get_by_test_id("host-stages")).to_be_visible(timeout=60_000)
        expect(page.get_by_test_id("host-stages")).to_contain_text(UNDERWAY)
        keep(page, "installing")
        status_is(page, "installed", timeout=INSTALL_MS)

    expect(page.get_by_role("link", name="Open the console")).to_have_attribute(
        "href", "https://console-openshift-console.apps.east.lab.example.com"
    )
    page.get_by_role("button", name="Show", exact=True).click()
    keep(page, "installed")
    expect(listed.get_by_test_id("cluster-east")).to_contain_text("Installed")
    page.get_by_role("tab", name="Events").click()
    expect(page.get_by_role("list", name="Events")).to_contain_text("installed", ignore_case=True)

    # What to take away, and the way to more hosts.
    page.get_by_role("tab", name="Files and logs").click()
    for link, name in (
        ("kubeconfig", "kubeconfig"),
        ("kubeadmin-password", "kubeadmin-password"),
        ("Everything", ".tar"),
    ):
        with page.expect_download() as taken:
            page.get_by_role("link", name=link, exact=True).click()
        assert name in taken.value.suggested_filename
        assert taken.value.path().stat().st_size > 0
    page.get_by_role("button", name="Add hosts").click()
    status_is(page, "adding-hosts")
    expect(page.locator("#install-ready")).to_be_disabled()
    (more,) = some_machines(workers=1, salt="ui-flow-later")
    more = replace(more, name="latecomer")
    with powered(service.url, infra_env_of(service, cluster_id), [more]):
        page.get_by_role("button", name="Install 1 ready host").click(timeout=120_000)
        expect(page.get_by_test_id("host-latecomer")).to_contain_text("Installed", timeout=INSTALL_MS)
    # The way into the cluster stays where it was.
    page.get_by_role("tab", name="Overview").click()
    expect(page.get_by_role("link", name="Open the console")).to_be_visible()
