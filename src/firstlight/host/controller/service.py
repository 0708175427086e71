"""The service as the controller calls it. Whatever goes wrong, it `RefusedIt` or was `Unreachable`."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, TypeVar

from firstlight.core import wire
from firstlight.host import calling
from firstlight.host.calling import SERVICE_API, Refused, decoded
from firstlight.host.controller.documents import ClusterDocument, CustomManifest, HostDocument, OperatorDocument
from firstlight.host.controller.settings import ControllerSettings
from firstlight.host.forms import file_form
from firstlight.host.root import Root

T = TypeVar("T")

UPLOAD_SECONDS: Final = 1800.0


class RefusedIt(Refused):
    """The service, not the new cluster, answered, but not with what was asked for."""


class Service:
    def __init__(self, settings: ControllerSettings, *, root: Root, proxies: Mapping[str, str]) -> None:
        self._cluster = f"/v2/clusters/{settings.cluster_id}"
        self._api = calling.service(
            f"{settings.service_url}{SERVICE_API}",
            root=root,
            ca_certificate=settings.ca_certificate,
            insecure=settings.insecure,
            proxies=proxies,
            headers={"X-Secret-Key": settings.token, "User-Agent": "firstlight-controller"},
            refusal=RefusedIt,
        )
        self._ask = self._api.ask

    async def __aenter__(self) -> "Service":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._api.renew()

    # --- what it knows ------------------------------------------------------------------------------------------------

    async def cluster(self) -> ClusterDocument:
        return await self._read(ClusterDocument, self._cluster, query={"exclude-hosts": "true"})

    async def hosts(self) -> tuple[HostDocument, ...]:
        """With their inventories: addresses are part of who they are."""
        return await self._read(tuple[HostDocument, ...], f"{self._cluster}/hosts", query={"with-inventory": "true"})

    async def operators(self) -> tuple[OperatorDocument, ...]:
        return await self._read(tuple[OperatorDocument, ...], f"{self._cluster}/monitored-operators")

    async def custom_manifests(self) -> tuple[CustomManifest, ...]:
        path, query = f"{self._cluster}/downloads/files", {"file_name": "custom_manifests.json"}
        return await self._read(tuple[CustomManifest, ...], path, query=query)

    async def admin_kubeconfig(self) -> str:
        path, query = f"{self._cluster}/downloads/credentials", {"file_name": "kubeconfig-noingress"}
        return (await self._ask("GET", path, query=query)).decode("utf-8", "replace")

    # --- what it is told ----------------------------------------------------------------------------------------------

    async def tell_stage(self, host: HostDocument, report: wire.HostProgress) -> None:
        path = f"/v2/infra-envs/{host.infra_env_id}/hosts/{host.id}/progress"
        await self._ask("PUT", path, document=report)

    async def tell_operator(self, report: wire.OperatorMonitorReport) -> None:
        await self._ask("PUT", f"{self._cluster}/monitored-operators", document=report)

    async def tell_finalizing(self, report: wire.ClusterFinalizingProgress) -> None:
        await self._ask("PUT", f"{self._cluster}/progress", document=report)

    async def add_ingress_ca(self, bundle: str) -> None:
        await self._ask("POST", f"{self._cluster}/uploads/ingress-cert", document=bundle)

    async def complete(self, report: wire.CompletionParams) -> None:
        await self._ask("POST", f"{self._cluster}/actions/complete-installation", document=report)

    async def tell_event(self, event: wire.EventTriggerParams) -> None:
        await self._ask("POST", "/v2/events", document=event)

    async def tell_logs_state(self, report: wire.LogsProgressParams) -> None:
        await self._ask("PUT", f"{self._cluster}/logs-progress", document=report)

    async def upload_logs(self, archive: Path) -> None:
        content, headers = file_form(archive, file_name=archive.name)
        query = {"logs_type": "controller"}
        await self._ask(
            "POST", f"{self._cluster}/logs", query=query, content=content, headers=headers, seconds=UPLOAD_SECONDS
        )

    async def _read(self, type_: type[T], path: str, *, query: Mapping[str, str] | None = None) -> T:
        return decoded(type_, await self._ask("GET", path, query=query))
