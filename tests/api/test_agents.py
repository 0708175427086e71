"""What agents get: registration in every status, instructions, and the intake of replies."""

import dataclasses
from datetime import timedelta
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.model.host import Progress
from firstlight.core.model.host_status import HostStatus, MediaStatus, Stage
from firstlight.core.model.reports import ReportKind
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import PutHost, Write
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, an_app, reason
from tests.api.machines import AGENT, Site, a_document, a_site, told
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.worlds import SetClock, put_cluster

pytestmark = pytest.mark.anyio

S = HostStatus


@pytest.fixture
async def site(call: Client, world: World) -> Site:
    return await a_site(call, world)


async def a_bound_site(call: Client, world: World, *, status: HostStatus, **changes: Any) -> Site:
    """A cluster with three hosts, the first of which is in this status."""
    hosts = [host_state(1, status=status, **changes), host_state(2), host_state(3)]
    await put_cluster(world, cluster_state(hosts=hosts))
    return Site(call, world, {"id": str(INFRA_ENV_ID)})


# --- registration


async def test_a_new_machine_of_the_pool(site: Site, world: World) -> None:
    answer = await site.boot()
    host = answer.json()
    assert answer.status == 201
    assert (host["status"], host["role"], host["kind"]) == ("discovering-unbound", "auto-assign", "Host")
    assert "cluster_id" not in host
    assert "inventory" not in host
    assert host["requested_hostname"] == str(host_id(1))
    assert host["discovery_agent_version"] == AGENT
    runner = host["next_step_runner_command"]
    assert set(runner) == {"args"}
    assert runner["args"] == [
        f'{{"infra_env_id":"{site.infra_env["id"]}","host_id":"{host_id(1)}","agent_version":"{AGENT}"}}'
    ]
    assert (await told(world, site.key()[0]))[-1] == "host_registration_succeeded"


async def test_the_version_may_come_as_a_header(call: Client, site: Site) -> None:
    body = {"host_id": str(host_id(1))}
    answer = await call("POST", f"{site.path}/hosts", body, discovery_agent_version="agent:2")
    assert answer.json()["discovery_agent_version"] == "agent:2"


async def test_an_unknown_infra_env_is_final(call: Client) -> None:
    answer = await call("POST", f"/infra-envs/{UNKNOWN}/hosts", {"host_id": str(host_id(1))})
    assert "no infra-env" in reason(answer, 404)


@pytest.mark.parametrize("body", [{}, {"host_id": "x"}, {"host_id": None}, {"host_id": str(host_id(1)), "new": 1}])
async def test_a_body_that_does_not_fit(call: Client, site: Site, body: dict[str, Any]) -> None:
    answer = await call("POST", f"{site.path}/hosts", body)
    assert (answer.status, answer.json()["code"]) == (400, 400)


REGISTRATIONS = [
    (S.DISCOVERING, 201, S.DISCOVERING),
    (S.KNOWN, 201, S.DISCOVERING),
    (S.DISCONNECTED, 201, S.DISCOVERING),
    (S.INSUFFICIENT, 201, S.DISCOVERING),
    (S.PENDING_FOR_INPUT, 201, S.DISCOVERING),
    (S.BINDING, 201, S.DISCOVERING),
    (S.RESETTING_PENDING_USER_ACTION, 201, S.DISCOVERING),
    (S.RESETTING, 201, S.DISCOVERING),
    (S.PREPARING_FOR_INSTALLATION, 201, S.KNOWN),
    (S.PREPARING_SUCCESSFUL, 201, S.KNOWN),
    (S.INSTALLING, 201, S.ERROR),
    (S.INSTALLING_IN_PROGRESS, 201, S.ERROR),
    (S.ERROR, 201, S.ERROR),
    (S.INSTALLED, 409, S.INSTALLED),
    (S.PREPARING_FAILED, 400, S.PREPARING_FAILED),
    (S.CANCELLED, 400, S.CANCELLED),
    (S.DISABLED, 400, S.DISABLED),
]


