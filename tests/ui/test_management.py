"""What people do beside installing: pools, names, removals, manifests, and things that cannot be taken back."""

from collections.abc import Callable
from datetime import UTC, datetime

import httpx2
from playwright.sync_api import Page, expect

from firstlight.simulate.user import simulated_pull_secret
from tests.clients.fleets import powered, some_machines
from tests.services import RunningService
from tests.ui.acting import create_by_api
from tests.ui.conftest import OpenPage

Keep = Callable[[Page, str], None]
LATE_MS = 60_000
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"
MANIFEST = f'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: evil\ndata:\n  text: "{EVIL}"\n'


def test_hosts_of_a_pool_go_to_a_cluster_and_back(service: RunningService, open_page: OpenPage) -> None:
    create_by_api(service, "taker")
    page = open_page("/clusters")
    page.goto(f"{service.url}/infra-envs")
    page.get_by_role("button", name="Create environment").click()
    page.get_by_label("Name").fill("pool")
    page.get_by_label("Pull secret").fill(simulated_pull_secret())
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="pool")).to_be_visible()
    infra_env_id = page.url.rsplit("/", 1)[1]
    machines = some_machines(masters=2, salt="ui-pool")
    with powered(service.url, infra_env_id, machines):
        first = page.get_by_test_id(f"host-{machines[0].name}")
        expect(first).to_contain_text("Available", timeout=LATE_MS)
        first.get_by_role("checkbox").check()
        page.locator("#bind").click()
        page.get_by_label("Cluster", exact=True).select_option(label="taker (Draft)")
        page.get_by_role("button", name="Give", exact=True).click()
        expect(first).not_to_contain_text("Available", timeout=LATE_MS)
        host = f"{service.api}/v2/infra-envs/{infra_env_id}/hosts/{machines[0].id}"
        assert httpx2.get(host).json()["cluster_id"]

        first.get_by_role("checkbox").check()
        page.locator("#unbind").click()
        expect(first).to_contain_text("Available", timeout=LATE_MS)
        assert not httpx2.get(host).json().get("cluster_id")

        # One change to both of them, seen before it happens.
        page.get_by_role("button", name="Choose all").click()
        page.get_by_role("button", name="Change…").click()
        page.get_by_label("Name template").fill("lab-{n}")
        expect(page.get_by_role("dialog")).to_contain_text("→ lab-2")
        page.get_by_role("button", name="Change 2 hosts").click()
        expect(page.get_by_test_id("host-lab-2")).to_be_visible()
    second = page.get_by_test_id("host-lab-2")
    second.get_by_role("button", name="Actions of").click()
    page.get_by_role("menuitem", name="Remove host").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(second).to_have_count(0)


def test_manifests_are_written_refused_changed_and_deleted(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, _ = create_by_api(service, "manifests")
    page = open_page("/clusters")
    page.goto(f"{service.url}/clusters/{cluster_id}/setup/manifests")
    page.get_by_role("button", name="Add a manifest").click()
    page.get_by_label("File name").fill("evil.yaml")
    page.get_by_role("textbox", name="Content").fill("kind: [unfinished")
    page.get_by_role("button", name="Save").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="Danger alert")).to_contain_text("evil.yaml")
    page.get_by_role("textbox", name="Content").fill(MANIFEST)
    page.get_by_role("button", name="Save").click()
    listed = page.get_by_test_id("manifest-evil.yaml")
    expect(listed).to_contain_text("manifests/evil.yaml")

    page.get_by_role("button", name="Edit evil.yaml").click()
    expect(page.get_by_role("textbox", name="Content")).to_have_value(MANIFEST)
    page.get_by_label("Folder").select_option("openshift")
    page.get_by_role("button", name="Save").click()
    expect(listed).to_contain_text("openshift/evil.yaml")
    path = f"{service.api}/v2/clusters/{cluster_id}/manifests/files"
    stored = httpx2.get(path, params={"folder": "openshift", "file_name": "evil.yaml"})
    assert stored.text == MANIFEST

    # What a manifest holds stays text, wherever it is shown.
    page.get_by_role("button", name="Edit evil.yaml").click()
    expect(page.get_by_role("textbox", name="Content")).to_have_value(MANIFEST)
    assert page.evaluate("document.querySelectorAll('img[src=x], main script').length") == 0
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Delete evil.yaml").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(listed).to_have_count(0)
    assert httpx2.get(f"{service.api}/v2/clusters/{cluster_id}/manifests").json() == []


