"""Five thousand hosts in one table: scrolled, sorted, filtered, and changed together."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from firstlight.server.ports.writes import PutInfraEnv
from firstlight.server.store.connect import open_database
from firstlight.server.store.sql_store import open_store
from tests.builders.clusters import an_infra_env
from tests.builders.moments import INFRA_ENV_ID
from tests.crowds import crowd
from tests.services import RunningService, run_service
from tests.ui.conftest import OpenPage

MANY: Final = 5_000
PATIENCE_MS: Final = 120_000
ROWS: Final = "tr.fl-host-row"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[RunningService]:
    """A service that knows the crowd already when it starts."""
    folder = tmp_path_factory.mktemp("crowd")
    # The browser has the loop of this thread.
    filling = threading.Thread(target=lambda: asyncio.run(_filled(folder / "data")))
    filling.start()
    filling.join()
    with run_service(folder) as running:
        yield running
        assert running.complaints() == ""


async def _filled(folder: Path) -> None:
    database = await open_database(str(folder / "firstlight.sqlite"))
    store = open_store(database)
    now = datetime.now(UTC)
    pool = an_infra_env(cluster_id=None, name="crowd", created_at=now, updated_at=now)
    await store.commit(PutInfraEnv(infra_env=pool, expect_revision=None))
    await crowd(store, MANY, infra_env_id=INFRA_ENV_ID, now=now)
    await database.close()


def test_a_table_of_thousands_is_at_hand(service: RunningService, open_page: OpenPage) -> None:
    page = open_page(f"/infra-envs/{INFRA_ENV_ID}")
    count = page.get_by_test_id("host-count")
    expect(count).to_have_text("5,000 hosts", timeout=PATIENCE_MS)
    expect(page.get_by_test_id("host-machine-1")).to_be_visible()
    assert page.locator(ROWS).count() < 100

    _scrolled_to_the_end(page)
    expect(page.get_by_test_id("host-machine-5000")).to_be_visible()
    assert page.locator(ROWS).count() < 100

    header = page.get_by_role("columnheader", name="CPUs")
    for order in ("ascending", "descending"):
        header.get_by_role("button").click()
        expect(header).to_have_attribute("aria-sort", order)
    page.locator(".fl-hosts").evaluate("box => box.scrollTo(0, 0)")
    # The first in the order of names among those with most cores.
    expect(page.locator(ROWS).first).to_contain_text("machine-7")

    page.get_by_label("Find hosts").fill("machine-49")
    expect(count).to_have_text("111 of 5,000 hosts")
    _tell_how_long_it_took(page)

    page.get_by_role("button", name="Choose all that match").click()
    expect(page.get_by_test_id("chosen")).to_have_text("111 hosts chosen")
    page.get_by_role("button", name="Change…").click()
    page.get_by_label("Name template").fill("rack-{n:03}")
    page.get_by_label("Node labels").fill("row=9")
    expect(page.get_by_text("and 105 more hosts")).to_be_visible()
    page.get_by_role("button", name="Change 111 hosts").click()
    expect(page.get_by_text("111 hosts changed.")).to_be_visible(timeout=PATIENCE_MS)

    page.get_by_label("Find hosts").fill("rack-")
    expect(count).to_have_text("111 of 5,000 hosts")
    page.get_by_label("Find hosts").fill("row=9")
    expect(count).to_have_text("111 of 5,000 hosts")
    expect(page.get_by_test_id("host-rack-001")).to_be_visible()
    table = httpx2.get(f"{service.url}/api/firstlight/v1/infra-envs/{INFRA_ENV_ID}/hosts", params={"text": "rack-"})
    assert {row["labels"]["row"] for row in table.json()["hosts"]} == {"9"}
    _kept_for_another_day(page)


def test_all_of_them_change_at_once(open_page: OpenPage) -> None:
    page = open_page(f"/infra-envs/{INFRA_ENV_ID}")
    expect(page.get_by_test_id("host-count")).to_have_text("5,000 hosts", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Choose all").click()
    expect(page.get_by_test_id("chosen")).to_have_text("5,000 hosts chosen", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Change…").click()
    page.get_by_label("Node labels").fill("site=east")
    page.get_by_role("button", name="Change 5,000 hosts").click()
    expect(page.get_by_text("5,000 hosts changed.")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_label("Find hosts").fill("site=east")
    expect(page.get_by_test_id("host-count")).to_have_text("5,000 of 5,000 hosts")


def _kept_for_another_day(page: Page) -> None:
    """The filter that is set is saved, there again after the page was loaded anew, and forgotten."""
    menu = page.locator("#saved-filters")
    menu.click()
    page.get_by_role("option", name="Save this filter…").click()
    page.get_by_role("textbox", name="Name").fill("Row nine")
    page.keyboard.press("Enter")
    expect(menu).to_have_text("Row nine")
    page.reload()
    count = page.get_by_test_id("host-count")
    expect(count).to_have_text("5,000 hosts", timeout=PATIENCE_MS)
    menu.click()
    page.get_by_role("option", name="Row nine").click()
    expect(count).to_have_text("111 of 5,000 hosts")
    expect(page.get_by_label("Find hosts")).to_have_value("row=9")
    menu.click()
    page.get_by_role("option", name="Forget “Row nine”").click()
    expect(menu).to_have_text("Saved filters")
    menu.click()
    expect(page.get_by_role("option", name="Row nine")).to_have_count(0)


def _scrolled_to_the_end(page: Page) -> None:
    page.locator(".fl-hosts").evaluate("box => box.scrollTo(0, box.scrollHeight)")


def _tell_how_long_it_took(page: Page) -> None:
    """A figure to read, not to fail by: the machine may be busy."""
    taken = page.evaluate(
        "performance.getEntriesByType('resource').filter(it => it.name.includes('text=machine-49'))"
        ".map(it => Math.round(it.responseEnd - it.requestStart))"
    )
    logging.getLogger(__name__).warning("5,000 hosts filtered in %s ms, as the browser saw it", taken)
