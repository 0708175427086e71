"""What people do in the pages, in their words."""

import re
from typing import Final
from uuid import UUID

import httpx2
from playwright.sync_api import Locator, Page, expect

from firstlight.simulate.user import SSH_KEY, simulated_pull_secret
from tests.services import RunningService

IN_ADDRESS: Final = re.compile(r"/clusters/([0-9a-f-]{36})/")
INSTALL_MS: Final = 240_000
LATE_MS: Final = 60_000
"""For what hosts must tell first."""


def create_by_wizard(page: Page, name: str) -> UUID:
    """From the list to the second step; the cluster's id."""
    page.get_by_role("link", name="Create cluster").first.click()
    page.get_by_label("Cluster name").fill(name)
    page.get_by_label("Base domain").fill("lab.example.com")
    page.get_by_label("Pull secret").fill(simulated_pull_secret())
    page.get_by_label("SSH public key").fill(SSH_KEY)
    page.get_by_role("button", name="Create and go on").click()
    page.get_by_test_id("step-operators").wait_for()
    found = IN_ADDRESS.search(page.url)
    assert found is not None
    return UUID(found.group(1))


def create_by_api(service: RunningService, name: str, **more: object) -> tuple[UUID, str]:
    """A draft with its infra-env, without the pages; the ids of both."""
    secret = simulated_pull_secret()
    body = {"name": name, "openshift_version": "4.22", "base_dns_domain": "lab.example.com", "pull_secret": secret}
    cluster = httpx2.post(f"{service.api}/v2/clusters", json={**body, **more}).raise_for_status().json()
    wish = {"name": f"{name}_infra-env", "cluster_id": cluster["id"], "pull_secret": secret}
    infra_env = httpx2.post(f"{service.api}/v2/infra-envs", json=wish).raise_for_status().json()
    return UUID(cluster["id"]), str(infra_env["id"])


def to_step(page: Page, name: str, key: str) -> None:
    page.get_by_role("navigation", name="Steps of the setup").get_by_role("button", name=name).click()
    page.get_by_test_id(f"step-{key}").wait_for()


def infra_env_of(service: RunningService, cluster_id: UUID) -> str:
    found = httpx2.get(f"{service.api}/v2/infra-envs", params={"cluster_id": str(cluster_id)}).json()
    return str(found[0]["id"])


def status_is(page: Page, status: str, *, timeout: float = 60_000) -> None:
    """The state as the cluster's page says it."""
    expect(page.get_by_test_id("cluster-status")).to_have_attribute("data-status", status, timeout=timeout)


def shown(page: Page, check: str) -> Locator:
    """The problem, opened."""
    problem = page.get_by_test_id(f"problem-{check}").first
    toggle = problem.get_by_role("button").first
    harmless = page.get_by_role("button", name="not block", expanded=False)
    # It may move to those that do not block while we look.
    expect(toggle.or_(harmless).first).to_be_visible(timeout=LATE_MS)
    expect(problem).to_be_attached(timeout=LATE_MS)
    if not problem.is_visible():
        expect(toggle.or_(harmless).first).to_be_visible(timeout=LATE_MS)
        harmless.click()
    expect(toggle).to_be_visible(timeout=LATE_MS)
    if toggle.get_attribute("aria-expanded") == "false":
        toggle.click()
    return problem


def apply_fix(page: Page, check: str, title: str) -> None:
    button = shown(page, check).get_by_test_id("fix").filter(has_text=title).first
    expect(button).to_be_visible(timeout=LATE_MS)
    button.click()
