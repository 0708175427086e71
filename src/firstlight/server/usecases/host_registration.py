"""A machine calls home, for the first time or again.

The original's agent stops asking for good when it is answered 401, 403, 404 or 409; it asks again after anything else.
So these are kept for machines that are not wanted here, and every passing trouble is answered as such.
"""

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
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.fingerprint import Fingerprint
from firstlight.core.model.host import HostState, Presence
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.roles import key_of
from firstlight.core.steps.due import plan_steps
from firstlight.core.steps.occasion import Neighbourhood
from firstlight.server.ports.database import LostRace
from firstlight.server.ports.store import PoolHost
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import (
    BUSY,
    TRIES,
    change_pool_host,
    events_of,
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
    claim = Claim(host_id=host_id, fingerprint=fingerprint)
    recalled = world.store.recalled_infra_env(infra_env_id)
    guessed = recalled is not None and recalled.cluster_id is not None
    infra_env = recalled if recalled is not None and guessed else await _stored(world, infra_env_id)
    key = (infra_env_id, (await placement(world, claim, infra_env_id=infra_env_id)).host_id)
    if caller.came_late and await world.store.host(key) is None:
        raise Unauthenticated("The time of this image's token is over. Boot the machine from a new discovery image.")
    world.sessions.restart(key)
    newcomer = _Newcomer(world, infra_env, key, agent_version[:LONGEST_VERSION], caller)
    newcomer.guessed, newcomer.claim = guessed, claim
    try:
        for _ in range(TRIES):
            try:
                return await newcomer.place()
            except _Moved:
                newcomer.infra_env, newcomer.guessed = await _stored(world, infra_env_id), False
                newcomer.key = (infra_env_id, (await placement(world, claim, infra_env_id=infra_env_id)).host_id)
        raise Unavailable(f"Host {host_id} is being moved at the moment. Register again.")
    except Error as refusal:
        if not isinstance(refusal, Unavailable) and refusal.code != BUSY:
            await newcomer.tell_refusal(refusal)
        raise


async def _stored(world: World, infra_env_id: UUID) -> InfraEnv:
    stored = await world.store.infra_env(infra_env_id)
    if stored is None:
        raise NotFound(f"There is no infra-env {infra_env_id}.")
    return stored.infra_env


class _Newcomer:
    """One registration while it is decided."""

    def __init__(self, world: World, infra_env: InfraEnv, key: HostKey, agent_version: str, caller: Caller) -> None:
        self.world = world
        self.infra_env = infra_env
        self.key = key
        self.agent_version = agent_version
        self.caller = caller
        self.claim = Claim(host_id=key[1])
        self.fresh = False
        """Nobody knew this host in its cluster."""
        self.guessed = False
        """The infra-env is as it was met last; whether it still is, its cluster tells."""

    async def place(self) -> PlacedHost:
        if self.infra_env.cluster_id is not None:
            # Such an infra-env gives its hosts to nobody else.
            return await self._in_own_cluster(self.infra_env.cluster_id)
        known = await self.world.store.host(self.key)
        if known is None:
            return await self._new_in_pool()
        if known.host.cluster_id is None:
            return await self._again_in_pool()
        return await self._in_cluster(known.host.cluster_id, known=True)

    async def _in_own_cluster(self, cluster_id: UUID) -> PlacedHost:
        sessions = self.world.sessions
        try:
            # Exactly one notice of the commit comes back, now or later.
            with sessions.opening(self.key, own_notices=1) as opening:
                placed = await self._in_cluster(cluster_id)
                if self.fresh:
                    sessions.begin(placed.state, opening)
                return placed
        except _Spare:
            return await self._spare()
        except NotFound:
            if not self.guessed:
                raise
            raise _Moved from None

    async def _spare(self) -> PlacedHost:
        """In the pool of an infra-env that otherwise gives its hosts to its cluster at once."""
        known = await self.world.store.host(self.key)
        return await (self._new_in_pool() if known is None else self._again_in_pool())

    async def _in_cluster(self, cluster_id: UUID, *, known: bool = False) -> PlacedHost:
        def command(state: ClusterState, now: datetime) -> Decision:
            self._look_around(state)
            host = next((host for host in state.hosts if key_of(host) == self.key), None)
            if (known and host is None) or (host is not None and self.claim.contradicts(host.host)):
                raise _Moved
            self.fresh = host is None
            if (
                host is None
                and is_closed(state.cluster)
                and may_go_on(state.cluster, [one.host for one in state.hosts])
            ):
                raise _Spare
            decision = self._new(state.cluster, now) if host is None else self._again(host, state.cluster, now)
            return self._with_plan(state, self._heard(decision, now))

        state = await note_in_cluster(self.world, cluster_id, command, caller=self.caller, look_in=INVENTORY_FOLLOWS)
        return PlacedHost(state=host_in(state, self.key), cluster=state.cluster)

    def _look_around(self, state: ClusterState) -> None:
        """The infra-env as of the same moment as the cluster."""
        found = state.infra_envs.get(self.key[0])
        if self.guessed and (found is None or found.cluster_id != state.cluster.id):
            raise _Moved
        self.infra_env = found or self.infra_env

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
