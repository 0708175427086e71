"""What a run shows: a table that fits its fleet, lines when something changed, JSON for programs."""

import io
from uuid import uuid4

import msgspec
import pytest
from rich.console import Console

from firstlight.simulate.documents import ClusterDocument, ClusterProgress, HostDocument, Progress
from firstlight.simulate.ends import Snapshot
from firstlight.simulate.machines import Machine, Plan, make_machines
from firstlight.simulate.screen import MOST_ROWS, Lines, LiveTable

MACHINES = make_machines(Plan(masters=3), seed=1)


def snapshot(machines: tuple[Machine, ...], status: str, *, stage: str = "", info: str = "") -> Snapshot:
    hosts = {
        machine.id: HostDocument(
            id=machine.id,
            status=status,
            role="auto-assign",
            suggested_role="master",
            progress=Progress(current_stage=stage, progress_info=info, installation_percentage=37),
        )
        for machine in machines
    }
    cluster = ClusterDocument(
        id=uuid4(), status="installing", status_info="Busy", progress=ClusterProgress(total_percentage=42)
    )
    return Snapshot(hosts=hosts, cluster=cluster, wanted=len(machines))


def drawn(machines: tuple[Machine, ...], *seen: Snapshot) -> str:
    console = Console(file=io.StringIO(), width=160, force_terminal=False)
    with LiveTable(machines, console=console, title="Cluster lab") as table:
        table.say("waiting")
        for one in seen:
            table.show(one)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table_shows_role_status_and_stage() -> None:
    shown = drawn(MACHINES, snapshot(MACHINES, "installing-in-progress", stage="Writing image to disk", info="35%"))
    assert shown.count("Writing image to disk 35%") == 3
    assert shown.count("installing-in-progress") == 3
    assert "master-2" in shown
    assert "42 %" in shown
    assert "waiting" in shown


def test_machines_that_are_not_seen_yet_are_starting() -> None:
    assert drawn(MACHINES).count("starting") == 3


@pytest.mark.parametrize(("count", "rows"), [(MOST_ROWS, MOST_ROWS), (MOST_ROWS + 1, 1)])
def test_large_fleets_are_summed_up(count: int, rows: int) -> None:
    machines = make_machines(Plan(any_role=count))
    shown = drawn(machines, snapshot(machines, "known"))
    assert shown.count(" known ") == rows


def test_lines_tell_only_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(MACHINES, as_json=False)
    known = snapshot(MACHINES, "known")
    moved = Snapshot(
        hosts={**known.hosts, MACHINES[1].id: snapshot(MACHINES, "error").hosts[MACHINES[1].id]},
        cluster=known.cluster,
        wanted=3,
    )
    for one in (known, known, moved):
        lines.show(one)
    first, second = capsys.readouterr().out.splitlines()
    assert "master-0 known" in first
    assert "master-1 error" in second
    assert "master-0" not in second


def test_programs_get_one_document_per_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(MACHINES, as_json=True)
    lines.say("waiting")
    lines.show(snapshot(MACHINES, "installing-in-progress", stage="Installing"))
    said, shown = (msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines())
    assert said["doing"] == "waiting"
    assert shown["cluster"] == "installing"
    assert shown["hosts"] == {"installing-in-progress": 3}
    assert shown["stages"]["master-0"] == "Installing"
