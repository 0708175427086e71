"""The service as the agent calls it; every call raises `Refused` or `Unreachable`, nothing else."""

from collections.abc import AsyncIterable, Mapping
from types import TracebackType
from typing import Final
from uuid import UUID

from firstlight.host import calling
from firstlight.host.agent.documents import ArchiveReached, Instructions, LogTaken, Registration, StepReply
from firstlight.host.calling import CALL_SECONDS, decoded
from firstlight.host.root import Root
from firstlight.host.settings import AgentSettings

API: Final = calling.SERVICE_API
OWN_API: Final = "/api/firstlight"
UPLOAD_SECONDS: Final = 3600.0
PIECE_SECONDS: Final = 300.0
"""With the last piece the service puts the whole archive in its place."""
LARGEST_ANSWER: Final = 16 * 2**20
REDIRECTS: Final = 5


class ServiceSession:
    def __init__(self, settings: AgentSettings, *, root: Root, fingerprint: Mapping[str, str] | None = None) -> None:
        """`fingerprint` are headers that tell machines with one id apart."""
        self._settings = settings
        self._api = calling.service(
            settings.url,
            root=root,
            ca_certificate=settings.ca_certificate,
            insecure=settings.insecure,
            proxies=settings.proxies,
            headers={
                "X-Secret-Key": settings.token,
                "discovery_agent_version": settings.agent_version,
                "User-Agent": "firstlight-agent",
                **(fingerprint or {}),
            },
            largest=LARGEST_ANSWER,
            redirects=REDIRECTS,
        )
        self.ask = self._api.ask
        self.renew = self._api.renew

    async def __aenter__(self) -> "ServiceSession":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.renew()

    async def register(self, host_id: UUID) -> Registration:
        body = {"host_id": str(host_id), "discovery_agent_version": self._settings.agent_version}
        path = f"{API}/v2/infra-envs/{self._settings.infra_env_id}/hosts"
        return decoded(Registration, await self.ask("POST", path, document=body))

    async def instructions(self, host_id: UUID, *, timestamp: int, wait: int = 0, seen: str = "") -> Instructions:
        """`seen` is the digest of what the service thought of us last."""
        query = {"timestamp": str(timestamp)} | ({"wait": str(wait)} if wait else {}) | ({"seen": seen} if seen else {})
        answer = await self.ask("GET", self._instructions(host_id), query=query, seconds=CALL_SECONDS + wait)
        return decoded(Instructions, answer)

    async def reply(self, host_id: UUID, reply: StepReply) -> None:
        await self.ask("POST", self._instructions(host_id), document=reply)

    async def logs_state(self, host_id: UUID, *, infra_env_id: UUID, state: str) -> None:
        path = f"{API}/v2/infra-envs/{infra_env_id}/hosts/{host_id}/logs-progress"
        await self.ask("PUT", path, document={"logs_state": state})

    async def send_log(self, host_id: UUID, *, offset: int | None, data: bytes) -> int:
        """How far the service has it afterwards. Without `offset` it goes behind whatever is there."""
        path = f"{OWN_API}/v1/infra-envs/{self._settings.infra_env_id}/hosts/{host_id}/log"
        kind = {"Content-Type": "text/plain; charset=utf-8"}
        query = {} if offset is None else {"offset": str(offset)}
        answer = await self.ask("POST", path, query=query, content=data, headers=kind)
        return decoded(LogTaken, answer).next

    async def upload(
        self, cluster_id: UUID, *, query: Mapping[str, str], content: AsyncIterable[bytes], headers: Mapping[str, str]
    ) -> None:
        path = f"{API}/v2/clusters/{cluster_id}/logs"
        await self.ask("POST", path, query=query, content=content, headers=headers, seconds=UPLOAD_SECONDS)

    async def archive_piece(
        self, host_id: UUID, *, infra_env_id: UUID, sha256: str, size: int, offset: int, data: bytes | None
    ) -> ArchiveReached:
        """Bring one piece of an archive, or, without data, ask how far the service has it."""
        path = f"{OWN_API}/v1/infra-envs/{infra_env_id}/hosts/{host_id}/log-archives/{sha256}"
        if data is None:
            return decoded(ArchiveReached, await self.ask("GET", path, query={"size": str(size)}))
        query = {"size": str(size), "offset": str(offset)}
        kind = {"Content-Type": "application/octet-stream"}
        answer = await self.ask("PUT", path, query=query, content=data, headers=kind, seconds=PIECE_SECONDS)
        return decoded(ArchiveReached, answer)

    def _instructions(self, host_id: UUID) -> str:
        return f"{API}/v2/infra-envs/{self._settings.infra_env_id}/hosts/{host_id}/instructions"
