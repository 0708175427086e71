"""Problems in the page: fixes that mend, checks that may fail for a reason, and text that stays text."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace
from playwright.sync_api import Page, expect

from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import create_by_wizard, infra_env_of
from tests.ui.conftest import OpenPage

Keep = Callable[[Page, str], None]
EVIL: Final = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def test_a_fix_mends_and_a_reason_waives(service: RunningService, open_page: OpenPage, keep: Keep) -> None:
    page = open_page("/")
    cluster_id = create_by_wizard(page, "broken")
    machines = some_machines(masters=3, workers=2, salt="ui-fixes")
    # One machine has the name of another: the service offers to rename it.
    machines[4] = replace(machines[4], name=machines[3].name)
    with powered(service.url, infra_env_of(service, cluster_id), machines):
        page.goto(f"{service.url}/clusters/{cluster_id}/problems")
        twins = page.get_by_test_id("problem-hostname-unique")
        expect(twins).to_contain_text("2 hosts", timeout=60_000)
        _expanded(page, "hostname-unique")
        keep(page, "problems")
        twins.get_by_test_id("fix").first.click()
        expect(twins).to_have_count(0)

        network = page.get_by_test_id("problem-machine-cidr-defined").filter(has_text="Let it pass").first
        network.get_by_test_id("waive").click()
        page.get_by_label("Reason").fill("The lab has no such network yet.")
        page.get_by_role("button", name="Let it pass", exact=True).click()
        page.get_by_role("button", name="that do not block").or_(
            page.get_by_role("button", name="that does not block")
        ).click()
        expect(page.get_by_text("Waived").first).to_be_visible()


def _expanded(page: Page, check: str) -> None:
    """Open the problem unless it is open already."""
    toggle = page.get_by_test_id(f"problem-{check}").get_by_role("button").first
    if toggle.get_attribute("aria-expanded") == "false":
        toggle.click()


def test_what_hosts_say_never_becomes_markup(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/")
    cluster_id = create_by_wizard(page, "hostile")
    (machine,) = some_machines(masters=1, salt="ui-evil")
    hostile = replace(machine, name=EVIL, manufacturer=EVIL, product='"><svg onload=alert(3)>', serial=EVIL)
    with powered(service.url, infra_env_of(service, cluster_id), [hostile]):
        page.goto(f"{service.url}/clusters/{cluster_id}/hosts")
        row = page.get_by_role("row").filter(has_text="<img src=x")
        expect(row).to_be_visible(timeout=60_000)
        row.get_by_role("button", name=EVIL).first.click()
        drawer = page.locator("#host-drawer")
        expect(drawer).to_contain_text('"><svg onload=alert(3)>')
        for tab in ("Checks", "Disks", "Network", "Events"):
            drawer.get_by_role("tab", name=tab).click()
            expect(drawer.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        page.goto(f"{service.url}/clusters/{cluster_id}/problems")
        expect(page.get_by_text("<img src=x").first).to_be_visible()
    assert page.evaluate("document.querySelectorAll('main img[src=x], main script, main svg[onload]').length") == 0
