"""For everybody: axe finds nothing serious in light and dark, no text is cut, and the keyboard alone will do."""

from uuid import UUID

from playwright.sync_api import Locator, Page, expect

from firstlight.simulate.user import SSH_KEY, simulated_pull_secret
from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import IN_ADDRESS, create_by_api, infra_env_of
from tests.ui.axe import complaints, cut_texts
from tests.ui.conftest import OpenPage

MOST_STEPS = 80
"""Presses of Tab before something counts as out of reach."""
PHONE = 390
TABS = ("Summary", "Checks", "Disks", "Network", "Log", "Events")
GO = """(path) => {
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
}"""
"""As a link does: the page stays, and axe in it."""
TOO_WIDE = """(box, width) => [...box.querySelectorAll("*")].filter((it) => {
  if (!it.checkVisibility() || it.closest(".pf-v6-c-tabs, pre, [aria-hidden=true]")) return false;
  const { left, right } = it.getBoundingClientRect();
  return right > width + 1 || left < -1;
}).map((it) => `${it.className}: ${it.textContent.slice(0, 60)}`)"""
FOCUSED = """(wanted) => {
  const it = document.activeElement;
  const name = it.getAttribute("aria-label") ?? it.labels?.[0]?.innerText ?? it.innerText ?? "";
  return it.id === wanted || it.dataset.testid === wanted || name.replace("*", "").trim() === wanted;
}"""


def paths_of(cluster_id: UUID, infra_env_id: str, host_id: str) -> tuple[str, ...]:
    cluster = f"/clusters/{cluster_id}"
    tabs = ("", "/hosts", "/problems", "/network", "/timeline", "/events", "/files", "/danger")
    steps = ("details", "operators", "media", "hosts", "storage", "networking", "manifests", "review")
    return (
        "/clusters",
        "/clusters/new",
        "/infra-envs",
        f"/infra-envs/{infra_env_id}",
        "/settings",
        "/nowhere",
        *(cluster + tab for tab in tabs),
        *(f"{cluster}/setup/{step}" for step in steps),
        f"{cluster}/hosts?host={host_id}",
    )


def test_axe_finds_nothing_serious_and_no_text_is_cut(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "access")
    machines = some_machines(masters=3, workers=1, salt="ui-access")
    wrong: list[str] = []
    with powered(service.url, infra_env_id, machines):
        page = open_page(f"/clusters/{cluster_id}/hosts")
        expect(page.get_by_test_id(f"host-{machines[3].name}")).to_be_visible(timeout=60_000)
        for path in paths_of(cluster_id, infra_env_id, str(machines[0].id)):
            page.evaluate(GO, path)
            page.get_by_role("heading", level=1).wait_for()
            expect(page.locator("main .fl-waiting")).to_have_count(0)
            wrong += seen_in(page, path)
        drawer = page.locator("#host-drawer")
        for tab in TABS:
            opened(drawer, tab)
            wrong += seen_in(page, f"drawer, {tab}")
    assert not wrong, "\n".join(wrong)


def seen_in(page: Page, place: str) -> list[str]:
    """What is wrong there, in light and in dark."""
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).not_to_have_class("pf-v6-theme-dark")
    wrong = [*complaints(page), *(f"is cut: {text}" for text in cut_texts(page))]
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_class("pf-v6-theme-dark")
    wrong += [f"in the dark: {text}" for text in complaints(page, only=["color-contrast"])]
    return [f"{place} {text}" for text in wrong]


def opened(drawer: Locator, tab: str) -> None:
    drawer.get_by_role("tab", name=tab).click()
    expect(drawer.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
    expect(drawer.locator(".fl-waiting")).to_have_count(0)


def test_dialogs_please_axe_too(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/infra-envs")
    page.get_by_role("button", name="Create environment").click()
    page.get_by_role("dialog").wait_for()
    assert complaints(page) == []
    page.set_viewport_size({"width": PHONE, "height": 844})
    assert cut_texts(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    cluster_id, _ = create_by_api(service, "dialogs")
    page.goto(f"{service.url}/clusters/{cluster_id}/danger")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").wait_for()
    assert complaints(page) == []
    page.goto(f"{service.url}/clusters/{cluster_id}/setup/manifests")
    page.get_by_role("button", name="Add a manifest").click()
    page.get_by_role("dialog").wait_for()
    assert complaints(page) == []


def test_the_keyboard_alone_sets_a_cluster_up(service: RunningService, open_page: OpenPage) -> None:
    page = open_page("/clusters/new")
    page.get_by_label("Cluster name").wait_for()
    for field, text in (
        ("cluster-name", "keys"),
        ("base-domain", "lab.example.com"),
        ("pull-secret", simulated_pull_secret()),
        ("ssh-key", SSH_KEY),
    ):
        tab_to(page, field)
        page.keyboard.insert_text(text)
    tab_to(page, "Create and go on")
    page.keyboard.press("Enter")
    page.get_by_test_id("step-operators").wait_for()
    found = IN_ADDRESS.search(page.url)
    assert found is not None
    cluster_id = UUID(found.group(1))
    machines = some_machines(masters=3, workers=1, salt="ui-keys")
    with powered(service.url, infra_env_of(service, cluster_id), machines):
        for step in ("media", "hosts", "storage", "networking"):
            tab_to(page, "next")
            page.keyboard.press("Enter")
            page.get_by_test_id(f"step-{step}").wait_for()
        # A fix is a button like any other.
        expect(page.get_by_test_id("fix").first).to_be_visible(timeout=60_000)
        tab_to(page, "fix")
        page.keyboard.press("Enter")
        expect(page.locator("#api-vip")).not_to_have_value("")
        for step in ("manifests", "review"):
            tab_to(page, "next")
            page.keyboard.press("Enter")
            page.get_by_test_id(f"step-{step}").wait_for()
        expect(page.get_by_role("button", name="Install cluster")).to_be_enabled(timeout=120_000)
        tab_to(page, "install")
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        dialog.wait_for()
        # The dialog holds the focus, and Escape leaves it.
        for _ in range(8):
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.closest('[role=dialog]') !== null")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


def test_a_host_is_entered_and_left_by_keys(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "entered")
    machines = some_machines(masters=2, salt="ui-entered")
    page = open_page(f"/clusters/{cluster_id}/hosts")
    drawer = page.locator("#host-drawer")
    wide: list[str] = []
    with powered(service.url, infra_env_id, machines):
        expect(page.get_by_test_id(f"host-{machines[1].name}")).to_be_visible(timeout=60_000)
        tab_to(page, machines[0].name)
        page.keyboard.press("Enter")
        expect(drawer.get_by_role("heading", name=machines[0].name)).to_be_visible()
        # The focus is in the drawer, and back in the table afterwards.
        assert page.evaluate("document.activeElement.closest('#host-drawer') !== null")
        page.keyboard.press("Escape")
        expect(drawer).to_have_count(0)
        assert page.evaluate(FOCUSED, machines[0].name)

        page.set_viewport_size({"width": PHONE, "height": 844})
        page.get_by_role("button", name=machines[0].name, exact=True).click()
        for tab in TABS:
            opened(drawer, tab)
            wide += [f"{tab}: {text}" for text in drawer.evaluate(TOO_WIDE, PHONE)]
    assert not wide, "\n".join(wide)


def tab_to(page: Page, wanted: str) -> None:
    """Presses Tab until the focus is on the control of this id, test id or name."""
    for _ in range(MOST_STEPS):
        if page.evaluate(FOCUSED, wanted):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} cannot be reached with the keyboard on {page.url}")
