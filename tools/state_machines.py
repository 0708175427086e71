"""Print the page about the state machines, made from the tables themselves.

`python tools/state_machines.py > docs/state-machines.md`
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from firstlight.core.clusters import transitions as clusters
from firstlight.core.hosts import refresh as hosts
from firstlight.core.hosts import transitions as requests
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host_status import HostStatus

HEAD: Final = """\
# State machines

Generated from the tables in `src/firstlight/core/hosts/{refresh,transitions}.py` and
`src/firstlight/core/clusters/transitions.py` by `tools/state_machines.py`; a test fails when this page is stale.

A row fires when its trigger happens, the subject is in one of its sources and its guard holds. The first row that fits
wins, so the order of rows is part of the meaning. Rows of the trigger `refresh` follow from facts and time alone and
are tried at every evaluation; all others answer a request, and where none fits the request is refused.
"""


@dataclass(frozen=True)
class Row:
    """A row of either machine, as words."""

    id: str
    on: str
    source: tuple[str, ...]
    target: str
    """Empty: stays where it is."""
    when: str
    why: str


def words(table: Iterable[hosts.HostRow] | Iterable[clusters.ClusterRow], order: Sequence[str]) -> list[Row]:
    return [
        Row(
            id=row.id,
            on=row.on.value,
            source=tuple(sorted((status.value for status in row.source), key=order.index)),
            target="" if row.target is None else row.target.value,
            when=row.when.name,
            why=row.why,
        )
        for row in table
    ]


def statuses(kind: type[StrEnum]) -> list[str]:
    return [status.value for status in kind]


@dataclass(frozen=True)
class Chapter:
    title: str
    rows: list[Row]


def chapters() -> list[Chapter]:
    host, cluster = statuses(HostStatus), statuses(ClusterStatus)
    return [
        Chapter("Hosts: preparation", words(hosts.PREPARATION, host)),
        Chapter("Hosts: installation", words(hosts.INSTALLATION, host)),
        Chapter("Hosts: discovery and the end", words(hosts.DISCOVERY, host)),
        Chapter("Hosts: the pool", words(hosts.POOL, host)),
        Chapter("Hosts: registration", words(requests.REGISTER, host)),
        Chapter("Hosts: progress reports", words(requests.PROGRESS, host)),
        Chapter("Hosts: other requests", words(requests.REQUESTS, host)),
        Chapter("Clusters: before the installation", words(clusters.BEFORE, cluster)),
        Chapter("Clusters: preparation", words(clusters.PREPARATION, cluster)),
        Chapter("Clusters: installation", words(clusters.INSTALLATION, cluster)),
        Chapter("Clusters: requests", words(clusters.REQUESTS, cluster)),
    ]


def diagram(rows: Iterable[Row]) -> Iterator[str]:
    """Edges that lead somewhere else, named by their rows."""
    edges: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for source in row.source:
            if row.target not in ("", source):
                edges.setdefault((source, row.target), []).append(row.id)
    yield "```mermaid"
    yield "stateDiagram-v2"
    for name in dict.fromkeys(state for edge in edges for state in edge):
        yield f'    state "{name}" as {name.replace("-", "_")}'
    for (source, target), ids in edges.items():
        yield f"    {source.replace('-', '_')} --> {target.replace('-', '_')}: {' '.join(ids)}"
    yield "```"


def lines(rows: Iterable[Row]) -> Iterator[str]:
    yield "| Row | On | From | When | To | Why |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        cells = (row.id, row.on, ", ".join(row.source), row.when, row.target or "(stays)", row.why)
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def page() -> str:
    parts = [HEAD]
    for chapter in chapters():
        parts.append(f"## {chapter.title}\n")
        parts.append("\n".join(diagram(chapter.rows)) + "\n")
        parts.append("\n".join(lines(chapter.rows)) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
