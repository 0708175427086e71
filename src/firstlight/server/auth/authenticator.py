"""From the credentials of a request to who is asking, and whether that is any of their business."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import Error, Forbidden, NotFound, Unauthenticated
from firstlight.server.auth.compact import BadToken, Claims, read_hs256, unchecked
from firstlight.server.auth.credentials import parameters, shown
from firstlight.server.auth.membership import are_together
from firstlight.server.auth.tokens import IMAGE_KEY, Role, Scheme, Tokens, has_ended, uuid_in
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import infra_env_subject

MEMBERSHIP_LASTS: Final = timedelta(minutes=1)
MOST_MEMBERSHIPS: Final = 4_096
NOT_VISIBLE: Final = "not-visible"
SENT_NOTHING: Final = (
    "This needs a credential, and none was sent. People send a token as 'Authorization: Bearer …'; the administrator's"
    " is in the file admin-token of the service's data directory."
)


class Wanted(Struct, frozen=True, kw_only=True):
    """What a request asks for, as far as it matters here."""

    schemes: frozenset[Scheme]
    path: Mapping[str, UUID | str]
    query: bytes
    reads_only: bool
    """May somebody have it who may only look?"""
    goes_on: bool = False
    """Is it something that only machines do which came in time, so that they may go on when their token has ended?"""


class Identity(Struct, frozen=True, kw_only=True):
    name: str
    is_admin: bool = False
    infra_env_id: UUID | None = None
    """A machine of this infra-env, and nothing else."""
    cluster_id: UUID | None = None
    has_ended: bool = False
    """The token's time is over; machines that are known already may go on with it."""


