"""Replies that do more than tell a measurement: they move the host, or are worth an event."""

from typing import Final

from firstlight.core.commands import actions
from firstlight.core.commands.vip_leases import take_leases
from firstlight.core.events.event import Event
from firstlight.core.events.host import (
    AgentUpgradeFailed,
    AgentUpgradeFinished,
    DiskTooSlow,
    ImageStatusUpdated,
)
from firstlight.core.events.recorded import record
from firstlight.core.hosts.requirements import hardware_for
from firstlight.core.hosts.triggers import Identity
from firstlight.core.model.host import HostState
from firstlight.core.model.plan import StepType
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import DiskSpeed, ImageStatus, ReportKind
from firstlight.core.steps.leases import parse_dhcp
from firstlight.core.steps.measurements import parse_upgrade
from firstlight.core.steps.replies import Reading, Reply
from firstlight.server.ports.writes import AddEvents
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import change_cluster
from firstlight.server.usecases.events import worth_telling
from firstlight.server.usecases.one_host import change_host
from firstlight.server.usecases.sessions import Session, step_id
from firstlight.server.usecases.world import World

NAME_IN_USE: Final = 125


async def media_gone(world: World, session: Session, *, caller: Caller) -> None:
    await change_host(
        world,
        session.key,
        lambda host, cluster, now: actions.media_gone(host, cluster=cluster, policy=world.policy, now=now),
        caller=caller,
    )


async def media_back(world: World, session: Session, *, caller: Caller) -> None:
    await change_host(world, session.key, lambda host, _, now: actions.media_back(host, now=now), caller=caller)


async def follow_up(world: World, session: Session, reply: Reply, *, caller: Caller) -> None:
    """Steps whose outcome is an act, not a report."""
    if reply.step is StepType.INSTALL and reply.exit_code:
        if (reply.exit_code == NAME_IN_USE and "already in use" in reply.error) or _is_stale(session, reply):
            return
        await change_host(
            world,
            session.key,
            lambda host, cluster, now: actions.install_failed(host, cluster=cluster, policy=world.policy, now=now),
            caller=caller,
        )
    elif reply.step is StepType.DOWNLOAD_BOOT_ARTIFACTS:
        arrived = reply.exit_code == 0
        await change_host(
            world,
            session.key,
            lambda host, cluster, now: actions.boot_artifacts(
                host, arrived=arrived, cluster=cluster, policy=world.policy, now=now
            ),
            caller=caller,
        )
    elif reply.step is StepType.DHCP_LEASE and reply.exit_code == 0 and session.cluster_id is not None:
        leases = parse_dhcp(reply.output)
        await change_cluster(
            world, session.cluster_id, lambda state, now: take_leases(state.cluster, leases, now=now), caller=caller
        )
    elif reply.step is StepType.UPGRADE_AGENT and reply.exit_code == 0:
        await _tell_upgrade(world, session, reply, caller=caller)


def _is_stale(session: Session, reply: Reply) -> bool:
    """Whether it tells of an earlier try, while the host is tried again."""
    plan = session.state.plan
    asked = next((step for step in plan.steps if step.type is reply.step), None) if plan is not None else None
    return asked is not None and asked.tries > 0 and reply.step_id != step_id(asked)


async def _tell_upgrade(world: World, session: Session, reply: Reply, *, caller: Caller) -> None:
    outcome = parse_upgrade(reply.output)
    if outcome.succeeded is None:
        return
    who = Identity(session.state.host, session.state.reports)
    kind = AgentUpgradeFinished if outcome.succeeded else AgentUpgradeFailed
    event = kind(
        host_id=who.host_id,
        infra_env_id=who.infra_env_id,
        cluster_id=who.cluster_id,
        host_name=who.host_name,
        agent_image=outcome.agent_image,
    )
    told = record(event, now=world.clock.now(), actor=caller.name, request_id=caller.request_id)
    if await worth_telling(world, told):
        await world.store.commit(AddEvents(events=(told,)))


def news(state: HostState, reading: Reading, *, policy: Policy) -> tuple[Event, ...]:
    """Events a new report is worth besides what rules make of it."""
    if reading.kind is ReportKind.IMAGES and isinstance(reading.facts, dict):
        known = state.reports.images or {}
        return tuple(
            _image_told(state, name, image)
            for name, image in reading.facts.items()
            if isinstance(image, ImageStatus) and name not in known
        )
    if reading.kind is ReportKind.DISK_SPEEDS and isinstance(reading.facts, dict):
        known_speeds = state.reports.disk_speeds or {}
        limit = hardware_for(policy.hardware, version="").master.disk_speed_threshold_ms or 0
        return tuple(
            _slow_disk_told(state, path, speed)
            for path, speed in reading.facts.items()
            if isinstance(speed, DiskSpeed) and path not in known_speeds and speed.speed_ms > limit > 0
        )
    return ()


def _image_told(state: HostState, name: str, image: ImageStatus) -> Event:
    who = Identity(state.host, state.reports)
    info = f"{image.size_bytes:.0f} bytes in {image.seconds:.2f} s" if image.size_bytes else "already there"
    return ImageStatusUpdated(
        host_id=who.host_id,
        infra_env_id=who.infra_env_id,
        cluster_id=who.cluster_id,
        host_name=who.host_name,
        image_status=name,
        result="success" if image.success else "failure",
        info=info if image.success else "it could not be pulled",
    )


def _slow_disk_told(state: HostState, path: str, speed: DiskSpeed) -> Event:
    host = state.host
    return DiskTooSlow(
        host_id=host.id,
        infra_env_id=host.infra_env_id,
        cluster_id=host.cluster_id,
        host_disk=path,
        fdatasync_duration=speed.speed_ms,
    )
