"""The rules of accessibility as axe-core checks them, and text that is cut."""

from typing import Final

from playwright.sync_api import Page

from tests.conftest import missing
from tools.build_ui import LIBRARIES

AXE: Final = LIBRARIES / "axe-core" / "axe.min.js"
TAGS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
SERIOUS: Final = {"serious", "critical"}
RUN: Final = """async ([tags, only]) => {
  // Colours on their way from one theme to the other are nobody's.
  const moving = document.getAnimations().filter((it) => it instanceof CSSTransition);
  await Promise.all(moving.map((it) => it.finished.catch(() => undefined)));
  const found = await window.axe.run(document, {
    runOnly: only ? { type: "rule", values: only } : { type: "tag", values: tags },
    resultTypes: ["violations"],
    // No rule of these tags reads style sheets or media files: they need not be fetched for it.
    preload: false,
  });
  return found.violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => [impact, `${id}: ${html.slice(0, 300)} ${failureSummary}`]));
}"""
CUT: Final = """() => [...document.querySelectorAll("body *")].filter((it) => {
  const told = [...it.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  if (!told || !it.checkVisibility() || it.clientWidth < 4) return false;
  return getComputedStyle(it).overflowX !== "visible" && it.scrollWidth > it.clientWidth + 1;
}).map((it) => `${it.className}: ${it.textContent.slice(0, 80)}`)"""


def complaints(page: Page, *, only: list[str] | None = None) -> list[str]:
    """What is seriously wrong with the page as it stands; `only` names rules."""
    if not AXE.is_file():
        missing("axe-core is not installed: make ui")
    # The page's policy takes no script from elsewhere; what the browser itself evaluates is not its business.
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text() + "\n;undefined")
    return [text for impact, text in page.evaluate(RUN, [TAGS, only]) if impact in SERIOUS]


def cut_texts(page: Page) -> list[str]:
    return page.evaluate(CUT)
