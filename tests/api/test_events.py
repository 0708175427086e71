"""GET and POST /v2/events: filters, paging, the five counts, and what is kept of a controller's word."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from msgspec.structs import replace
from starlette.types import ASGIApp

from firstlight.core.events import own
from firstlight.core.events.event import Category, Event, Severity
from firstlight.core.events.recorded import Recorded
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.http.v2 import events
from firstlight.server.ports.writes import AddEvents, DeleteHost
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.world import World
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id
from tests.http.client import Answer, ask
from tests.worlds import SetClock, a_world, put_cluster

pytestmark = pytest.mark.anyio

EVENTS: Final = "/api/assisted-install/v2/events"
OTHER: Final = UUID("c0000000-0000-4000-8000-000000000009")


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def world(tmp_path: Path, clock: SetClock) -> AsyncIterator[World]:
    async with a_world(tmp_path, clock=clock, event_rate_limits={"often": 60.0}) as world:
        await put_cluster(world)
        yield world


@pytest.fixture
def app(world: World) -> ASGIApp:
    return build_app(world, operations=operations_of(events))


def an_event(message: str = "It happened.", **changes: Any) -> Recorded:
    event = Recorded(event_time=NOW, name="host_status_updated", severity=Severity.INFO, message=message)
    return replace(event, **({"cluster_id": CLUSTER_ID} | changes))


async def keep(world: World, *kept: Recorded) -> None:
    await world.store.commit(AddEvents(events=kept))


async def listed(app: ASGIApp, query: str) -> list[str]:
    answer = await ask(app, "GET", EVENTS, query=query)
    assert answer.status == 200
    return [event["message"] for event in answer.json()]


def counts(answer: Answer) -> dict[str, int]:
    names = ("info", "warning", "error", "critical")
    return {name: int(answer.headers[f"severity-count-{name}"]) for name in names}


# --- the list


async def test_an_event_on_the_wire(world: World, app: ASGIApp) -> None:
    moment = NOW + timedelta(microseconds=123_456)
    await keep(
        world,
        an_event(
            event_time=moment,
            host_id=host_id(1),
            infra_env_id=INFRA_ENV_ID,
            props={"host_name": "a", "minutes": 3},
            request_id=OTHER,
            actor="admin",
            before={"a": 1},
        ),
        an_event(),
    )
    answer = await ask(app, "GET", EVENTS, query=f"cluster_id={CLUSTER_ID}")
    second, first = answer.json()
    assert first == {
        "name": "host_status_updated",
        "cluster_id": str(CLUSTER_ID),
        "host_id": str(host_id(1)),
        "infra_env_id": str(INFRA_ENV_ID),
        "severity": "info",
        "message": "It happened.",
        "event_time": "2025-06-01T12:00:00.123Z",
        "props": '{"host_name":"a","minutes":3}',
    }
    assert set(second) == {"name", "cluster_id", "severity", "message", "event_time"}


@pytest.fixture
async def many(world: World) -> None:
    """Events of the cluster, its hosts (the third is gone by now), an infra-env and another cluster."""
    await keep(
        world,
        an_event("cluster info"),
        an_event("cluster 100% warning", severity=Severity.WARNING, event_time=NOW + timedelta(seconds=1)),
        an_event("one", host_id=host_id(1), infra_env_id=INFRA_ENV_ID, event_time=NOW + timedelta(seconds=2)),
        an_event(
            "two error",
            host_id=host_id(2),
            infra_env_id=INFRA_ENV_ID,
            severity=Severity.ERROR,
            event_time=NOW + timedelta(seconds=3),
        ),
        an_event("three", host_id=host_id(3), infra_env_id=INFRA_ENV_ID, event_time=NOW + timedelta(seconds=4)),
        an_event("image", cluster_id=None, infra_env_id=INFRA_ENV_ID, event_time=NOW + timedelta(seconds=5)),
        an_event("other critical", cluster_id=OTHER, severity=Severity.CRITICAL, event_time=NOW + timedelta(seconds=6)),
        an_event("cpu", name="", category=Category.METRICS, event_time=NOW + timedelta(seconds=7)),
        an_event("renamed", name="cluster_updated", category=Category.CHANGE, event_time=NOW + timedelta(seconds=8)),
    )
    await world.store.commit(DeleteHost(key=(INFRA_ENV_ID, host_id(3)), at=NOW))


ALL_OF_CLUSTER: Final = ["cluster info", "cluster 100% warning", "one", "two error", "three"]


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(f"cluster_id={CLUSTER_ID}", ALL_OF_CLUSTER, id="cluster"),
        pytest.param(f"cluster_id={CLUSTER_ID}&order=descending", ALL_OF_CLUSTER[::-1], id="descending"),
        pytest.param(f"cluster_id={CLUSTER_ID}&infra_env_id={OTHER}", ALL_OF_CLUSTER, id="cluster-beats-infra-env"),
        pytest.param(f"cluster_id={CLUSTER_ID}&host_ids={host_id(1)},{host_id(2)}", ["one", "two error"], id="hosts"),
        pytest.param(f"cluster_id={CLUSTER_ID}&host_id={host_id(1)}", ["one"], id="old-host-id"),
        pytest.param(f"cluster_id={CLUSTER_ID}&deleted_hosts=true", ["three"], id="deleted-hosts"),
        pytest.param(f"cluster_id={CLUSTER_ID}&cluster_level=true", ALL_OF_CLUSTER[:2], id="cluster-level"),
        pytest.param(
            f"cluster_id={CLUSTER_ID}&cluster_level=true&deleted_hosts=true&host_ids={host_id(2)}",
            ["cluster info", "cluster 100% warning", "two error", "three"],
            id="filters-widen-each-other",
        ),
        pytest.param(f"cluster_id={CLUSTER_ID}&message=WARNING", ["cluster 100% warning"], id="message-any-case"),
        pytest.param(f"cluster_id={CLUSTER_ID}&message=0%25", ["cluster 100% warning"], id="percent-is-literal"),
        pytest.param(f"cluster_id={CLUSTER_ID}&message=_", [], id="underscore-is-literal"),
        pytest.param(
            f"cluster_id={CLUSTER_ID}&severities=warning,error", ["cluster 100% warning", "two error"], id="severities"
        ),
        pytest.param(f"cluster_id={CLUSTER_ID}&limit=2&offset=1", ALL_OF_CLUSTER[1:3], id="page"),
        pytest.param(f"cluster_id={CLUSTER_ID}&limit=-1", ALL_OF_CLUSTER, id="no-limit"),
        pytest.param(f"cluster_id={CLUSTER_ID}&limit=0", [], id="counts-only"),
        pytest.param(f"cluster_id={CLUSTER_ID}&offset=-3", ALL_OF_CLUSTER, id="negative-offset"),
        pytest.param(f"cluster_id={CLUSTER_ID}&offset=5", [], id="past-the-end"),
        pytest.param(f"cluster_id={CLUSTER_ID}&categories=metrics", ["cpu"], id="metrics"),
        pytest.param(f"cluster_id={CLUSTER_ID}&categories=metrics,user", [*ALL_OF_CLUSTER, "cpu"], id="both"),
        pytest.param(f"cluster_id={CLUSTER_ID}&categories=change", [], id="own-changes-are-not-listed"),
        pytest.param(f"host_ids={host_id(1)},{host_id(3)}", ["one"], id="hosts-alone-without-deleted"),
        pytest.param(f"host_id={host_id(2)}&infra_env_id={OTHER}", ["two error"], id="hosts-beat-infra-env"),
        pytest.param(f"infra_env_id={INFRA_ENV_ID}", ["one", "two error", "three", "image"], id="infra-env"),
        pytest.param(f"infra_env_id={INFRA_ENV_ID}&severities=error", ["two error"], id="infra-env-severities"),
        pytest.param("", [*ALL_OF_CLUSTER, "image", "other critical"], id="administrators-see-all"),
        pytest.param(f"cluster_id={INFRA_ENV_ID}", [], id="unknown-cluster"),
    ],
)
async def test_what_is_listed(app: ASGIApp, query: str, expected: list[str]) -> None:
    assert await listed(app, query) == expected


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("query", "total", "by_severity"),
    [
        pytest.param("", 5, (3, 1, 1, 0), id="all"),
        pytest.param("&severities=error", 1, (3, 1, 1, 0), id="severity-filter-is-not-counted"),
        pytest.param("&limit=0", 5, (3, 1, 1, 0), id="limit-zero-still-counts"),
        pytest.param("&limit=1&offset=4", 5, (3, 1, 1, 0), id="paging-does-not-count"),
        pytest.param("&message=cluster", 2, (1, 1, 0, 0), id="message-counts"),
        pytest.param(f"&host_ids={host_id(2)}", 1, (0, 0, 1, 0), id="hosts-count"),
    ],
)
async def test_counts(app: ASGIApp, query: str, total: int, by_severity: tuple[int, ...]) -> None:
    answer = await ask(app, "GET", EVENTS, query=f"cluster_id={CLUSTER_ID}{query}")
    assert int(answer.headers["event-count"]) == total
    assert tuple(counts(answer).values()) == by_severity


@pytest.mark.usefixtures("many")
async def test_without_a_cluster_only_the_total_is_counted(app: ASGIApp) -> None:
    answer = await ask(app, "GET", EVENTS, query=f"infra_env_id={INFRA_ENV_ID}")
    assert int(answer.headers["event-count"]) == 4
    assert set(counts(answer).values()) == {0}


@pytest.mark.usefixtures("many")
async def test_who_is_no_administrator_must_say_whose_events(world: World) -> None:
    async def someone(*_: object) -> Caller:
        return Caller(name="user", is_admin=False)

    app = build_app(world, operations=operations_of(events), authenticate=someone)
    assert await listed(app, "") == []
    assert len(await listed(app, f"cluster_id={CLUSTER_ID}")) == 5


async def test_a_page_has_5000_events_unless_asked(world: World, app: ASGIApp) -> None:
    await keep(world, *(an_event(str(number)) for number in range(5001)))
    answer = await ask(app, "GET", EVENTS, query=f"cluster_id={CLUSTER_ID}")
    assert len(answer.json()) == 5000
    assert answer.headers["event-count"] == "5001"


@pytest.mark.parametrize(
    "query",
    [
        "cluster_id=x",
        "host_ids=x",
        "order=up",
        "severities=info,bad",
        "limit=many",
        "offset=1.5",
        "deleted_hosts=maybe",
    ],
)
async def test_a_malformed_question(app: ASGIApp, query: str) -> None:
    answer = await ask(app, "GET", EVENTS, query=query)
    assert answer.status == 400
    assert answer.json()["code"] == 400
    assert query.partition("=")[0] in answer.json()["message"]


async def test_unchanged_lists_are_not_sent_again(world: World, app: ASGIApp) -> None:
    await keep(world, an_event())
    first = await ask(app, "GET", EVENTS, query=f"cluster_id={CLUSTER_ID}")
    again = await ask(
        app, "GET", EVENTS, query=f"cluster_id={CLUSTER_ID}", headers={"if-none-match": first.headers["etag"]}
    )
    assert (again.status, again.body, again.headers["event-count"]) == (304, b"", "1")


async def test_wrong_method(app: ASGIApp) -> None:
    answer = await ask(app, "DELETE", EVENTS)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")


def test_our_own_changes_have_a_category_of_their_own() -> None:
    found = [
        value
        for value in vars(own).values()
        if isinstance(value, type) and issubclass(value, Event) and value.__module__ == own.__name__
    ]
    assert found
    assert {kind.category for kind in found} == {Category.CHANGE}


# --- the one that is sent

SENT: Final = {
    "name": "reboots_for_node",
    "cluster_id": str(CLUSTER_ID),
    "host_id": str(host_id(1)),
    "infra_env_id": str(INFRA_ENV_ID),
    "severity": "info",
    "category": "user",
    "message": "Node master-0 rebooted 2 times",
    "event_time": "2001-01-01T00:00:00.000Z",
    "props": '{"node_name": "master-0", "reboots": 2}',
}


async def send(app: ASGIApp, **changes: Any) -> Answer:
    body = {name: value for name, value in (SENT | changes).items() if value is not ...}
    return await ask(app, "POST", EVENTS, body=json.dumps(body).encode())


async def kept(world: World) -> list[Recorded]:
    return list(await world.store.events_after(0, limit=100))


async def test_a_controller_tells(world: World, app: ASGIApp) -> None:
    answer = await send(app)
    assert (answer.status, answer.body) == (201, b"")
    (event,) = await kept(world)
    assert event.event_time == NOW, "the time of arrival counts"
    assert event.props == {"node_name": "master-0", "reboots": 2}
    assert (event.name, event.host_id, event.actor) == ("reboots_for_node", host_id(1), "agent")
    assert event.request_id is not None


@pytest.mark.parametrize("category", ["metrics", "user", "", None, ...])
async def test_categories(world: World, app: ASGIApp, category: object) -> None:
    assert (await send(app, category=category)).status == 201
    (event,) = await kept(world)
    assert event.category == (category if category == "metrics" else "user")


@pytest.mark.parametrize("props", ["{bad", "[1]", "7", "[" * 5000, None, ""])
async def test_properties_that_are_no_object_are_left_out(world: World, app: ASGIApp, props: str | None) -> None:
    assert (await send(app, props=props)).status == 201
    (event,) = await kept(world)
    assert event.props == {}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        pytest.param({"message": "m" * 4096}, 201, id="longest-message"),
        pytest.param({"message": "m" * 4097}, 400, id="message-too-long"),
        pytest.param({"name": "n" * 256}, 201, id="longest-name"),
        pytest.param({"name": "n" * 257}, 400, id="name-too-long"),
        pytest.param({"props": '{"a":"%s"}' % ("x" * 65_528)}, 201, id="longest-props"),
        pytest.param({"props": '{"a":"%s"}' % ("x" * 65_529)}, 400, id="props-too-long"),
        pytest.param({"category": "audit"}, 400, id="unknown-category"),
        pytest.param({"category": "change"}, 400, id="our-own-category"),
        pytest.param({"severity": "bad"}, 400, id="unknown-severity"),
        pytest.param({"severity": ...}, 400, id="no-severity"),
        pytest.param({"message": ...}, 400, id="no-message"),
        pytest.param({"event_time": ...}, 400, id="no-time"),
        pytest.param({"event_time": "soon"}, 400, id="no-date"),
        pytest.param({"cluster_id": "x"}, 400, id="no-uuid"),
        pytest.param({"unknown": 1}, 400, id="unknown-field"),
        pytest.param({"cluster_id": str(OTHER)}, 404, id="unknown-cluster"),
        pytest.param({"infra_env_id": str(OTHER)}, 404, id="unknown-infra-env"),
        pytest.param({"host_id": str(OTHER)}, 404, id="unknown-host"),
        pytest.param({"host_id": str(OTHER), "infra_env_id": ...}, 404, id="unknown-host-alone"),
        pytest.param({"host_id": ..., "infra_env_id": ...}, 201, id="cluster-only"),
        pytest.param({"cluster_id": ..., "host_id": ..., "infra_env_id": ...}, 201, id="about-nothing"),
    ],
)
async def test_what_is_taken(world: World, app: ASGIApp, changes: dict[str, Any], status: int) -> None:
    assert (await send(app, **changes)).status == status
    assert len(await kept(world)) == (1 if status == 201 else 0)


async def test_a_limited_event_is_kept_once_in_its_time(world: World, app: ASGIApp, clock: SetClock) -> None:
    for seconds, expected in ((0.0, 1), (59.999, 1), (0.002, 2)):
        clock.forward(timedelta(seconds=seconds))
        assert (await send(app, name="often")).status == 201
        assert len(await kept(world)) == expected
    await send(app, name="often", host_id=str(host_id(2)))
    assert len(await kept(world)) == 3, "another host is another matter"


async def test_agent_upgrades_are_told_once_an_hour(world: World, app: ASGIApp, clock: SetClock) -> None:
    for minutes, expected in ((0, 1), (59, 1), (2, 2)):
        clock.forward(timedelta(minutes=minutes))
        await send(app, name="upgrade_agent_started")
        assert len(await kept(world)) == expected
