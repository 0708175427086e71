"""A service that asks who one is: the page asks for a token, goes on where the person was, and forgets on leaving."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.services import RunningService, run_service
from tests.ui.conftest import OpenPage

Keep = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[RunningService]:
    with run_service(tmp_path_factory.mktemp("service"), FIRSTLIGHT_AUTH_TYPE="local") as running:
        yield running
        assert running.complaints() == ""


def test_people_log_in_where_they_are_and_out_again(service: RunningService, open_page: OpenPage, keep: Keep) -> None:
    page = open_page("/infra-envs")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.locator("#sign-out")).to_have_count(0)
    keep(page, "login")

    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("was not issued by this service")).to_be_visible()
    page.get_by_label("Token").fill((service.folder / "data" / "admin-token").read_text())
    page.get_by_label("Token").press("Enter")

    expect(page).to_have_url(f"{service.url}/infra-envs")
    expect(page.get_by_role("heading", name="Infrastructure", level=1)).to_be_visible()
    expect(page.get_by_test_id("line")).to_have_attribute("data-state", "live")
    assert page.evaluate("document.cookie") == "", "no page can read the token"
    page.reload()
    expect(page.get_by_role("heading", name="Infrastructure", level=1)).to_be_visible()

    page.locator("#sign-out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_test_id("line")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