class Authenticator:
    def __init__(
        self, tokens: Tokens, store: Store, *, now: Callable[[], datetime], scoped: bool = True, schemed: bool = False
    ) -> None:
        """`scoped`: machines may touch only what is theirs. `schemed`: every token must say what it is for."""
        self._tokens = tokens
        self._store = store
        self._now = now
        self._scoped = scoped
        self._schemed = schemed
        self._members: dict[tuple[UUID, UUID], datetime] = {}

    async def __call__(self, wanted: Wanted, headers: Mapping[str, str]) -> Identity:
        """Raises Unauthenticated, Forbidden, or NotFound for what the caller may not even know of."""
        refusal: Error | None = None
        for scheme, token in shown(wanted.schemes, headers, wanted.query):
            try:
                return await self._identity(scheme, token, wanted)
            except BadToken:
                refusal = refusal or Unauthenticated("This credential was not issued by this service. Get a new one.")
            except Error as error:
                refusal = refusal or error
        raise refusal or Unauthenticated(SENT_NOTHING)

    async def _identity(self, scheme: Scheme, token: str, wanted: Wanted) -> Identity:
        match scheme:
            case Scheme.USER:
                return self.person(token, reads_only=wanted.reads_only)
            case Scheme.WATCHER:
                return self._watcher(token)
            case Scheme.IMAGE | Scheme.IMAGE_URL:
                return await self._image(token, wanted)
            case _:
                return await self._machine(scheme, token, wanted)

    # --- people -----------------------------------------------------------------------------------------------------

    def person(self, token: str, *, reads_only: bool) -> Identity:
        if self._tokens.is_admin(token):
            return Identity(name="admin", is_admin=True)
        claims = self._tokens.read(token)
        _require_kind(claims, Scheme.USER)
        self._require_time(claims)
        if claims.role == Role.READ_ONLY and not reads_only:
            raise Forbidden("This token may only look. Ask an administrator for one that may change things.")
        return Identity(name=claims.sub or "admin", is_admin=claims.role != Role.READ_ONLY)

    def _watcher(self, token: str) -> Identity:
        claims = self._tokens.read(token)
        _require_kind(claims, Scheme.WATCHER)
        self._require_time(claims)
        return Identity(name=claims.sub or "watcher")

    # --- machines ---------------------------------------------------------------------------------------------------

    async def _image(self, token: str, wanted: Wanted) -> Identity:
        infra_env_id = uuid_in(unchecked(token).sub)
        key = await self._store.secret(infra_env_subject(infra_env_id), IMAGE_KEY)
        if not key:
            raise BadToken
        claims = read_hs256(token, bytes.fromhex(key))
        self._require_time(claims)
        if infra_env_id != wanted.path.get("infra_env_id"):
            raise Forbidden("This image token is for another infra-env. Ask for the image URL of this one.")
        return Identity(name="image", infra_env_id=infra_env_id)

    async def _machine(self, scheme: Scheme, token: str, wanted: Wanted) -> Identity:
        claims = self._tokens.read(token)
        if claims.auth_scheme or self._schemed:
            _require_kind(claims, Scheme.AGENT)
        ended = has_ended(claims, self._now())
        if ended and (scheme is not Scheme.AGENT or not wanted.goes_on):
            raise Unauthenticated("The time of this token is over. Boot a new discovery image, or get a new link.")
        identity = Identity(
            name="agent",
            infra_env_id=uuid_in(claims.infra_env_id) if claims.infra_env_id else None,
            cluster_id=uuid_in(claims.cluster_id) if claims.cluster_id else None,
            has_ended=ended,
        )
        if identity.infra_env_id is None and identity.cluster_id is None:
            if self._schemed:
                return identity
            raise BadToken
        if self._scoped and not await self._may_touch(identity, wanted):
            if scheme is Scheme.URL:
                raise NotFound("Object Not Found", code=NOT_VISIBLE)
            raise Forbidden("This token is for the machines of another infra-env or cluster.")
        return identity

    async def _may_touch(self, who: Identity, wanted: Wanted) -> bool:
        infra_env_id, cluster_id = wanted.path.get("infra_env_id"), wanted.path.get("cluster_id")
        if isinstance(infra_env_id, UUID):
            return infra_env_id == who.infra_env_id or await self._is_neighbour(who, infra_env_id, wanted)
        if isinstance(cluster_id, UUID):
            return who.cluster_id == cluster_id or (
                who.infra_env_id is not None and await self._belong(who.infra_env_id, cluster_id)
            )
        if Scheme.URL in wanted.schemes:
            return await self._may_list_events(who, parameters(wanted.query))
        return True

    async def _is_neighbour(self, who: Identity, infra_env_id: UUID, wanted: Wanted) -> bool:
        """The controller of a cluster speaks for all its hosts, also for those that came from another infra-env."""
        if who.cluster_id is not None:
            return await self._belong(infra_env_id, who.cluster_id)
        host_id = wanted.path.get("host_id")
        if not isinstance(host_id, UUID) or who.infra_env_id is None:
            return False
        state = await self._store.host((infra_env_id, host_id))
        if state is None or state.host.cluster_id is None:
            return False
        return await self._belong(who.infra_env_id, state.host.cluster_id)

    async def _belong(self, infra_env_id: UUID, cluster_id: UUID) -> bool:
        now, pair = self._now(), (infra_env_id, cluster_id)
        if (until := self._members.get(pair)) is not None and now < until:
            return True
        if not await are_together(self._store, infra_env_id=infra_env_id, cluster_id=cluster_id):
            return False
        if len(self._members) >= MOST_MEMBERSHIPS:
            self._members.clear()
        self._members[pair] = now + MEMBERSHIP_LASTS
        return True

    async def _may_list_events(self, who: Identity, query: Mapping[str, list[str]]) -> bool:
        """Events are found by what they are about: the question must name what the token is for, and nothing else."""
        about = {name: query[name] for name in ("cluster_id", "infra_env_id", "host_id", "host_ids") if name in query}
        if who.cluster_id is not None:
            return about.get("cluster_id") == [str(who.cluster_id)]
        if "cluster_id" in about or who.infra_env_id is None:
            return False
        if about.get("infra_env_id") == [str(who.infra_env_id)] and about.keys() == {"infra_env_id"}:
            return True
        named = [one for values in (about.get("host_ids", []), about.get("host_id", [])) for one in values]
        hosts = [one for text in named for one in text.split(",")]
        return bool(hosts) and await _all(hosts, lambda one: self._is_host(who, one))

    async def _is_host(self, who: Identity, host_id: str) -> bool:
        try:
            found = await self._store.hosts_by_id(UUID(host_id))
        except ValueError:
            return False
        return bool(found) and all(host.infra_env_id == who.infra_env_id for host in found)

    def _require_time(self, claims: Claims) -> None:
        if has_ended(claims, self._now()):
            raise Unauthenticated("The time of this token is over. Get a new one.")


def _require_kind(claims: Claims, scheme: Scheme) -> None:
    if claims.auth_scheme != scheme:
        raise Forbidden("This token is genuine, but it is for something else. Send the kind that this operation takes.")


async def _all(items: Collection[str], holds: Callable[[str], Awaitable[bool]]) -> bool:
    for item in items:
        if not await holds(item):
            return False
    return True
