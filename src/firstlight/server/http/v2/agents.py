"""What agents call: registration, instructions, replies."""

from typing import Annotated, Final
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from firstlight.core import wire
from firstlight.core.errors import Invalid
from firstlight.core.model.fingerprint import HEADER as FINGERPRINT
from firstlight.core.model.fingerprint import read_fingerprint
from firstlight.core.model.plan import StepType
from firstlight.core.steps.replies import Reply
from firstlight.core.wire.views import view_host
from firstlight.server.http.body import CallerGone
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import STEP_REPLY_CAP, Access, operation
from firstlight.server.http.reply import Empty, Encoded
from firstlight.server.ports.subjects import host_subject
from firstlight.server.usecases import agents, host_registration, waiting
from firstlight.server.usecases.one_host import PlacedHost
from firstlight.server.usecases.world import World

HOSTS: Final = "/v2/infra-envs/{infra_env_id:uuid}/hosts"
HOST: Final = HOSTS + "/{host_id:uuid}"
NO_MORE_STEPS: Final = Empty()


class PollQuery(Struct, frozen=True):
    timestamp: int | None = None
    wait: Annotated[int, Meta(ge=0, le=3600)] = 0
    """Seconds that the answer may take if there is nothing to do; only for agents that were offered it."""
    seen: str = ""
    """What such an agent knows of its standing, by digest."""


@operation(
    "POST",
    HOSTS,
    id="v2RegisterHost",
    access=Access.AGENT,
    body=wire.HostCreateParams,
    body_name="newHostParams",
    success=201,
    answer=wire.HostRegistrationResponse,
    errors=(400, 401, 403, 404, 405, 409, 500, 501, 503),
    headers=("discovery_agent_version",),
)
async def register_host(world: World, call: Call[wire.HostCreateParams, NoQuery]) -> wire.HostRegistrationResponse:
    """Register a discovered machine."""
    infra_env_id = call.uuid("infra_env_id")
    version = call.body.discovery_agent_version or call.headers.get("discovery_agent_version", "")
    placed = await host_registration.register(
        world,
        infra_env_id=infra_env_id,
        host_id=call.body.host_id,
        agent_version=version,
        caller=call.actor,
        fingerprint=read_fingerprint(call.headers.get(FINGERPRINT.lower(), "")),
    )
    return _registered(world, placed)


def _registered(world: World, placed: PlacedHost) -> wire.HostRegistrationResponse:
    host = placed.state
    shown = view_host(host, cluster=placed.cluster, policy=world.policy, raw={})
    runner = {
        "infra_env_id": str(host.host.infra_env_id),
        "host_id": str(host.host.id),
        "agent_version": world.policy.agent_image,
    }
    command = wire.NextStepRunnerCommand(args=(msgspec.json.encode(runner).decode(),))
    return wire.HostRegistrationResponse(
        **{name: getattr(shown, name) for name in wire.Host.__struct_fields__},
        next_step_runner_command=command,
        firstlight=waiting.offer_for(host),
    )


@operation(
    "GET",
    HOST + "/instructions",
    id="v2GetNextSteps",
    access=Access.AGENT,
    query=PollQuery,
    answer=wire.Steps,
    errors=(401, 403, 404, 405, 500, 501, 503),
    headers=("discovery_agent_version",),
)
async def next_steps(world: World, call: Call[None, PollQuery]) -> Encoded:
    """What the agent is to do next."""
    key = _key(call.uuid("infra_env_id"), call.uuid("host_id"))
    version = call.headers.get("discovery_agent_version", "")
    if call.query.wait:
        return await _awaited(world, call, key, version)
    steps = await agents.next_steps(world, key, agent_version=version, timestamp=call.query.timestamp)
    return Encoded(steps)


async def _awaited(world: World, call: Call[None, PollQuery], key: tuple[UUID, UUID], version: str) -> Encoded:
    try:
        steps = await waiting.awaited_steps(
            world,
            key,
            agent_version=version,
            timestamp=call.query.timestamp,
            seconds=call.query.wait,
            seen=call.query.seen,
            when_gone=call.when_gone,
        )
    except waiting.Left:
        raise CallerGone from None
    return Encoded(steps)


@operation(
    "POST",
    HOST + "/instructions",
    id="v2PostStepReply",
    access=Access.AGENT,
    body=wire.StepReply,
    body_name="reply",
    body_cap=STEP_REPLY_CAP,
    success=204,
    errors=(400, 401, 403, 404, 405, 500, 501, 503),
    headers=("discovery_agent_version",),
)
async def post_step_reply(world: World, call: Call[wire.StepReply, NoQuery]) -> Empty:
    """What one step brought."""
    sent = call.body
    try:
        step = StepType(sent.step_type or "")
    except ValueError:
        raise Invalid(f"Step type '{sent.step_type}' is none that this service hands out.") from None
    reply = Reply(step=step, output=sent.output, exit_code=sent.exit_code, error=sent.error, step_id=sent.step_id)
    key = _key(call.uuid("infra_env_id"), call.uuid("host_id"))
    await agents.take_reply(world, key, reply, caller=call.actor)
    # What failed is to be asked for again, which no commit tells anybody.
    world.waits.wake(host_subject(key))
    return NO_MORE_STEPS


def _key(infra_env_id: UUID, host_id: UUID) -> tuple[UUID, UUID]:
    return (infra_env_id, host_id)
