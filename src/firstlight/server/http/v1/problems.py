"""What is wrong with a cluster by cause, checking it now, and letting a check pass for a reason."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta, Struct

from firstlight.core.errors import NotFound
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty
from firstlight.server.usecases import checking, problems
from firstlight.server.usecases.problems import Problem, Scope
from firstlight.server.usecases.world import World


class CheckAgain(Struct, frozen=True, kw_only=True):
    check: Annotated[str, Meta(max_length=100)] = ""
    """Only this check, where it is measured by itself; empty: all."""
    host_ids: tuple[UUID, ...] = ()
    """Empty: every host."""


class Asked(Struct, frozen=True, kw_only=True):
    hosts: int


class Waiver(Struct, frozen=True, kw_only=True):
    reason: str


@operation(
    "GET",
    "/v1/clusters/{cluster_id:uuid}/problems",
    id="listClusterProblems",
    access=Access.READ,
    answer=tuple[Problem, ...],
    errors=(404,),
    etag=True,
)
async def list_problems(world: World, call: Call[None, NoQuery]) -> tuple[Problem, ...]:
    """List what does not pass, by check and cause, with the hosts it concerns."""
    return await problems.problems(world, call.uuid("cluster_id"))


@operation(
    "POST",
    "/v1/clusters/{cluster_id:uuid}/actions/check",
    id="checkClusterAgain",
    body=CheckAgain,
    body_name="checkAgain",
    success=202,
    answer=Asked,
    errors=(400, 404, 409),
)
async def check_again(world: World, call: Call[CheckAgain, NoQuery]) -> Asked:
    """Judge a cluster now and have its hosts measure anew."""
    asked = await checking.check_again(
        world, call.uuid("cluster_id"), check=call.body.check, host_ids=call.body.host_ids, caller=call.actor
    )
    return Asked(hosts=asked)


@operation(
    "PUT",
    "/v1/clusters/{cluster_id:uuid}/waivers/{scope}/{check}",
    id="waiveCheck",
    body=Waiver,
    body_name="waiver",
    success=204,
    errors=(400, 404, 409),
)
async def waive_check(world: World, call: Call[Waiver, NoQuery]) -> Empty:
    """Let a check fail from now on, and keep why."""
    await checking.waive(
        world,
        call.uuid("cluster_id"),
        scope=_scope(call.text("scope")),
        check=call.text("check"),
        reason=call.body.reason,
        caller=call.actor,
    )
    return Empty()


@operation(
    "DELETE",
    "/v1/clusters/{cluster_id:uuid}/waivers/{scope}/{check}",
    id="restoreCheck",
    success=204,
    errors=(404, 409),
)
async def restore_check(world: World, call: Call[None, NoQuery]) -> Empty:
    """Let a check count again."""
    await checking.waive(
        world,
        call.uuid("cluster_id"),
        scope=_scope(call.text("scope")),
        check=call.text("check"),
        reason=None,
        caller=call.actor,
    )
    return Empty()


def _scope(text: str) -> Scope:
    if text not in ("cluster", "host"):
        raise NotFound(f"Checks are about a cluster or a host, not about '{text[:40]}'.")
    return text
