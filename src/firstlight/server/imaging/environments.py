"""What the API says about infra-envs, asked once and kept until the API says that it changed."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from uuid import UUID

import aiohttp
import msgspec
import structlog
from msgspec import Struct

from firstlight.core.errors import Conflict, Error, Forbidden, Invalid, NotFound, Unauthenticated, Unavailable
from firstlight.server.auth.certificates import Trust
from firstlight.server.imaging.metrics import Metrics

log = structlog.get_logger(__name__)

API: Final = "/api/assisted-install/v2/infra-envs"
TIMEOUT: Final = aiohttp.ClientTimeout(total=60, sock_connect=10)
LARGEST_ANSWER: Final = 8 * 1024 * 1024
MOST_KEPT: Final = 4_096
UNWATCHED_SECONDS: Final = 5.0
"""How long an answer holds while nobody tells us of changes."""
WATCHED_SECONDS: Final = 3_600.0
"""How long it holds while somebody does: tokens inside are renewed when they are asked for."""
UNREACHABLE_SECONDS: Final = 600.0
"""How long an answer holds while the API cannot be reached: downloads go on through a restart of it."""
ATTEMPTS: Final = 3
_ERRORS: Final[Mapping[int, type[Error]]] = {
    400: Invalid,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: Conflict,
}


class Credential(Struct, frozen=True, cache_hash=True):
    """What a caller shows; the API decides what it is worth. Nothing of it is logged or told to anybody else."""

    api_key: str = ""
    image_token: str = ""
    authorization: str = ""

    @property
    def headers(self) -> dict[str, str]:
        if self.api_key:
            return {}
        if self.image_token:
            return {"Image-Token": self.image_token}
        return {"Authorization": self.authorization} if self.authorization else {}

    @property
    def query(self) -> dict[str, str]:
        return {"api_key": self.api_key} if self.api_key else {}


class Customisation(Struct, frozen=True, kw_only=True):
    """What makes a base image the image of one environment."""

    ignition: bytes
    ramdisk: bytes = b""
    kernel_arguments: tuple[str, ...] = ()
    last_modified: datetime


class Asked(Struct, frozen=True, cache_hash=True):
    """For whom, in which form, and shown what."""

    infra_env_id: UUID
    image_type: str
    """`full-iso`, `minimal-iso`, `disconnected-iso`, or empty for booting over the network."""
    credential: Credential = Credential()


_Generation = tuple[int, int]
"""How often everything, and this infra-env, were said to have changed."""


class _Kept(Struct):
    customisation: Customisation
    at: float
    generation: _Generation | None


class _Argument(Struct, frozen=True):
    operation: str
    value: str


class _InfraEnv(Struct, frozen=True):
    updated_at: datetime | None = None
    kernel_arguments: str | None = None


class Environments:
    def __init__(
        self, api_url: str, *, metrics: Metrics, trust: Trust | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = api_url.rstrip("/")
        self._metrics = metrics
        self._clock = clock
        self.trust = trust or Trust()
        self._kept: OrderedDict[Asked, _Kept] = OrderedDict()
        self._asking: dict[Asked, asyncio.Task[Customisation]] = {}
        self._changes: dict[UUID, int] = {}
        self._all_changes = 0
        self._session: aiohttp.ClientSession | None = None
        self.watched = False
        """Does somebody tell us of changes at the moment?"""

    # --- what is known ----------------------------------------------------------------------------------------------

    def fresh(self, asked: Asked) -> Customisation | None:
        kept = self._kept.get(asked)
        if kept is None or kept.generation != self._generation(asked.infra_env_id):
            return None
        if self._clock() - kept.at > (WATCHED_SECONDS if self.watched else UNWATCHED_SECONDS):
            return None
        return kept.customisation

    def changed(self, infra_env_id: UUID) -> None:
        self._changes[infra_env_id] = self._changes.get(infra_env_id, 0) + 1

    def changed_all(self) -> None:
        """Something may have been missed: everything is asked for again."""
        self._changes.clear()
        self._all_changes += 1

    def _generation(self, infra_env_id: UUID) -> _Generation:
        return self._all_changes, self._changes.get(infra_env_id, 0)

    # --- asking -----------------------------------------------------------------------------------------------------

    async def get(self, asked: Asked) -> Customisation:
        """However many want the same at the same time, the API is asked once."""
        known = self.fresh(asked)
        if known is not None:
            return known
        task = self._asking.get(asked)
        if task is None:
            task = asyncio.create_task(self._refresh(asked))
            self._asking[asked] = task
            task.add_done_callback(lambda _: self._asking.pop(asked, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        for task in tuple(self._asking.values()):
            task.cancel()
        if self._session is not None:
            await self._session.close()

    async def _refresh(self, asked: Asked) -> Customisation:
        before = self._kept.get(asked)
        try:
            found, generation = await self._ask_until_consistent(asked)
        except Unavailable:
            if before is not None and self._clock() - before.at < UNREACHABLE_SECONDS:
                log.warning("the API cannot be reached; its last answer is used", infra_env_id=str(asked.infra_env_id))
                return before.customisation
            raise
        except Error:
            self._kept.pop(asked, None)
            raise
        if before is not None and found == before.customisation:
            found = before.customisation
        self._kept[asked] = _Kept(found, self._clock(), generation)
        self._kept.move_to_end(asked)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return found

    async def _ask_until_consistent(self, asked: Asked) -> tuple[Customisation, _Generation | None]:
        """An infra-env may change between the questions about it; one that keeps changing is used as it is, once."""
        for _ in range(ATTEMPTS):
            generation = self._generation(asked.infra_env_id)
            found, consistent = await self._ask(asked)
            if consistent and generation == self._generation(asked.infra_env_id):
                return found, generation
        return (await self._ask(asked))[0], None

    async def _ask(self, asked: Asked) -> tuple[Customisation, bool]:
        """The answer, and whether its parts are of the same moment."""
        path = f"{API}/{asked.infra_env_id}"
        status, body, _ = await self._call(path, asked.credential)
        try:
            environment = msgspec.json.decode(body, type=_InfraEnv)
        except (msgspec.DecodeError, UnicodeError):
            raise Unavailable("The API gave an answer that cannot be understood.") from None
        query = {"file_name": "discovery.ign"} | ({"discovery_iso_type": asked.image_type} if asked.image_type else {})
        _, ignition, headers = await self._call(f"{path}/downloads/files", asked.credential, query)
        ramdisk = b""
        if asked.image_type in ("", "minimal-iso"):
            status, ramdisk, _ = await self._call(f"{path}/downloads/minimal-initrd", asked.credential)
            ramdisk = b"" if status == 204 else ramdisk
        modified = _moment(headers.get("Last-Modified", ""))
        stated = environment.updated_at
        same = modified is None or stated is None or stated.astimezone(UTC).replace(microsecond=0) == modified
        customisation = Customisation(
            ignition=ignition,
            ramdisk=ramdisk,
            kernel_arguments=appended(environment.kernel_arguments),
            last_modified=modified or datetime.now(UTC).replace(microsecond=0),
        )
        return customisation, same

    async def _call(
        self, path: str, credential: Credential, query: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, Mapping[str, str]]:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=TIMEOUT)
        try:
            async with self._session.get(
                self._url + path,
                params={**(query or {}), **credential.query},
                headers=credential.headers,
                ssl=self.trust.context(),
            ) as response:
                self._metrics.upstream.labels(str(response.status)).inc()
                body = await response.content.read(LARGEST_ANSWER + 1)
                while len(body) <= LARGEST_ANSWER and (more := await response.content.read(LARGEST_ANSWER)):
                    body += more
                status, headers = response.status, response.headers
        except (aiohttp.ClientError, TimeoutError, OSError):
            self._metrics.upstream.labels("none").inc()
            raise Unavailable("The API cannot be reached. Ask again in a while.") from None
        if status in (200, 204):
            if len(body) > LARGEST_ANSWER:
                raise Unavailable("The API gave an answer that is impossibly long.")
            return status, body, headers
        kind = _ERRORS.get(status, Unavailable)
        raise kind(_reason(body) or f"The API refused with status {status}.")


def appended(text: str | None) -> tuple[str, ...]:
    """The kernel arguments of an infra-env, which the API gives as JSON in a string."""
    if not text:
        return ()
    try:
        arguments = msgspec.json.decode(text, type=list[_Argument])
    except (msgspec.DecodeError, UnicodeError):
        raise Conflict("The kernel arguments of the infra-env cannot be read.") from None
    for argument in arguments:
        if argument.operation != "append":
            raise Conflict(
                f"The infra-env wants to {argument.operation[:20]} the kernel argument {argument.value[:80]!r},"
                " but discovery images can only append. Change it to append or remove it."
            )
    return tuple(argument.value for argument in arguments)


def _reason(body: bytes) -> str:
    """The sentence of an error answer; it is the API's own, so it names no address of ours."""
    try:
        found = msgspec.json.decode(body, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError):
        return ""
    return str(found.get("reason") or found.get("message") or "")[:1_000]


def _moment(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC) if text else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
