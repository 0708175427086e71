"""The fixes that no healthy fleet asks for: hosts and clusters are told to the service as they would be."""

import json
from typing import Final
from uuid import UUID

import httpx2
from playwright.sync_api import Page, expect

from firstlight.simulate.inventory import inventory_text
from firstlight.simulate.user import simulated_pull_secret
from tests.clients.fleets import some_machines
from tests.services import RunningService
from tests.ui.acting import LATE_MS, apply_fix, create_by_api
from tests.ui.conftest import OpenPage

PUBLIC: Final = "Add pool.ntp.org as an NTP source"


def test_names_encryption_and_platforms_are_mended(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, infra_env_id = create_by_api(
        service,
        "unfit",
        platform={"type": "vsphere"},
        disk_encryption={"enable_on": "all", "mode": "tpmv2"},
    )
    cluster = f"{service.api}/v2/clusters/{cluster_id}"
    vendor = {"manufacturer": "OpenStack Foundation", "product_name": "OpenStack Compute", "serial_number": "1"}
    host = report_host(service, infra_env_id, hostname="Upper_Case", tpm_version="none", system_vendor=vendor)
    page = open_page(f"/clusters/{cluster_id}/problems")

    press(page, "hostname-valid", "Call this host upper-case")
    assert httpx2.get(host).json()["requested_hostname"] == "upper-case"

    press(page, "disk-encryption-requirements-satisfied", "Install without disk encryption")
    assert httpx2.get(cluster).json()["disk_encryption"]["enable_on"] == "none"

    press(page, "compatible-with-cluster-platform", "Use the platform baremetal")
    assert httpx2.get(cluster).json()["platform"]["type"] == "baremetal"

    press(page, "valid-platform-network-settings", "Manage the network yourself")
    stored = httpx2.get(cluster).json()
    assert (stored["user_managed_networking"], stored["platform"]["type"]) == (True, "none")

    # Who keeps the network anyway gets the platform that goes with it.
    httpx2.patch(cluster, json={"platform": {"type": "vsphere"}, "user_managed_networking": True}).raise_for_status()
    press(page, "compatible-with-cluster-platform", "Use the platform none")
    stored = httpx2.get(cluster).json()
    assert (stored["user_managed_networking"], stored["platform"]["type"]) == (True, "none")


def test_network_type_and_leases_are_mended(service: RunningService, open_page: OpenPage) -> None:
    cluster_id, _ = create_by_api(service, "typed", openshift_version="4.14", network_type="OpenShiftSDN")
    cluster = f"{service.api}/v2/clusters/{cluster_id}"
    httpx2.patch(cluster, json={"service_networks": [{"cidr": "fd02::/112"}]}).raise_for_status()
    page = open_page(f"/clusters/{cluster_id}/problems")

    press(page, "network-type-valid", "Use OVNKubernetes")
    assert httpx2.get(cluster).json()["network_type"] == "OVNKubernetes"

    httpx2.patch(cluster, json={"vip_dhcp_allocation": True}).raise_for_status()
    press(page, "network-type-valid", "Set the VIPs yourself instead")
    assert httpx2.get(cluster).json()["vip_dhcp_allocation"] is False


def test_the_time_of_a_free_host_is_mended(service: RunningService, open_page: OpenPage) -> None:
    wish = {"name": "free", "pull_secret": simulated_pull_secret(), "additional_ntp_sources": "ntp.example.com"}
    infra_env_id = httpx2.post(f"{service.api}/v2/infra-envs", json=wish).raise_for_status().json()["id"]
    infra_env = f"{service.api}/v2/infra-envs/{infra_env_id}"
    host = report_host(service, infra_env_id)
    report(host, "ntp-synchronizer", ntp_sources=[{"source_name": "ntp.example.com", "source_state": "unreachable"}])
    page = open_page(f"/infra-envs/{infra_env_id}?host={host.rpartition('/')[2]}")
    page.locator("#host-drawer").get_by_role("tab", name="Checks").click()
    check = page.get_by_test_id("check-ntp-synced")
    check.get_by_test_id("fix").filter(has_text=PUBLIC).click()
    expect(check.get_by_test_id("fix")).to_have_count(0)
    assert httpx2.get(infra_env).json()["additional_ntp_sources"] == "ntp.example.com,pool.ntp.org"
    # The host says later whether it helped.
    expect(check).to_contain_text("could not take its time")
    report(host, "ntp-synchronizer", ntp_sources=[{"source_name": "pool.ntp.org", "source_state": "synced"}])
    expect(check.filter(has_text="could not take its time")).to_have_count(0)


def press(page: Page, check: str, title: str) -> None:
    """The fix; afterwards the check finds nothing."""
    apply_fix(page, check, title)
    expect(page.get_by_test_id(f"problem-{check}")).to_have_count(0, timeout=LATE_MS)


def report_host(service: RunningService, infra_env_id: str, **unusual: object) -> str:
    """A healthy machine but for what is told of its inventory; where the service keeps it."""
    (machine,) = some_machines(masters=1, salt=infra_env_id)
    hosts = f"{service.api}/v2/infra-envs/{UUID(infra_env_id)}/hosts"
    httpx2.post(hosts, json={"host_id": str(machine.id)}).raise_for_status()
    report(f"{hosts}/{machine.id}", "inventory", **{**json.loads(inventory_text(machine)), **unusual})
    return f"{hosts}/{machine.id}"


def report(host: str, step: str, **output: object) -> None:
    reply = {"step_id": f"{step}-1", "step_type": step, "exit_code": 0, "output": json.dumps(output)}
    httpx2.post(f"{host}/instructions", json=reply).raise_for_status()
