"""The service as the installer calls it. An outage is waited out within the caller's limit; a refusal is final.

Who asks for something that is not there yet (404, 423, 425) asks a few times more.
"""

import asyncio
import random
from collections.abc import Mapping
from types import TracebackType
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.wire.words import HostStage
from firstlight.host import calling
from firstlight.host.actions.action import Unfetched
from firstlight.host.calling import CALL_SECONDS, Refused, Unreachable, decoded
from firstlight.host.forms import bytes_form
from firstlight.host.installer.pace import Pace
from firstlight.host.installer.settings import InstallerSettings
from firstlight.host.root import Root

API: Final = calling.SERVICE_API
BASE_SECONDS: Final = 2.0
CAP_SECONDS: Final = 10.0
NOT_YET: Final = frozenset({404, 423, 425})
NOT_YET_RETRIES: Final = 10
OUTAGES: Final = frozenset({408, 429})
SETTLED: Final = 409
SERVER_ERRORS_FROM: Final = 500


class Reached(Struct, frozen=True, kw_only=True):
    current_stage: str = ""


class HostDocument(Struct, frozen=True, kw_only=True):
    id: UUID
    infra_env_id: UUID | None = None
    status: str = ""
    role: str = ""
    requested_hostname: str = ""
    progress: Reached | None = None
    inventory: str = ""

    @property
    def stage(self) -> str:
        return self.progress.current_stage if self.progress is not None else ""


class PlatformDocument(Struct, frozen=True, kw_only=True):
    type: str = ""


class ClusterDocument(Struct, frozen=True, kw_only=True):
    kind: str = ""
    status: str = ""
    control_plane_count: int = 0
    platform: PlatformDocument | None = None

    @property
    def platform_type(self) -> str:
        return self.platform.type if self.platform is not None else ""


class Service:
    def __init__(self, settings: InstallerSettings, *, root: Root, pace: Pace) -> None:
        """Raises `Unfetched` if the given authority is no certificate."""
        self._settings = settings
        self._pace = pace
        given = settings.ca_certificate
        if given is not None and calling.authorities_in(given, root=root) is None:
            raise Unfetched(f"The certificate authority {given} cannot be read.")
        self._api = calling.service(
            settings.url,
            root=root,
            ca_certificate=given,
            insecure=settings.insecure,
            proxies=settings.proxies,
            headers={"X-Secret-Key": settings.token, "User-Agent": "firstlight-installer"},
        )

    async def __aenter__(self) -> "Service":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._api.renew()

    # --- calls --------------------------------------------------------------------------------------------------------

    async def progress(
        self, infra_env_id: UUID, host_id: UUID, stage: HostStage, *, info: str = "", limit: float
    ) -> None:
        body = {"current_stage": stage} | ({"progress_info": info} if info else {})
        path = f"{API}/v2/infra-envs/{infra_env_id}/hosts/{host_id}/progress"
        await self.ask("PUT", path, document=body, limit=limit)

    async def host_ignition(self, host_id: UUID, *, limit: float) -> bytes:
        path = f"{API}/v2/infra-env/{self._settings.infra_env_id}/hosts/{host_id}/downloads/ignition"
        return await self.ask("GET", path, limit=limit)

    async def cluster_file(self, name: str, *, limit: float) -> bytes:
        return await self.ask("GET", f"{self._cluster}/downloads/files", query={"file_name": name}, limit=limit)

    async def cluster(self, *, limit: float) -> ClusterDocument:
        return decoded(
            ClusterDocument, await self.ask("GET", self._cluster, query={"exclude-hosts": "true"}, limit=limit)
        )

    async def hosts(self, role: str, *, limit: float, with_inventory: bool = False) -> tuple[HostDocument, ...]:
        """Whoever wants to know their addresses asks for their inventories, which are long."""
        query = {"role": role} | ({"with-inventory": "true"} if with_inventory else {})
        answer = await self.ask("GET", f"{self._cluster}/hosts", query=query, limit=limit)
        return decoded(tuple[HostDocument, ...], answer)

    async def host_logs_state(self, host_id: UUID, state: str, *, limit: float) -> None:
        path = f"{API}/v2/infra-envs/{self._settings.infra_env_id}/hosts/{host_id}/logs-progress"
        await self.ask("PUT", path, document={"logs_state": state}, limit=limit)

    async def upload_controller_logs(self, archive: bytes, *, limit: float) -> None:
        content, headers = bytes_form(archive, file_name="controller_logs.tar.gz")
        query = {"logs_type": "controller"}
        await self.ask("POST", f"{self._cluster}/logs", query=query, content=content, headers=headers, limit=limit)

    async def cluster_logs_state(self, state: str, *, limit: float) -> None:
        await self.ask("PUT", f"{self._cluster}/logs-progress", document={"logs_state": state}, limit=limit)

    @property
    def _cluster(self) -> str:
        return f"{API}/v2/clusters/{self._settings.cluster_id}"

    # --- one call -----------------------------------------------------------------------------------------------------

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        document: object = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        limit: float,
    ) -> bytes:
        """The body of a successful answer. Raises `Refused`, and `Unreachable` once `limit` seconds are over."""
        loop = asyncio.get_running_loop()
        end, not_yet, attempt = loop.time() + limit, 0, 0
        while True:
            left = end - loop.time()
            try:
                return await self._api.ask(
                    method,
                    path,
                    query=query,
                    document=document,
                    content=content,
                    headers=headers,
                    seconds=min(CALL_SECONDS, max(left, 1.0)),
                )
            except Refused as refusal:
                not_yet += refusal.status in NOT_YET
                if not _passes(refusal.status) and (refusal.status not in NOT_YET or not_yet > NOT_YET_RETRIES):
                    raise
                trouble: Exception = refusal
            except Unreachable as reason:
                trouble = reason
            delay = random.uniform(0, min(BASE_SECONDS * 2**attempt, CAP_SECONDS))  # noqa: S311 - to spread callers
            attempt = min(attempt + 1, 8)
            if loop.time() + self._pace.seconds(delay) >= end:
                raise Unreachable(str(trouble)) from trouble
            await self._pace.rest(delay)


def _passes(status: int) -> bool:
    """Whether the trouble is the service's own and may go by itself."""
    return status in OUTAGES or status >= SERVER_ERRORS_FROM
