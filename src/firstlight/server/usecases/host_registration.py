"""A machine calls home, for the first time or again.

The original's agent stops asking for good when it is answered 401, 403, 404 or 409; it asks again after anything else.
So these are kept for machines that are not wanted here, and every passing trouble is answered as such.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.clusters.retrying import may_go_on
from firstlight.core.commands import registration
from firstlight.core.commands.registration import is_closed
from firstlight.core.decision import Change, Decision, HostKey, applied, combined, new_host
from firstlight.core.errors import Error, NotFound, Unauthenticated, Unavailable
from firstlight.core.events.host import HostRegistrationFailed
from firstlight.core.hosts.identity import place
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.fingerprint import Fingerprint
from firstlight.core.model.host import HostState, Presence
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.roles import key_of
from firstlight.core.steps.due import plan_steps
from firstlight.core.steps.occasion import Neighbourhood
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.rows import PoolHost
from firstlight.server.ports.subjects import cluster_subject
from firstlight.server.ports.writes import MakeDue
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import (
    BUSY,
    EVALUATE,
    TRIES,
    busy,
    change_pool_host,
    cluster_writes,
    events_of,
    load_cluster,
    note_in_cluster,
    pool_writes,
)
from firstlight.server.usecases.host_identity import Claim, placement
from firstlight.server.usecases.one_host import PlacedHost, host_in
from firstlight.server.usecases.world import World

INVENTORY_FOLLOWS: Final = timedelta(seconds=1)
"""Nothing can be said of a host before its inventory, which comes right after and asks for a look itself."""
LONGEST_VERSION: Final = 1_024
"""Characters kept of the image reference an agent calls its version."""


class _Spare(Exception):
    """Its cluster is closed, but a host of it failed that this machine could replace."""


class _Moved(Exception):
    """The host was bound, unbound, made or deleted by somebody else meanwhile."""


async def register(
    world: World,
    *,
    infra_env_id: UUID,
    host_id: UUID,
    agent_version: str,
    caller: Caller,
    fingerprint: Fingerprint | None = None,
) -> PlacedHost:
    recalled = world.store.recalled_infra_env(infra_env_id)
    guessed = recalled is not None and recalled.cluster_id is not None
    infra_env = recalled if recalled is not None and guessed else await _stored(world, infra_env_id)
    claim = Claim(host_id=host_id, fingerprint=fingerprint)
    newcomer = _Newcomer(world, infra_env, claim, agent_version[:LONGEST_VERSION], caller)
    newcomer.guessed = guessed
    try:
        for _ in range(TRIES):
            try:
                return await newcomer.place()
            except _Moved:
                newcomer.infra_env, newcomer.guessed = await _stored(world, infra_env_id), False
        raise Unavailable(f"Host {host_id} is being moved at the moment. Register again.")
    except Error as refusal:
        if not isinstance(refusal, Unavailable | Unauthenticated) and refusal.code != BUSY:
            await newcomer.tell_refusal(refusal)
        raise


async def _stored(world: World, infra_env_id: UUID) -> InfraEnv:
    stored = await world.store.infra_env(infra_env_id)
    if stored is None:
        raise NotFound(f"There is no infra-env {infra_env_id}.")
    return stored.infra_env


class _Newcomer:
    """One registration while it is decided."""

    def __init__(self, world: World, infra_env: InfraEnv, claim: Claim, agent_version: str, caller: Caller) -> None:
        self.world = world
        self.infra_env = infra_env
        self.claim = claim
        self.key: HostKey = (infra_env.id, claim.host_id)
        self.agent_version = agent_version
        self.caller = caller
        self.guessed = False
        """The infra-env is as it was met last; whether it still is, its cluster tells."""

    async def place(self) -> PlacedHost:
        if self.infra_env.cluster_id is not None:
            # Such an infra-env gives its hosts to nobody else.
            return await self._in_own_cluster(self.infra_env.cluster_id)
        known = await self._known()
        if known is None or known.host.cluster_id is None:
            return await self._in_pool(known)
        return await self._in_cluster(known.host.cluster_id)

    async def _known(self) -> HostState | None:
        found = await placement(self.world, self.claim, infra_env_id=self.key[0])
        self.key = (self.key[0], found.host_id)
        known = await self.world.store.host(self.key)
        self._begin_anew(known)
        return known

    def _begin_anew(self, known: HostState | None) -> None:
        """Whatever this agent was asked before is void."""
        if known is None and self.caller.came_late:
            raise Unauthenticated(
                "The time of this image's token is over. Boot the machine from a new discovery image."
            )
        self.world.sessions.restart(self.key)

    async def _in_own_cluster(self, cluster_id: UUID) -> PlacedHost:
        """A machine that is new to its cluster is taken in on what is remembered of it: then nothing is read."""
        try:
            async with self.world.turns.of(cluster_subject(cluster_id)):
                recalled = self.world.recent.get(cluster_id)
                if recalled is not None and (placed := await self._tried(recalled)) is not None:
                    return placed
                for _ in range(TRIES):
                    with suppress(LostRace):
                        return await self._joined(await load_cluster(self.world, cluster_id))
            raise busy(f"Cluster {cluster_id}")
        except _Spare:
            return await self._in_pool(await self._known())
        except NotFound:
            if not self.guessed:
                raise
            raise _Moved from None

    async def _tried(self, recalled: ClusterState) -> PlacedHost | None:
        """Nobody is refused on what is merely remembered."""
        try:
            return await self._joined(recalled, remembered=True)
        except Unavailable:
            raise
        except (Error, _Moved, _Spare):
            return None

    async def _joined(self, state: ClusterState, *, remembered: bool = False) -> PlacedHost:
        world, now = self.world, self.world.clock.now()
        known = self._found_in(state)
        if remembered and known is not None:
            raise _Moved
        self._begin_anew(known)
        decision = self._decided(state, known, now)
        writes = cluster_writes(state, decision, caller=self.caller, now=now, world=world, beside=self.infra_env)
        due = MakeDue(subject=cluster_subject(state.cluster.id), kind=EVALUATE, at=now + INVENTORY_FOLLOWS)
        # Exactly one notice of the commit comes back, now or later.
        with world.sessions.opening(self.key, own_notices=1) as opening:
            await world.store.commit(*writes, due)
            world.wake()
            after = applied(state, decision)
            world.recent.keep(replace(after, revision=state.revision + 1))
            placed = PlacedHost(state=host_in(after, self.key), cluster=after.cluster)
            if known is None:
                world.sessions.begin(placed.state, opening)
        return placed

    def _found_in(self, state: ClusterState) -> HostState | None:
        """The machine among the hosts of its infra-env; which of them it is, its fingerprint tells."""
        around = state.infra_envs.get(self.key[0])
        if around is None or around.cluster_id != state.cluster.id:
            raise _Moved
        self.infra_env = around  # as of the same moment as the cluster
        hosts = [host for host in state.hosts if host.host.infra_env_id == self.key[0]]
        found = place(self.claim.host_id, self.claim.fingerprint, known=[host.host for host in hosts])
        self.key = (self.key[0], found.host_id)
        return next((host for host in hosts if host.host.id == found.host_id), None)

    def _decided(self, state: ClusterState, known: HostState | None, now: datetime) -> Decision:
        cluster = state.cluster
        if known is None and is_closed(cluster) and may_go_on(cluster, [one.host for one in state.hosts]):
            raise _Spare
        decision = self._new(cluster, now) if known is None else self._again(known, cluster, now)
        return self._with_plan(state, self._heard(decision, now))

    async def _in_cluster(self, cluster_id: UUID) -> PlacedHost:
        """A host that somebody bound to a cluster its infra-env does not belong to."""

        def command(state: ClusterState, now: datetime) -> Decision:
            self.infra_env = state.infra_envs.get(self.key[0], self.infra_env)
            known = next((host for host in state.hosts if key_of(host) == self.key), None)
            if known is None or self.claim.contradicts(known.host):
                raise _Moved
            return self._decided(state, known, now)

        state = await note_in_cluster(self.world, cluster_id, command, caller=self.caller, look_in=INVENTORY_FOLLOWS)
        return PlacedHost(state=host_in(state, self.key), cluster=state.cluster)

    async def _in_pool(self, known: HostState | None) -> PlacedHost:
        return await (self._new_in_pool() if known is None else self._again_in_pool())

    async def _again_in_pool(self) -> PlacedHost:
        def command(pool: PoolHost, now: datetime) -> Decision:
            if self.claim.contradicts(pool.state.host):
                raise _Moved
            return self._heard(self._again(pool.state, None, now), now)

        if await self.world.store.pool_host(self.key) is None:
            raise _Moved
        return PlacedHost(state=await change_pool_host(self.world, self.key, command, caller=self.caller))

    async def _new_in_pool(self) -> PlacedHost:
        now = self.world.clock.now()
        decided = self._heard(self._new(None, now), now)
        fresh = new_host(self.key, decided)
        followed = await self.world.evaluate_pool_host(fresh, self.infra_env, now)
        decision = combined(decided, followed)
        pool = PoolHost(state=fresh, infra_env=self.infra_env, revision=0)
        try:
            await self.world.store.commit(*pool_writes(pool, decision, caller=self.caller, now=now))
        except LostRace:
            raise _Moved from None
        return PlacedHost(state=new_host(self.key, decision))

    def _new(self, cluster: Cluster | None, now: datetime) -> Decision:
        return registration.register_new(
            self.key[1], infra_env=self.infra_env, cluster=cluster, now=now, user_name=self.caller.name
        )

    def _again(self, host: HostState, cluster: Cluster | None, now: datetime) -> Decision:
        return registration.register_again(
            host, infra_env=self.infra_env, cluster=cluster, policy=self.world.policy, now=now
        )

    def _with_plan(self, state: ClusterState, decision: Decision) -> Decision:
        """The first thing this agent is to do; the engine plans for everybody right after."""
        middle = applied(state, decision)
        plan = plan_steps(
            middle, host_in(middle, self.key), policy=self.world.policy, neighbourhood=Neighbourhood(host_count=1)
        )
        return replace(decision, plans={self.key: plan})

    def _heard(self, decision: Decision, now: datetime) -> Decision:
        presence = Presence(checked_in_at=now, agent_version=self.agent_version)
        return replace(self.claim.noted(decision, self.key), presences={self.key: presence})

    async def tell_refusal(self, refusal: Error) -> None:
        known = await self.world.store.host(self.key)
        cluster_id = self.infra_env.cluster_id if known is None else known.host.cluster_id
        event = HostRegistrationFailed(
            host_id=self.key[1], infra_env_id=self.key[0], cluster_id=cluster_id, text=str(refusal)
        )
        now = self.world.clock.now()
        await self.world.store.commit(*events_of((Change(event=event),), caller=self.caller, now=now))
