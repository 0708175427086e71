"""The course of an installation: when each host was in which stage, read from the events of its progress."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta, Struct
from msgspec.structs import replace

from firstlight.core.events.cluster import FinalizingStageUpdated
from firstlight.core.events.host import HostProgressUpdated
from firstlight.core.events.recorded import Recorded
from firstlight.core.model.host import HostState, hostname_of
from firstlight.core.model.host_status import HostStatus, Stage
from firstlight.server.ports.event_pages import EventQuery
from firstlight.server.usecases.deciding import load_cluster
from firstlight.server.usecases.parts import Part
from firstlight.server.usecases.world import World

MOST_HOSTS: Final = 100
_LONGEST_FIRST: Final = sorted(Stage, key=len, reverse=True)


class Span(Struct, frozen=True, kw_only=True):
    stage: str
    began: datetime
    ended: datetime | None
    """None while it lasts."""
    failed: bool = False


class Lane(Struct, frozen=True, kw_only=True):
    id: UUID
    infra_env_id: UUID
    name: str
    role: str
    bootstrap: bool
    status: str
    late: bool
    """The present stage takes longer than it should."""
    spans: tuple[Span, ...]


class Lanes(Part, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=0, le=MOST_HOSTS)] = MOST_HOSTS


class Timeline(Struct, frozen=True, kw_only=True):
    total: int
    """All hosts; the lanes are those asked for."""
    began: datetime | None
    ended: datetime | None
    now: datetime
    """The service's clock, by which lasting stages are drawn."""
    finalizing: tuple[Span, ...]
    lanes: tuple[Lane, ...]


async def timeline(world: World, cluster_id: UUID, wanted: Lanes) -> Timeline:
    state = await load_cluster(world, cluster_id)
    ordered = sorted(state.hosts, key=lambda host: (not host.host.bootstrap, host.host.effective_role, _name(host)))
    shown = ordered[wanted.offset : wanted.offset + wanted.limit]
    ids = tuple(host.host.id for host in shown)
    query = EventQuery(cluster_id=cluster_id, host_ids=ids, cluster_level=True)
    events = (await world.store.events(query)).events
    since = state.cluster.install_started_at
    told: dict[UUID | None, list[Recorded]] = {}
    for event in events:
        if since is None or event.event_time >= since:
            told.setdefault(event.host_id, []).append(event)
    return Timeline(
        total=len(state.hosts),
        began=since,
        ended=state.cluster.install_completed_at,
        now=world.clock.now(),
        finalizing=finalizing_spans(told.get(None, ()), ended=state.cluster.install_completed_at),
        lanes=tuple(lane_of(host, told.get(host.host.id, ())) for host in shown),
    )


def lane_of(state: HostState, events: Iterable[Recorded]) -> Lane:
    """`events` are the host's, oldest first."""
    host = state.host
    reached: list[tuple[Stage, datetime]] = []
    for event in events:
        stage = stage_in(event.props) if event.name == HostProgressUpdated.name else None
        if stage is Stage.STARTING and (not reached or reached[-1][0] is not stage):
            # What came before belongs to an attempt that was given up.
            reached = []
        if stage is not None and (not reached or reached[-1][0] is not stage):
            reached.append((stage, event.event_time))
    over = host.status in (HostStatus.ERROR, HostStatus.CANCELLED)
    return Lane(
        id=host.id,
        infra_env_id=host.infra_env_id,
        name=_name(state),
        role=host.effective_role.value,
        bootstrap=host.bootstrap,
        status=host.status.value,
        late=host.progress.timed_out,
        spans=_host_spans(reached, ended=host.status_updated_at if over else None, failed=over),
    )


def stage_in(props: Mapping[str, object]) -> Stage | None:
    """The stage that a host's event of progress begins with."""
    told = str(props.get("event", ""))
    return next((stage for stage in _LONGEST_FIRST if told == stage or told.startswith(f"{stage} ")), None)


def finalizing_spans(events: Iterable[Recorded], *, ended: datetime | None) -> tuple[Span, ...]:
    reached = [
        (str(event.props.get("finalizing_stage", "")), event.event_time)
        for event in events
        if event.name == FinalizingStageUpdated.name
    ]
    return _spans(reached, ended=ended)


def _host_spans(reached: Sequence[tuple[Stage, datetime]], *, ended: datetime | None, failed: bool) -> tuple[Span, ...]:
    if not reached:
        return ()
    last, at = reached[-1]
    if last is Stage.FAILED:
        return _marked(_spans(reached[:-1], ended=at))
    if last is Stage.DONE:
        return _spans(reached, ended=at)
    spans = _spans(reached, ended=None if ended is None else max(ended, at))
    return _marked(spans) if failed else spans


def _marked(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    return (*spans[:-1], replace(spans[-1], failed=True)) if spans else ()


def _spans(reached: Sequence[tuple[str, datetime]], *, ended: datetime | None) -> tuple[Span, ...]:
    ends = [*(began for _, began in reached[1:]), ended]
    return tuple(
        Span(stage=str(stage), began=began, ended=end) for (stage, began), end in zip(reached, ends, strict=False)
    )


def _name(state: HostState) -> str:
    return hostname_of(state.host, state.reports)