@pytest.mark.parametrize(("status", "code", "after"), REGISTRATIONS, ids=lambda value: str(value))
async def test_registering_again(call: Client, world: World, status: HostStatus, code: int, after: HostStatus) -> None:
    site = await a_bound_site(call, world, status=status)
    answer = await site.boot()
    assert answer.status == code, answer.body
    assert (await site.state()).host.status in {after, S.INSUFFICIENT if after is S.KNOWN else after}
    names = await told(world, INFRA_ENV_ID)
    assert ("host_registration_failed" in names) is (code != 201)
    assert ("host_registration_succeeded" in names) is (code == 201)


async def test_a_wrong_boot_order_is_told_once_and_then_refused_but_not_for_good(call: Client, world: World) -> None:
    site = await a_bound_site(call, world, status=S.INSTALLING_IN_PROGRESS, progress=Progress(stage=Stage.REBOOTING))
    assert (await site.boot()).json()["status"] == "installing-pending-user-action"
    assert "boot order" in reason(await site.boot(), 400)


@pytest.mark.parametrize(
    "status", [ClusterStatus.INSTALLING, ClusterStatus.INSTALLED, ClusterStatus.CANCELLED, ClusterStatus.ERROR]
)
async def test_a_closed_cluster_takes_no_new_machine(call: Client, world: World, status: ClusterStatus) -> None:
    await put_cluster(world, status=status)
    site = Site(call, world, {"id": str(INFRA_ENV_ID)})
    assert "takes no further hosts" in reason(await site.boot(9), 409)


async def test_a_disconnected_image_does_not_register(call: Client, world: World) -> None:
    site = await a_site(call, world, image_type="disconnected-iso")
    assert "disconnected" in reason(await site.boot(), 400)


async def test_many_machines_register_at_once(call: Client, world: World) -> None:
    """Nobody is told 409: the agent would never ask again."""
    await put_cluster(world, cluster_state(hosts=()))
    site = Site(call, world, {"id": str(INFRA_ENV_ID)})
    codes: list[int] = []

    async def boot(number: int) -> None:
        codes.append((await site.boot(number)).status)

    async with anyio.create_task_group() as group:
        for number in range(1, 25):
            group.start_soon(boot, number)
    assert codes == [201] * 24
    state = await world.store.cluster_state(CLUSTER_ID)
    assert state is not None
    assert len(state.hosts) == 24


async def test_the_same_machine_twice_at_once(site: Site) -> None:
    codes: list[int] = []

    async def boot() -> None:
        codes.append((await site.boot()).status)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(boot)
    assert codes == [201] * 4


