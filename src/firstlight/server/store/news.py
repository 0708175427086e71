"""What a commit tells the other replicas: which subjects changed, that events were added, when something is due.

Each channel gets at most one small notice per commit. An empty payload says "look for yourself".
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from firstlight.core.events.recorded import Recorded
from firstlight.server.ports.database import MAX_NOTICE_BYTES, Notify
from firstlight.server.ports.subjects import (
    CHANGES,
    DUE,
    EVENTS,
    FINDINGS,
    cluster_subject,
    host_subject,
    infra_env_subject,
)
from firstlight.server.ports.writes import (
    AddEvents,
    DeleteCluster,
    DeleteHost,
    DeleteInfraEnv,
    DeleteManifest,
    DropReports,
    MakeDue,
    PurgeCluster,
    PurgeHost,
    PutCluster,
    PutFindings,
    PutHost,
    PutInfraEnv,
    PutIssued,
    PutManifest,
    PutOperation,
    PutPlan,
    PutReport,
    TouchCluster,
    Write,
)
from firstlight.server.store.documents import micros

OF_CLUSTER: Final = (DeleteCluster, PurgeCluster, PutManifest, DeleteManifest)
GUARDING: Final = (PutCluster, TouchCluster)
OF_HOST: Final = (DeleteHost, PurgeHost, PutReport, DropReports, PutPlan, PutIssued)


def subjects_of(write: Write) -> Iterator[str]:
    """The subjects a write changes, as those see it who remember hosts: their record, plan and reports.

    Check-ins, secrets and the queue itself are nobody's news; findings are always written with the record.
    """
    if isinstance(write, PutHost):
        yield host_subject((write.host.infra_env_id, write.host.id))
    elif isinstance(write, OF_HOST):
        yield host_subject(write.key)
    elif isinstance(write, OF_CLUSTER):
        yield cluster_subject(write.cluster_id)
    elif isinstance(write, PutInfraEnv):
        yield infra_env_subject(write.infra_env.id)
    elif isinstance(write, DeleteInfraEnv):
        yield infra_env_subject(write.infra_env_id)
    elif isinstance(write, PutOperation):
        yield write.operation.subject


def guarded(writes: Iterable[Write]) -> Iterator[str]:
    """The clusters whose hosts a commit changes: fewer names than their hosts have."""
    for write in writes:
        if isinstance(write, GUARDING):
            yield cluster_subject(write.cluster.id if isinstance(write, PutCluster) else write.cluster_id)


def words_of_event(event: Recorded) -> Iterator[str]:
    yield event.about.value
    if event.cluster_id is not None:
        yield cluster_subject(event.cluster_id)
    if event.infra_env_id is not None:
        yield infra_env_subject(event.infra_env_id)


def folded(subjects: Iterable[str]) -> str:
    """The subjects with a space between, or nothing when they are too many for one notice."""
    payload = " ".join(dict.fromkeys(subjects))
    return payload if len(payload) <= MAX_NOTICE_BYTES else ""


def notices(writes: Sequence[Write]) -> Iterator[Notify]:
    changed: list[str] = []
    told: list[str] = []
    judged: list[str] = []
    due: list[int] = []
    added = False
    for write in writes:
        if isinstance(write, AddEvents):
            added = added or bool(write.events)
            told.extend(subject for event in write.events for subject in words_of_event(event))
        elif isinstance(write, PutFindings):
            judged.append(write.subject)
        elif isinstance(write, MakeDue):
            due.append(micros(write.at))
        else:
            changed.extend(subjects_of(write))
    if changed:
        yield Notify(CHANGES, folded(changed) or folded(guarded(writes)))
    if added:
        yield Notify(EVENTS, folded(told))
    unsaid = not added and any(isinstance(write, PutCluster) for write in writes)
    if judged or unsaid:
        # Evidence, fixes and who reaches whom change without an event; whoever shows them wants to know all the same.
        yield Notify(FINDINGS, folded((*guarded(writes), *judged)) or folded(guarded(writes)))
    if due:
        yield Notify(DUE, str(min(due)))
