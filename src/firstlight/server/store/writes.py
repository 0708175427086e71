"""From writes to statements: in the order given, neighbours of one kind joined into a batch, events last."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from firstlight.server.ports.database import Notify, Param, Sql, Statement
from firstlight.server.ports.writes import (
    AddEvents,
    Cancel,
    DeleteCluster,
    DeleteHost,
    DeleteInfraEnv,
    DeleteManifest,
    DropReports,
    MakeDue,
    PurgeCluster,
    PurgeHost,
    PurgeInfraEnv,
    PutCluster,
    PutFindings,
    PutHost,
    PutInfraEnv,
    PutIssued,
    PutManifest,
    PutOperation,
    PutPlan,
    PutPresence,
    PutReport,
    PutSecret,
    TouchCluster,
    Write,
)
from firstlight.server.store import (
    clusters,
    due,
    events,
    findings,
    hosts,
    infra_envs,
    manifests,
    operations,
    plans,
    presence,
    reports,
    secrets,
)
from firstlight.server.store.news import notices

BATCHES: Final[Mapping[Sql, tuple[str, ...]]] = {
    clusters.TOUCH_BESIDE: ("id",),
    hosts.PUT: ("infra_env_id", "id"),
    presence.PUT: ("infra_env_id", "host_id"),
    reports.PUT: ("infra_env_id", "host_id", "kind"),
    findings.PUT: ("subject",),
    plans.PUT: ("infra_env_id", "host_id"),
    due.PUT: ("subject", "kind"),
    secrets.PUT: ("subject", "name"),
}
"""Upserts that go as one batch, with the key that may appear in it once only."""


Made = Sequence[tuple[Write, tuple[Statement, ...]]]
"""Each write with its statements, which hold the documents and versions as they are stored."""


def made_of(writes: Iterable[Write]) -> Made:
    return [(write, tuple(statements_of(write))) for write in writes if not isinstance(write, AddEvents)]


def work(writes: Sequence[Write], made: Made, *, in_rows: bool = False) -> tuple[Statement | Notify, ...]:
    """Everything to be done in one commit. `in_rows`: the statements for one are those for many."""
    added = [event for write in writes if isinstance(write, AddEvents) for event in write.events]
    plain = (statement for _, statements in made for statement in statements)
    return (*batched(plain, in_rows=in_rows), *notices(writes), *events.add(added, in_rows=in_rows))


def statements_of(write: Write) -> Iterator[Statement]:
    match write:
        case PutCluster():
            return clusters.put(write)
        case TouchCluster():
            return clusters.touch(write)
        case DeleteCluster():
            return clusters.delete(write)
        case PurgeCluster():
            return clusters.purge(write)
        case PurgeHost():
            return hosts.purge(write)
        case PurgeInfraEnv():
            return infra_envs.purge(write)
        case PutHost():
            return hosts.put(write)
        case DeleteHost():
            return hosts.delete(write)
        case PutInfraEnv():
            return infra_envs.put(write)
        case DeleteInfraEnv():
            return infra_envs.delete(write)
        case PutReport():
            return reports.put(write)
        case DropReports():
            return reports.drop(write)
        case PutPresence():
            return presence.put(write)
        case PutIssued():
            return presence.issue(write)
        case PutFindings():
            return findings.put(write)
        case PutPlan():
            return plans.put(write)
        case MakeDue():
            return due.put(write)
        case Cancel():
            return due.cancel(write)
        case PutSecret():
            return secrets.put(write)
        case PutManifest():
            return manifests.put(write)
        case DeleteManifest():
            return manifests.delete(write)
        case PutOperation():
            return operations.put(write)
        case AddEvents():
            return iter(events.add(write.events))


def batched(statements: Iterable[Statement], *, in_rows: bool = False) -> Iterator[Statement]:
    run: dict[tuple[Param, ...], Statement] = {}
    current: Sql | None = None
    for statement in statements:
        columns = BATCHES.get(statement.sql)
        key = tuple(statement.params[column] for column in columns or ())
        if current is not None and (statement.sql is not current or key in run):
            yield joined(list(run.values()), in_rows=in_rows)
            run, current = {}, None
        if columns is None:
            yield statement
        else:
            current = statement.sql
            run[key] = statement
    if current is not None:
        yield joined(list(run.values()), in_rows=in_rows)


def joined(several: Sequence[Statement], *, in_rows: bool) -> Statement:
    """One statement for all; the rows that each of them must touch it must touch, too."""
    first = several[0]
    if len(several) == 1 and not in_rows:
        return first
    expected = None if first.expect_rows is None else sum(each.expect_rows or 0 for each in several)
    return Statement(first.sql, rows=[each.params for each in several], expect_rows=expected)
