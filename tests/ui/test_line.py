"""The line to the service: told when it is cut, back by itself, and one for however many pages a person has open."""

from typing import Final

import httpx2
from playwright.sync_api import Page, expect

from firstlight.simulate.user import simulated_pull_secret
from tests.services import RunningService
from tests.ui.conftest import OpenPage
from tests.ui.relay import relayed

MANY: Final = 9
"""More than a browser opens connections to one host."""
LATE_MS: Final = 60_000


def created(service: RunningService, name: str) -> None:
    body = {"name": name, "openshift_version": "4.22", "pull_secret": simulated_pull_secret()}
    assert httpx2.post(f"{service.api}/v2/clusters", json=body).status_code == 201


def is_line(page: Page, state: str) -> None:
    expect(page.get_by_test_id("line")).to_have_attribute("data-state", state, timeout=LATE_MS)


def test_a_cut_line_is_told_and_mends_itself(service: RunningService, open_page: OpenPage) -> None:
    with relayed(service.url) as relay:
        page = open_page("/clusters", origin=relay.url)
        is_line(page, "live")
        relay.cut()
        is_line(page, "lost")
        expect(page.get_by_test_id("line-banner")).to_contain_text("What you see is from")
        created(service, "meanwhile")
        expect(page.get_by_test_id("cluster-meanwhile")).to_have_count(0)
        # What a person does meanwhile is answered in a sentence, and done when the service is back.
        page.get_by_role("link", name="Infrastructure").click()
        expect(page.get_by_role("heading", name="This page could not be loaded")).to_be_visible()
        relay.mend()
        is_line(page, "live")
        expect(page.get_by_test_id("line-banner")).to_have_count(0)
        expect(page.get_by_role("heading", name="Infrastructure environments")).to_be_visible()
        page.get_by_role("link", name="Clusters").first.click()
        expect(page.get_by_test_id("cluster-meanwhile")).to_be_visible()


def test_many_pages_share_one_line(service: RunningService, open_page: OpenPage) -> None:
    with relayed(service.url) as relay:
        first = open_page("/clusters", origin=relay.url)
        is_line(first, "live")
        pages = [first]
        for _ in range(MANY - 1):
            page = first.context.new_page()
            page.goto(f"{relay.url}/clusters")
            pages.append(page)
        for page in pages:
            is_line(page, "live")
        assert relay.streams == 1
        created(service, "shared")
        for page in pages:
            expect(page.get_by_test_id("cluster-shared")).to_be_visible()
        # The line is nobody's own: it stays when whoever opened it leaves, and comes back for all after a cut.
        first.close()
        created(service, "orphaned")
        for page in pages[1:]:
            expect(page.get_by_test_id("cluster-orphaned")).to_be_visible()
        relay.cut()
        is_line(pages[1], "lost")
        relay.mend()
        for page in pages[1:]:
            is_line(page, "live")
        created(service, "again")
        expect(pages[-1].get_by_test_id("cluster-again")).to_be_visible()
        assert relay.streams == 1


def test_without_shared_workers_each_page_has_its_own_line(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/nowhere")
    page.context.add_init_script("delete window.SharedWorker")
    page.goto(f"{service.url}/clusters")
    is_line(page, "live")
    created(service, "alone")
    expect(page.get_by_test_id("cluster-alone")).to_be_visible()
