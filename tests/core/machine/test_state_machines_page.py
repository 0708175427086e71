"""docs/state-machines.md tells what the tables say."""

from pathlib import Path

from firstlight.core.clusters import transitions as clusters
from firstlight.core.hosts.refresh import REFRESH_TABLE
from firstlight.core.hosts.transitions import TRANSITIONS
from tools.state_machines import chapters, page

PAGE = Path(__file__).parents[3] / "docs" / "state-machines.md"


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == page(), "run: python tools/state_machines.py > docs/state-machines.md"


def test_every_row_is_told_in_its_place() -> None:
    told = [row.id for chapter in chapters() for row in chapter.rows]
    code = [*REFRESH_TABLE, *TRANSITIONS, *clusters.REFRESH_TABLE, *clusters.TRANSITIONS]
    assert told == [row.id for row in code]