class Contended:
    """A store in which somebody else is always faster with this cluster."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, *writes: Write) -> None:
        if any(isinstance(write, PutHost) for write in writes):
            raise LostRace(None, "Somebody was faster.")
        await self._store.commit(*writes)


async def test_lost_races_are_passing_trouble_to_an_agent(world: World) -> None:
    await put_cluster(world)
    busy = dataclasses.replace(world, store=Contended(world.store))
    site = Site(Client(an_app(busy)), busy, {"id": str(INFRA_ENV_ID)})
    assert "Try again" in reason(await site.boot(), 503)
    assert "host_registration_failed" not in await told(world, INFRA_ENV_ID)


# --- instructions


async def test_what_a_new_machine_is_asked(site: Site) -> None:
    await site.boot()
    answer = await site.poll(query="timestamp=1748779200")
    steps = answer.json()
    assert [step["step_type"] for step in steps["instructions"]] == ["inventory", "ntp-synchronizer"]
    assert steps["next_instruction_seconds"] > 0
    assert steps["post_step_action"] == "continue"


async def test_an_unknown_machine_is_told_to_stop(site: Site) -> None:
    assert "no host" in reason(await site.poll(), 404)


@pytest.mark.parametrize("timestamp", ["0", "-1", str(2**63 - 1), str(-(2**63))])
async def test_wild_clocks_are_only_wrong(site: Site, world: World, timestamp: str) -> None:
    await site.boot()
    assert (await site.poll(query=f"timestamp={timestamp}")).status == 200
    await world.check_ins.flush()
    offset = (await site.state()).presence.clock_offset_seconds
    assert offset is not None
    assert abs(offset) < 101 * 366 * 24 * 3600


@pytest.mark.parametrize("timestamp", ["x", str(2**63), "1.5"])
async def test_no_clock_at_all(site: Site, timestamp: str) -> None:
    await site.boot()
    assert (await site.poll(query=f"timestamp={timestamp}")).status == 400


async def test_a_poll_is_heard(site: Site, world: World, clock: SetClock) -> None:
    await site.boot()
    clock.forward(timedelta(seconds=90))
    await site.poll()
    await world.check_ins.flush()
    assert (await site.shown())["checked_in_at"] == "2025-06-01T12:01:30.000Z"


async def test_a_silent_host_is_looked_at_as_soon_as_it_speaks(site: Site, world: World, clock: SetClock) -> None:
    await site.known()
    clock.forward(timedelta(minutes=10))
    assert (await site.settle()).host.status is S.DISCONNECTED_UNBOUND
    await site.poll()
    assert (await site.settle()).host.status is S.KNOWN_UNBOUND


# --- replies


async def test_an_inventory_makes_the_host_known(site: Site) -> None:
    state = await site.known()
    assert state.host.status is S.KNOWN_UNBOUND
    shown = await site.shown()
    assert shown["requested_hostname"] == "host-1"
    assert '"mac_address":"52:54:00:aa:00:01"' in shown["inventory"]
    assert shown["installation_disk_path"] == "/dev/sda"


async def test_a_reply_of_an_unknown_machine(site: Site) -> None:
    assert reason(await site.reply("inventory", a_document()), 404)


@pytest.mark.parametrize(
    ("step", "output"),
    [
        ("inventory", "not json"),
        ("inventory", ""),
        ("inventory", "[]"),
        ("connectivity-check", "{"),
        ("ntp-synchronizer", '{"ntp_sources": 1}'),
        ("free-network-addresses", ""),
        ("verify-vips", "{}"),
    ],
)
async def test_output_that_cannot_be_read(site: Site, step: str, output: str) -> None:
    await site.boot()
    assert reason(await site.reply(step, output), 400)


@pytest.mark.parametrize("step", ["execute", "next-step-runner"])
async def test_steps_nobody_hands_out(site: Site, step: str) -> None:
    await site.boot()
    assert "none that this service hands out" in reason(await site.reply(step), 400)


@pytest.mark.parametrize(
    "body", [{}, {"step_type": "nonsense"}, {"step_type": "inventory", "more": 1}, {"exit_code": "1"}]
)
async def test_envelopes_that_do_not_fit(call: Client, site: Site, body: dict[str, Any]) -> None:
    await site.boot()
    assert (await call("POST", f"{site.host()}/instructions", body)).status == 400


@pytest.mark.parametrize(
    "step", ["inventory", "connectivity-check", "installation-disk-speed-check", "container-image-availability"]
)
@pytest.mark.parametrize("exit_code", [-1, 1, 2, 124, 255])
async def test_a_failed_step_is_always_taken(site: Site, step: str, exit_code: int) -> None:
    await site.known()
    answer = await site.reply(step, "it broke {", exit_code=exit_code, error="no")
    assert (answer.status, answer.body) == (204, b"")
    assert (await site.state()).host.status is S.KNOWN_UNBOUND


@pytest.mark.parametrize("step", ["installation-disk-speed-check", "container-image-availability"])
async def test_a_second_run_says_nothing(site: Site, step: str) -> None:
    await site.known()
    assert (await site.reply(step, "")).status == 204


async def test_the_same_report_again_changes_nothing(site: Site, world: World) -> None:
    await site.known()
    before = await world.store.last_event_seq()
    state = await site.state()
    assert (await site.reply("inventory", a_document())).status == 204
    assert await world.store.next_due_at() is not None
    assert (await site.state()).host == state.host
    assert await world.store.last_event_seq() == before


async def test_media_lost_and_found(site: Site, world: World) -> None:
    await site.known()
    answer = await site.reply("inventory", "", exit_code=256, error="media was likely disconnected")
    assert answer.status == 204
    state = await site.state()
    assert (state.host.media, state.host.status) == (MediaStatus.DISCONNECTED, S.DISCONNECTED_UNBOUND)
    assert (await site.shown())["media_status"] == "disconnected"
    assert "host_media_disconnected" in await told(world, site.key()[0])
    world.sessions.forget_all()
    assert (await site.reply("inventory", a_document())).status == 204
    assert (await site.settle()).host.status is S.KNOWN_UNBOUND
    assert "media_status" not in await site.shown()


async def test_media_lost_while_installing_is_an_error(call: Client, world: World) -> None:
    site = await a_bound_site(call, world, status=S.INSTALLING_IN_PROGRESS)
    await site.reply("inventory", "", exit_code=256)
    assert (await site.state()).host.status is S.ERROR


@pytest.mark.parametrize(
    ("exit_code", "error", "after"),
    [
        (1, "podman run failed", S.ERROR),
        (125, 'the container name "assisted-installer" is already in use', S.INSTALLING),
        (125, "another reason", S.ERROR),
    ],
)
async def test_the_install_step_failed(
    call: Client, world: World, exit_code: int, error: str, after: HostStatus
) -> None:
    site = await a_bound_site(call, world, status=S.INSTALLING)
    assert (await site.reply("install", "", exit_code=exit_code, error=error)).status == 204
    assert (await site.state()).host.status is after


async def test_tang_errors_are_kept_as_text(call: Client, world: World) -> None:
    site = await a_bound_site(call, world, status=S.KNOWN)
    text = "failed to find action for step type tang-connectivity-check"
    await site.reply("tang-connectivity-check", "", exit_code=-1, error=text + "x" * 100_000)
    tang = (await site.state()).reports.tang
    assert tang is not None
    assert tang.error.startswith(text)
    assert len(tang.error) == 8_192


async def test_an_inventory_out_of_season_is_not_kept(call: Client, world: World) -> None:
    site = await a_bound_site(call, world, status=S.INSTALLED)
    before = (await site.state()).reports.inventory
    assert (await site.reply("inventory", a_document(hostname="other"))).status == 204
    assert (await site.state()).reports.inventory == before


@pytest.mark.parametrize(("result", "event"), [("success", "finished"), ("failure", "failed")])
async def test_an_upgraded_agent_is_told_once_an_hour(site: Site, world: World, result: str, event: str) -> None:
    await site.boot()
    for _ in range(2):
        world.sessions.forget_all()
        assert (await site.reply("upgrade-agent", {"agent_image": "a:2", "result": result})).status == 204
    assert (await told(world, site.key()[0])).count(f"upgrade_agent_{event}") == 1


async def test_a_host_that_was_bound_meanwhile_is_found(call: Client, world: World) -> None:
    """The memory of a session may be a moment behind; what an agent says still reaches its host."""
    pool = an_infra_env(cluster_id=None)
    state = cluster_state(hosts=[host_state(number) for number in (1, 2, 3)])
    await put_cluster(world, replace(state, infra_envs={pool.id: pool}))
    site = Site(call, world, {"id": str(INFRA_ENV_ID)})
    await site.poll()
    session = world.sessions.get(site.key())
    assert session is not None
    session.cluster_id = None
    assert (await site.reply("inventory", "", exit_code=256)).status == 204
    assert (await site.state()).host.media is MediaStatus.DISCONNECTED


async def test_reports_make_their_cluster_due(call: Client, world: World) -> None:
    site = await a_bound_site(call, world, status=S.KNOWN)
    assert (await site.reply("inventory", a_document(hostname="renamed"))).status == 204
    rows = await world.store.claim_due(owner="test", now=world.clock.now(), lease=timedelta(seconds=1), limit=10)
    assert [row.subject for row in rows] == [cluster_subject(CLUSTER_ID)]
    inventory = (await site.state()).reports
    assert inventory.measured_at[ReportKind.INVENTORY] == world.clock.now()
