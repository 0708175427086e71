"""A real browser on the real service: pages that must stay free of errors, foreign requests and refused content."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from firstlight.server.web.files import BUILT, INDEX
from tests.conftest import missing
from tests.services import RunningService, run_service

PATIENCE_MS: Final = 90_000
"""How long a condition may take on a busy machine."""
OpenPage = Callable[..., Page]
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        missing("Chromium is not installed: sudo apt-get install --no-install-recommends chromium")
    if not (BUILT / INDEX).is_file():
        missing("The web UI was not built: make ui")
    # One per module: while it lives, no test of this process can have a loop of its own.
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium)
        yield started
        started.close()


@pytest.fixture(scope="session")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Started once: on a busy machine the start takes longer than many of the tests."""
    with run_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="module")
def service(browser: Browser, shared_service: RunningService) -> Iterator[RunningService]:
    """What others did before may be there: clusters are found by their names."""
    yield shared_service
    assert shared_service.complaints() == ""


@pytest.fixture(scope="module")
def empty_service(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[RunningService]:
    """For those who need it for themselves, in the place of `service`."""
    with run_service(tmp_path_factory.mktemp("service")) as running:
        yield running
        assert running.complaints() == ""


class Troubles:
    """What a page must not do."""

    def __init__(self, origin: str) -> None:
        self._hosts = {urlsplit(origin).netloc}
        self.seen: list[str] = []

    def watch(self, page: Page, origin: str) -> None:
        self._hosts.add(urlsplit(origin).netloc)
        page.on("pageerror", lambda error: self.seen.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.seen.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self._note_request(request.url))
        page.on("console", lambda said: self._note_words(said.type, said.text))

    def _note_request(self, url: str) -> None:
        if urlsplit(url).netloc not in self._hosts:
            self.seen.append(f"request to another host: {url}")

    def _note_words(self, kind: str, text: str) -> None:
        # A request that is refused or lost is told there too; the pages say it to the user, and tests ask for it.
        if kind == "error" and "Failed to load resource" not in text:
            self.seen.append(f"console: {text}")


@pytest.fixture
def open_page(browser: Browser, service: RunningService) -> Iterator[OpenPage]:
    """Opens pages of the service; afterwards none of them may have caused trouble."""
    contexts: list[BrowserContext] = []
    troubles = Troubles(service.url)

    def opened(
        path: str = "/", *, width: int = 1280, height: int = 900, dark: bool = False, origin: str = service.url
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", locale="en-GB"
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        troubles.watch(page, origin)
        page.goto(origin + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles.seen == []


@pytest.fixture
def keep() -> Callable[[Page, str], None]:
    """Takes pictures into the folder that FIRSTLIGHT_PICTURES names; without it, none."""
    folder = os.environ.get("FIRSTLIGHT_PICTURES")

    def picture(page: Page, name: str) -> None:
        if folder:
            page.screenshot(path=str(Path(folder) / f"{name}.png"), animations="disabled")

    return picture
