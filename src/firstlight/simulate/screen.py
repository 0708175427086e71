"""What a run shows: a live table at a terminal, lines elsewhere, JSON for programs."""

import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Protocol

import msgspec
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from firstlight.simulate.documents import HostDocument
from firstlight.simulate.ends import Snapshot
from firstlight.simulate.machines import Machine

MOST_ROWS: Final = 40
GOOD: Final = frozenset({"known", "known-unbound", "installed", "added-to-existing-cluster", "ready"})
BAD: Final = frozenset({"error", "insufficient", "disconnected", "cancelled", "installing-pending-user-action"})


class Screen(Protocol):
    def __enter__(self) -> "Screen": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def say(self, sentence: str) -> None: ...

    def show(self, snapshot: Snapshot) -> None: ...


class LiveTable:
    """Hosts with role, status, stage and a bar, redrawn in place. Large fleets are summed up by status."""

    def __init__(self, machines: Sequence[Machine], *, console: Console, title: str) -> None:
        self._machines = machines
        self._console = console
        self._title = title
        self._doing = ""
        self._started = time.monotonic()
        self._snapshot = Snapshot(hosts={}, wanted=len(machines))
        self._live = Live(console=console, auto_refresh=False)

    def __enter__(self) -> "LiveTable":
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._draw()
        self._live.stop()

    def say(self, sentence: str) -> None:
        self._doing = sentence
        self._draw()

    def show(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._draw()

    def _draw(self) -> None:
        self._live.update(self._table(), refresh=True)

    def _table(self) -> Table:
        cluster, seconds = self._snapshot.cluster, int(time.monotonic() - self._started)
        caption = f"{seconds} s"
        if cluster is not None:
            share = cluster.progress.total_percentage if cluster.progress else 0
            caption = f"cluster {_coloured(cluster.status)} {share} % — {cluster.status_info} · {caption}"
        if self._doing:
            caption = f"{self._doing} · {caption}"
        table = Table(title=self._title, caption=caption, caption_justify="left", expand=False)
        for column in ("Host", "Role", "Status", "Stage", "Progress"):
            table.add_column(column)
        if len(self._machines) > MOST_ROWS:
            for status, count in self._snapshot.status_counts().items():
                table.add_row(f"{count} hosts", "", _coloured(status), "", "")
            return table
        for machine in self._machines:
            self._add(table, machine, self._snapshot.hosts.get(machine.id))
        return table

    @staticmethod
    def _add(table: Table, machine: Machine, host: HostDocument | None) -> None:
        if host is None:
            table.add_row(machine.name, "", "[dim]starting[/dim]", "", "")
            return
        reached = host.reached
        stage = f"{reached.current_stage} {reached.progress_info if reached.progress_info.endswith('%') else ''}"
        bar = ProgressBar(total=100, completed=reached.installation_percentage, width=24)
        table.add_row(machine.name, host.part, _coloured(host.status), stage.strip(), bar)


def _coloured(status: str) -> str:
    colour = "green" if status in GOOD else "red" if status in BAD else "cyan"
    return f"[{colour}]{status}[/{colour}]"


class Lines:
    """One line per change; as JSON when a program reads along."""

    def __init__(self, machines: Sequence[Machine], *, as_json: bool) -> None:
        self._machines = machines
        self._as_json = as_json
        self._started = time.monotonic()
        self._last: tuple[str, ...] = ()

    def __enter__(self) -> "Lines":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def say(self, sentence: str) -> None:
        self._write({"doing": sentence}, sentence)

    def show(self, snapshot: Snapshot) -> None:
        hosts = [snapshot.hosts.get(machine.id) for machine in self._machines]
        stages = [_line(machine, host) for machine, host in zip(self._machines, hosts, strict=True)]
        now = (snapshot.cluster_status, *stages)
        if now == self._last:
            return
        counts = snapshot.status_counts()
        told = ", ".join(f"{count} {status}" for status, count in counts.items()) or "no host yet"
        if len(self._machines) <= MOST_ROWS:
            before = self._last[1:] or ("",) * len(stages)
            changed = [line for line, earlier in zip(stages, before, strict=True) if line != earlier]
            told = "; ".join(changed) or told
        self._last = now
        document = {
            "cluster": snapshot.cluster_status,
            "hosts": dict(counts),
            "stages": {
                machine.name: host.reached.current_stage
                for machine, host in zip(self._machines, hosts, strict=True)
                if host is not None and host.reached.current_stage
            },
        }
        self._write(document, f"cluster {snapshot.cluster_status or 'none'}: {told}")

    def _write(self, document: Mapping[str, object], sentence: str) -> None:
        seconds = round(time.monotonic() - self._started, 1)
        if self._as_json:
            line = msgspec.json.encode({"seconds": seconds, **document}).decode()
        else:
            line = f"{seconds:7.1f} s  {sentence}"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _line(machine: Machine, host: HostDocument | None) -> str:
    if host is None:
        return f"{machine.name} starting"
    stage = f" ({host.reached.current_stage})" if host.reached.current_stage else ""
    return f"{machine.name} {host.status}{stage}"
