"""Static networks in the page: pasted, checked, shown as CSV and YAML, saved, and read back without loss."""

import json
from collections.abc import Callable
from typing import Any, Final

import httpx2
import yaml
from playwright.sync_api import Page, expect

from tests.services import RunningService
from tests.ui.acting import create_by_api
from tests.ui.conftest import OpenPage

Keep = Callable[[Page, str], None]
PASTE: Final = """(field, text) => {
  const data = new DataTransfer();
  data.setData("text", text);
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
CSV: Final = """MAC,IP,Gateway,DNS,VLAN,Bond mode
02:00:00:00:00:01,192.0.2.11/24,192.0.2.1,192.0.2.2,,
02:00:00:00:00:02 02:00:00:00:00:03,192.0.2.12/24,192.0.2.1,192.0.2.2,404,802.3ad
02:00:00:00:00:04,192.0.2.13/24,192.0.2.1,192.0.2.2,,
"""


def stored(service: RunningService, infra_env_id: str) -> dict[str, str]:
    """First MAC address of each host → its description."""
    found = httpx2.get(f"{service.api}/v2/infra-envs/{infra_env_id}").json()
    hosts: list[dict[str, Any]] = json.loads(found["static_network_config"])
    return {host["mac_interface_map"][0]["mac_address"]: host["network_yaml"] for host in hosts}


def test_a_table_goes_to_yaml_and_back(service: RunningService, open_page: OpenPage, keep: Keep) -> None:
    cluster_id, infra_env_id = create_by_api(service, "fixed")
    page = open_page("/clusters")
    page.goto(f"{service.url}/clusters/{cluster_id}/setup/media")
    page.locator("#static-add").click()
    page.get_by_test_id("cell-0-mac_addresses").evaluate(PASTE, CSV)
    expect(page.get_by_test_id("cell-2-ipv4")).to_have_value("192.0.2.13/24")
    verdict = page.get_by_test_id("static-verdict")
    expect(verdict).to_contain_text("nothing is wrong")

    # Mistakes are told before anything is saved.
    page.get_by_test_id("cell-2-ipv4").fill("192.0.2.12/24")
    expect(verdict).to_contain_text("Host ")
    expect(page.locator("#static-save")).to_be_disabled()
    keep(page, "static-wrong")
    page.get_by_test_id("cell-2-vlan").fill("many")
    expect(page.get_by_test_id("static-refusal")).to_contain_text("Row 3")
    page.get_by_test_id("cell-2-vlan").fill("")
    page.get_by_test_id("cell-2-ipv4").fill("192.0.2.13/24")
    expect(verdict).to_contain_text("nothing is wrong")

    page.locator("#static-view-preview").click()
    expect(page.get_by_test_id("preview-1")).to_contain_text("bond0 (802.3ad) of 2 cards, VLAN 404 on top")
    page.locator("#static-save").click()
    expect(page.locator("#static-save")).to_be_disabled()
    expect(page.get_by_text("The networks were saved")).to_be_visible()
    first = stored(service, infra_env_id)
    assert sorted(first) == ["02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:04"]

    # As YAML and as CSV it is the same; what no row can say is kept as it is.
    page.reload()
    expect(page.get_by_test_id("cell-2-ipv4")).to_be_visible()
    macs = [page.get_by_test_id(f"cell-{row}-mac_addresses").input_value()[:17] for row in range(3)]
    plain, other = macs.index("02:00:00:00:00:01"), macs.index("02:00:00:00:00:04")
    page.locator("#static-view-csv").click()
    titles, *lines = page.locator("#static-csv").input_value().split("\n")
    assert titles == "mac_addresses,ipv4,ipv4_gateway,dns,vlan,bond_mode,mtu,ipv6,ipv6_gateway,dns_search"
    assert sorted(lines) == [
        "02:00:00:00:00:01,192.0.2.11/24,192.0.2.1,192.0.2.2,,,,,,",
        "02:00:00:00:00:02 02:00:00:00:00:03,192.0.2.12/24,192.0.2.1,192.0.2.2,404,802.3ad,,,,",
        "02:00:00:00:00:04,192.0.2.13/24,192.0.2.1,192.0.2.2,,,,,,",
    ]
    page.locator("#static-view-yaml").click()
    text = page.get_by_test_id(f"yaml-{plain}")
    assert yaml.safe_load(text.input_value()) == yaml.safe_load(first["02:00:00:00:00:01"])
    keep(page, "static-yaml")
    more = text.input_value() + "hostname:\n  config: mine\n"
    text.fill(more)
    expect(page.locator("#static-view-table")).to_be_enabled()
    page.locator("#static-view-table").click()
    expect(page.get_by_text("says more than a row can")).to_be_visible()
    page.get_by_test_id(f"cell-{other}-mtu").fill("9000")
    expect(page.locator("#static-save")).to_be_enabled()
    page.locator("#static-save").click()
    expect(page.locator("#static-save")).to_be_disabled()
    second = stored(service, infra_env_id)
    assert second["02:00:00:00:00:01"] == more
    assert second["02:00:00:00:00:02"] == first["02:00:00:00:00:02"]
    assert yaml.safe_load(second["02:00:00:00:00:04"])["interfaces"][0]["mtu"] == 9000

    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(page.get_by_test_id(f"cell-{other}-mtu")).to_have_value("9000")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#static-network").scroll_into_view_if_needed()
    keep(page, "static-phone")
