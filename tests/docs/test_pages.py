"""Pages written from code say what the code says, and links between pages lead somewhere."""

import re
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from firstlight.server.settings import Settings
from tools import settings_page
from tools.settings_page import ROOT, groups, meanings, shown_duration

PAGES: Final = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("changes/*.md")])
LINK: Final = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")
SOURCE: Final = re.compile(r"`(?![^`]*NNNN)((?:core|server|simulate|cli|tools|tests|bench)/[\w/]+\.(?:py|md))`")
FRAGMENT: Final = re.compile(r"\d+\.(added|changed|deprecated|removed|fixed|security)(\.[a-z0-9-]+)?\.md")


def test_settings_are_as_in_the_code() -> None:
    assert settings_page.PAGE.read_text() == settings_page.page(), "Run tools/settings_page.py."


def test_every_setting_has_a_meaning() -> None:
    assert {name for group in groups() for name in meanings(group)} == set(Settings.model_fields)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0s"), (59, "59s"), (60, "1m"), (90, "1m30s"), (3600, "1h"), (3661, "1h1m1s"), (480 * 3600, "480h")],
)
def test_durations_are_written_as_they_may_be_typed(value: int, shown: str) -> None:
    assert shown_duration(timedelta(seconds=value)) == shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_named_files_exist(page: Path) -> None:
    text = page.read_text()
    gone = [target for target in LINK.findall(text) if not (page.parent / target).exists()]
    places = (ROOT, ROOT / "src" / "firstlight")
    gone += [name for name in SOURCE.findall(text) if not any((place / name).exists() for place in places)]
    assert gone == []


def test_every_runtime_dependency_has_its_note() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["server"]]
    notes = "".join(page.read_text() for page in (ROOT / "docs" / "decisions").glob("*.md")).lower()
    names = [re.split(r"[<>=;\[ ]", dependency)[0].lower() for dependency in wanted]
    assert [name for name in names if name not in notes] == []


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(LINK.findall((folder / "README.md").read_text()))
    assert listed == {page.name for page in folder.glob("*.md")} - {"README.md"}


@pytest.mark.parametrize("fragment", sorted((ROOT / "changes").glob("*")), ids=lambda path: path.name)
def test_changes_are_named_and_written_as_agreed(fragment: Path) -> None:
    if fragment.name == "README.md":
        return
    assert FRAGMENT.fullmatch(fragment.name)
    text = fragment.read_text().strip()
    assert text.endswith(".")
    assert "\n" not in text
