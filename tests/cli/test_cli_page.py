"""The page about the command line names every command and every fault there is, and nothing else."""

import re
from pathlib import Path

from firstlight.simulate.scenarios import FAULTS
from tests.cli.test_alone import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
GROUPS = {"clusters", "infra-envs", "hosts", "images", "release"}
ALONE = ["images"]
"""A group that does something without a word behind it."""


def test_every_command_is_on_the_page() -> None:
    named = {tuple(words) for words in COMMANDS if words[0] not in GROUPS or len(words) == 2 or words == ALONE}
    told: set[tuple[str, ...]] = set()
    for words in re.findall(r"`firstlight ([a-z-]+(?: [a-z-]+)?)", PAGE):
        first, *rest = words.split()
        told.add((first, rest[0]) if first in GROUPS and rest else (first,))
    assert told == named


def test_every_fault_is_on_the_page_with_what_it_leads_to() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|.*?\| (.*) \|$", PAGE, flags=re.MULTILINE))
    assert {*rows} == {*FAULTS}
    for name, told in rows.items():
        expected = FAULTS[name].expected
        for word in (expected.host_finding, expected.cluster_finding, expected.event):
            assert word in told or word == "connected", name
