"""Pictures of networks, disks and the installation, drawn from what simulated machines measured."""

from collections.abc import Callable
from typing import Final

import httpx2
from playwright.sync_api import Page, expect

from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import INSTALL_MS, create_by_api, status_is
from tests.ui.conftest import OpenPage

Keep = Callable[[Page, str], None]
TWO_WAYS: Final = 2
PHONE: Final = 390
WIDTH: Final = "document.documentElement.scrollWidth"


def test_a_lost_link_is_red_in_every_picture(service: RunningService, open_page: OpenPage, keep: Keep) -> None:
    cluster_id, infra_env_id = create_by_api(service, "torn")
    page = open_page("/clusters")
    machines = some_machines(masters=3, workers=2, salt="ui-torn")
    names = [machine.name for machine in machines]
    with powered(service.url, infra_env_id, machines) as fleet:
        fleet.site.cut_links.add(frozenset((machines[0].id, machines[3].id)))
        page.goto(f"{service.url}/clusters/{cluster_id}/network")
        broken = page.locator("[data-cell=unreached]")
        expect(broken).to_have_count(TWO_WAYS, timeout=60_000)
        one = page.locator(f'[data-cell=unreached][data-from="{names[0]}"]')
        expect(one).to_have_attribute("data-to", names[3])
        expect(page.get_by_test_id("matrix-summary")).to_contain_text("2 broken paths")
        pair = page.get_by_test_id("broken-pair")
        expect(pair).to_have_count(1)
        assert {*(pair.get_attribute("data-pair") or "").split()} == {names[0], names[3]}

        # Reached by keys alone, the cell is told in words.
        page.locator("#matrix svg[role=application]").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        expect(page.get_by_test_id("matrix-cell")).to_contain_text("no answer")
        page.locator("#matrix-as-table").click()
        expect(page.get_by_role("grid", name="Who reaches whom")).to_contain_text(names[3])
        page.locator("#matrix-as-table").click()
        keep(page, "network")

        page.emulate_media(color_scheme="dark")
        keep(page, "network-dark")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 390, "height": 844})
        page.reload()
        expect(pair).to_be_visible()
        assert page.evaluate(WIDTH) <= PHONE
        keep(page, "network-phone")
        page.set_viewport_size({"width": 1280, "height": 900})

        # A free address of the network becomes the API's with a click.
        free = page.locator("#subnet-0 [data-use=free]")
        expect(free.first).to_be_visible(timeout=60_000)
        expect(page.locator("#subnet-0 [data-use=host]")).to_have_count(len(machines))
        free.nth(20).click()
        page.get_by_role("button", name="Use it for the API").click()
        expect(page.locator("#subnet-0 [data-use=api]")).to_have_count(1)
        expect(page.locator("#subnet-0 [data-use=ingress]")).to_have_count(1)
        keep(page, "addresses")

        fleet.site.cut_links.clear()
        again = f"{service.url}/api/firstlight/v1/clusters/{cluster_id}/actions/check"
        httpx2.post(again, json={}).raise_for_status()
        expect(broken).to_have_count(0)


def test_disks_and_the_log_stand_in_the_drawer(service: RunningService, open_page: OpenPage, keep: Keep) -> None:
    cluster_id, infra_env_id = create_by_api(service, "drawer")
    page = open_page("/clusters")
    machines = some_machines(masters=1, salt="ui-drawer")
    with powered(service.url, infra_env_id, machines):
        page.goto(f"{service.url}/clusters/{cluster_id}/hosts")
        page.get_by_role("button", name=machines[0].name, exact=True).click(timeout=60_000)
        drawer = page.locator("#host-drawer")
        drawer.get_by_role("tab", name="Disks").click()
        expect(drawer.locator("svg[data-use=installed]")).to_have_count(1)
        keep(page, "disks")

        drawer.get_by_role("tab", name="Log", exact=True).click()
        expect(drawer).to_contain_text("has sent no log yet")
        path = f"{service.url}/api/firstlight/v1/infra-envs/{infra_env_id}/hosts/{machines[0].id}/log"
        httpx2.post(path, content=b"first line\n<b>bold</b> & <script>alert(1)</script>\n").raise_for_status()
        log = drawer.get_by_test_id("host-log")
        expect(log).to_contain_text("<script>alert(1)</script>")
        httpx2.post(path, content=b"".join(b"line %d\n" % number for number in range(200))).raise_for_status()
        expect(log).to_contain_text("line 199")
        assert log.evaluate("it => it.scrollTop + it.clientHeight >= it.scrollHeight - 2"), "the end is in sight"
        drawer.get_by_label("Lines with").fill("BOLD")
        expect(log).not_to_contain_text("line 199")
        assert log.evaluate("it => it.childElementCount") == 0
        keep(page, "log")
    actions = drawer.get_by_role("button", name=f"Actions of {machines[0].name}")
    actions.click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menuitem")).to_have_count(0)
    actions.click()
    page.get_by_role("menuitem", name="Remove host").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(drawer).to_have_count(0)
    expect(page.get_by_test_id(f"host-{machines[0].name}")).to_have_count(0)


def test_the_course_of_an_installation_is_drawn(service: RunningService, open_page: OpenPage, keep: Keep) -> None:
    cluster_id, infra_env_id = create_by_api(service, "course")
    page = open_page("/clusters")
    machines = some_machines(masters=3, workers=1, salt="ui-course")
    page.goto(f"{service.url}/clusters/{cluster_id}/timeline")
    expect(page.get_by_test_id("no-timeline")).to_be_visible()
    with powered(service.url, infra_env_id, machines):
        network = machines[0].network
        wish = {"api_vips": [{"ip": network.api_vip}], "ingress_vips": [{"ip": network.ingress_vip}]}
        expect(page.get_by_role("tab", name="Hosts (4)")).to_be_visible(timeout=60_000)
        httpx2.patch(f"{service.api}/v2/clusters/{cluster_id}", json=wish).raise_for_status()
        status_is(page, "ready", timeout=120_000)
        httpx2.post(f"{service.api}/v2/clusters/{cluster_id}/actions/install").raise_for_status()
        lane = page.get_by_test_id(f"lane-{machines[3].name}")
        expect(lane.locator("rect.fl-span-2")).to_have_count(1, timeout=60_000)
        keep(page, "timeline-running")
        status_is(page, "installed", timeout=INSTALL_MS)
    for machine in machines:
        expect(page.get_by_test_id(f"lane-{machine.name}").locator(".fl-span-done")).to_have_count(1)
    expect(page.locator(".fl-lasting")).to_have_count(0)
    keep(page, "timeline")
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(page.get_by_test_id(f"lane-{machines[0].name}").get_by_role("img")).to_be_visible()
    assert page.evaluate(WIDTH) <= PHONE
    page.emulate_media(color_scheme="dark")
    keep(page, "timeline-phone-dark")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("#timeline-as-table").click()
    expect(page.get_by_role("grid", name="Course of the installation")).to_contain_text("Writing image to disk")