def test_events_are_found_and_stay_text(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(service, "events")
    page = open_page("/clusters")
    machines = some_machines(masters=1, salt="ui-events")
    with powered(service.url, infra_env_id, machines):
        page.goto(f"{service.url}/clusters/{cluster_id}/hosts")
        expect(page.get_by_test_id(f"host-{machines[0].name}")).to_be_visible(timeout=LATE_MS)
    told = {
        "name": "evil",
        "category": "user",
        "message": EVIL,
        "severity": "warning",
        "cluster_id": str(cluster_id),
        "event_time": datetime.now(UTC).isoformat(),
    }
    again = ({**told, "name": "counting", "message": f"Written {part} %"} for part in (10, 20, 30))
    for event in (told, *again):
        sent = httpx2.post(f"{service.api}/v2/events", json=event)
        assert sent.status_code == 201, sent.text
    page.goto(f"{service.url}/clusters/{cluster_id}/events")
    events = page.get_by_role("list", name="Events")
    expect(events).to_contain_text(EVIL)
    expect(events.get_by_role("listitem").nth(1)).to_be_visible()
    # What repeats is one line that can be opened.
    expect(events).not_to_contain_text("Written 10 %")
    events.get_by_test_id("repeats").filter(has_text="2 times before").click()
    expect(events).to_contain_text("Written 10 %")
    page.get_by_label("Find in events").fill("onerror")
    expect(events.get_by_role("listitem")).to_have_count(1)
    page.get_by_label("Find in events").fill("")
    page.get_by_role("button", name="Severity").click()
    page.locator(".pf-v6-c-menu").get_by_text("warning").click()
    expect(events).to_contain_text(EVIL)
    expect(events.get_by_text("info", exact=True)).to_have_count(0)
    assert page.evaluate("document.querySelectorAll('main img[src=x], main script').length") == 0


def test_a_cluster_goes_only_by_its_name(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, _ = create_by_api(service, "doomed")
    page = open_page("/clusters")
    page.goto(f"{service.url}/clusters/{cluster_id}/danger")
    page.get_by_role("button", name="Delete", exact=True).click()
    confirm = page.locator("#confirm")
    expect(confirm).to_be_disabled()
    page.get_by_label("Type doomed to confirm").fill("doome")
    expect(confirm).to_be_disabled()
    page.get_by_label("Type doomed to confirm").fill("doomed")
    confirm.click()
    expect(page.get_by_text("doomed was deleted.")).to_be_visible()
    expect(page.get_by_test_id("cluster-doomed")).to_have_count(0)
    assert httpx2.get(f"{service.api}/v2/clusters/{cluster_id}").status_code == 404


def test_an_environment_of_its_own_needs_a_pull_secret(service: RunningService, open_page: OpenPage) -> None:
    body = {"name": "homeless", "openshift_version": "4.22", "pull_secret": simulated_pull_secret()}
    cluster_id = httpx2.post(f"{service.api}/v2/clusters", json=body).json()["id"]
    page = open_page(f"/clusters/{cluster_id}/setup/media")
    page.get_by_role("button", name="make one").click()
    expect(page.get_by_label("Name")).to_have_value("homeless_infra-env")
    page.get_by_label("Pull secret").fill(simulated_pull_secret())
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("link", name="Download the image")).to_be_visible()


def test_settings_tell_room_images_and_versions(open_page: OpenPage) -> None:
    page = open_page("/settings")
    storage = page.locator("#storage")
    expect(storage).to_contain_text("sqlite, ")
    expect(storage).to_contain_text("after 20 days")
    expect(storage).to_contain_text("after 3 days")
    expect(page.get_by_role("grid", name="OpenShift versions")).to_contain_text("4.22")
    # The image service has none yet; which there could be is told, those of the newest version first.
    images = page.locator("#base-images")
    first = images.locator("[data-state=missing]").first
    expect(first).to_contain_text("Fetched when needed")
    page.get_by_role("button", name="more that are not here").click()
    older = images.get_by_role("row").filter(has_text="4.18").first
    expect(older).to_be_visible()
