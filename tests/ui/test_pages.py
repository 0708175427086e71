"""What every page owes its reader: it loads small and locked down, fits phones, goes dark."""

from typing import Final

from playwright.sync_api import expect

from tests.services import RunningService
from tests.ui.acting import create_by_wizard
from tests.ui.conftest import OpenPage

FIRST_LOAD_BYTES: Final = 350_000
PATHS: Final = ("/clusters", "/clusters/new", "/infra-envs", "/settings", "/nowhere")


def test_the_first_load_is_small(open_page: OpenPage) -> None:
    page = open_page("/clusters")
    expect(page.get_by_test_id("line")).to_have_attribute("data-state", "live")
    page.wait_for_function("document.fonts.status === 'loaded'")
    loaded = page.evaluate("performance.getEntries().reduce((sum, entry) => sum + (entry.encodedBodySize ?? 0), 0)")
    assert 50_000 < loaded <= FIRST_LOAD_BYTES


def test_nothing_is_wider_than_a_phone(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/clusters", width=390, height=844)
    cluster_id = create_by_wizard(page, "phone")
    of_cluster = [f"/clusters/{cluster_id}{part}" for part in ("", "/hosts", "/events", "/setup/media")]
    for path in (*PATHS, *of_cluster):
        page.goto(service.url + path)
        page.get_by_role("heading", level=1).wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_the_theme_follows_the_system_and_the_switch(open_page: OpenPage) -> None:
    page = open_page("/clusters", dark=True)
    root = page.locator("html")
    expect(root).to_have_class("pf-v6-theme-dark")
    page.get_by_role("button", name="Light theme").click()
    expect(root).not_to_have_class("pf-v6-theme-dark")
    page.reload()
    expect(page.get_by_role("heading", name="Clusters")).to_be_visible()
    expect(root).not_to_have_class("pf-v6-theme-dark")


def test_pages_have_addresses(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/settings")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    page.get_by_role("link", name="Infrastructure").click()
    expect(page).to_have_url(f"{service.url}/infra-envs")
    page.go_back()
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    page.goto(f"{service.url}/api/docs")
    expect(page.get_by_role("heading", name="Firstlight API")).to_be_visible()
