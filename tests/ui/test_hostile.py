"""What users and hosts write stays text wherever it is shown: names, vendors, logs, findings, events, files."""

from typing import Final

import httpx2
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import create_by_api
from tests.ui.conftest import OpenPage

EVIL: Final = "<img src=x onerror=alert(1)><script>alert(2)</script>"
OTHER: Final = '"><svg onload=alert(3)>'
LINK: Final = "javascript:alert(4)"
BRED: Final = (
    "[...document.querySelectorAll('img[src=x], body script, svg[onload], [onerror], a[href^=\"javascript:\"]')]"
    ".map((it) => it.outerHTML)"
)
LATE_MS: Final = 60_000


def is_clean(page: Page) -> None:
    """Dialogs and scripts would be troubles of the page; nothing may even have become an element."""
    assert page.evaluate(BRED) == []


def test_what_hosts_say_never_becomes_markup(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "hostile")
    machines = some_machines(masters=2, salt="ui-evil")
    disks = tuple(replace(disk, serial=EVIL) for disk in machines[0].disks)
    machines[0] = replace(machines[0], name=EVIL, manufacturer=EVIL, product=OTHER, serial=LINK, disks=disks)
    page = open_page(f"/clusters/{cluster_id}/hosts")
    with powered(service.url, infra_env_id, machines) as fleet:
        fleet.site.cut_links.add(frozenset((machines[0].id, machines[1].id)))
        row = page.get_by_role("row").filter(has_text="<img src=x")
        expect(row).to_be_visible(timeout=LATE_MS)
        log = f"{service.url}/api/firstlight/v1/infra-envs/{infra_env_id}/hosts/{machines[0].id}/log"
        httpx2.post(log, content=f"{EVIL}\n\x1b[31m{OTHER}\n".encode()).raise_for_status()
        row.get_by_role("button", name=EVIL).first.click()
        drawer = page.locator("#host-drawer")
        for tab, text in (
            ("Summary", OTHER),
            ("Checks", EVIL),
            ("Disks", EVIL),
            ("Network", machines[0].mac),
            ("Log", OTHER),
            ("Events", EVIL),
        ):
            drawer.get_by_role("tab", name=tab).click()
            expect(drawer).to_contain_text(text)
            is_clean(page)
        for path, text in (
            ("/problems", EVIL),
            ("/network", EVIL),
            ("/setup/storage", EVIL),
            ("/setup/review", EVIL),
            ("/events", EVIL),
        ):
            page.goto(f"{service.url}/clusters/{cluster_id}{path}")
            expect(page.get_by_text(text).first).to_be_attached(timeout=LATE_MS)
            is_clean(page)


def test_what_users_write_never_becomes_markup(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "written")
    cluster = f"{service.api}/v2/clusters/{cluster_id}"
    waiver = f"{service.url}/api/firstlight/v1/clusters/{cluster_id}/waivers/cluster/machine-cidr-defined"
    httpx2.put(waiver, json={"reason": EVIL}).raise_for_status()
    pool = {"name": EVIL, "pull_secret": '{"auths":{"a.example":{"auth":"YTpi"}}}', "ssh_authorized_key": ""}
    made = httpx2.post(f"{service.api}/v2/infra-envs", json=pool).raise_for_status().json()
    refused = httpx2.patch(cluster, json={"name": EVIL})
    assert refused.status_code == 400, "names of clusters are names of DNS"

    page = open_page("/infra-envs")
    expect(page.get_by_role("link", name=EVIL)).to_be_visible()
    is_clean(page)
    page.get_by_role("link", name=EVIL).click()
    expect(page.get_by_role("heading", level=1, name=EVIL)).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text(EVIL)
    is_clean(page)
    assert made["name"] == EVIL

    page.goto(f"{service.url}/clusters/{cluster_id}/problems")
    page.get_by_role("button", name="not block").click()
    problem = page.get_by_test_id("problem-machine-cidr-defined").filter(has_text="Waived")
    problem.get_by_role("button", name="Machine network").click()
    expect(problem).to_contain_text(f"Waived because: {EVIL}")
    is_clean(page)

    # The refusal of the service repeats what was typed.
    page.goto(f"{service.url}/clusters/{cluster_id}/setup/details")
    page.get_by_label("Cluster name").fill(EVIL)
    page.get_by_label("Base domain").focus()
    expect(page.locator("#name-help")).not_to_have_text("")
    is_clean(page)
    assert infra_env_id
