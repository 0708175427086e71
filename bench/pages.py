"""How soon a person can use the page: the first load in Chromium on loopback, with nothing in the browser's cache."""

import shutil
import statistics
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from playwright.async_api import Browser, async_playwright

from bench.service import running_service

TURNS = 7
WATCH = """new MutationObserver((_, watching) => {
  if (!document.getElementById("create-cluster")) return;
  watching.disconnect();
  // Painted, and the next press of a key is answered.
  requestAnimationFrame(() => setTimeout(() => { window.usable = performance.now(); }, 0));
}).observe(document, { childList: true, subtree: true })"""
BYTES = "performance.getEntries().reduce((sum, entry) => sum + (entry.encodedBodySize ?? 0), 0)"


class Devtools(Protocol):
    def send(self, method: str) -> Awaitable[Mapping[str, Any]]: ...


async def first_load() -> dict[str, float] | str:
    """Milliseconds from asking for the address until its button answers, and what was fetched for it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return "Chromium is not installed."
    async with running_service() as running, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium)
        taken = [await _once(browser, running.url) for _ in range(TURNS)]
        await browser.close()
    milliseconds, cpu, fetched = zip(*taken, strict=True)
    return {
        "usable_after_ms_median": round(statistics.median(milliseconds), 1),
        "usable_after_ms_worst": round(max(milliseconds), 1),
        "main_thread_cpu_ms_median": round(statistics.median(cpu), 1),
        "fetched_bytes": max(fetched),
    }


async def _once(browser: Browser, url: str) -> tuple[float, float, int]:
    """Until usable, CPU of the page's own thread (the same on a busy machine), bytes. A context has its own cache."""
    context = await browser.new_context()
    page = await context.new_page()
    devtools = _typed(await context.new_cdp_session(page))
    await devtools.send("Performance.enable")
    await page.add_init_script(WATCH)
    await page.goto(url)
    await page.locator("[data-testid=line][data-state=live]").wait_for()
    usable: float | None = None
    while usable is None:
        usable = await page.evaluate("window.usable ?? null")
    metrics = await devtools.send("Performance.getMetrics")
    cpu: float = next(one["value"] for one in metrics["metrics"] if one["name"] == "ThreadTime") * 1000
    fetched: int = await page.evaluate(BYTES)
    await context.close()
    return usable, cpu, fetched


def _typed(session: Devtools) -> Devtools:
    """Playwright says nothing about what its answers hold."""
    return session
