"""Everything a journal holds, looked for in what the service shows."""

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec

from firstlight.simulate.calls import Refused, Service
from tests.end_to_end.journal import Journal
from tests.end_to_end.registers import MISSING, Register

BEFORE_INSTALLATION: Final = frozenset({"ready", "insufficient", "pending-for-input"})
LOGS_ORDER: Final = ("", "requested", "collecting", "completed")


class Reader:
    """Reads each document once per reading."""

    def __init__(self, service: Service, journal: Journal) -> None:
        self._service = service
        self._journal = journal
        self._known: dict[str, Any] = {}
        self.lost: list[str] = []

    async def everything(self) -> list[str]:
        """What is not as it was acknowledged; nothing when all is well."""
        for kind, shown in self._looks().items():
            for thing, register in self._journal.of(kind).items():
                if register.counts and not await self._went_with_its_cluster(kind, thing[0]):
                    self._compare(kind, thing, register, await shown(*thing))
        return self.lost

    def _looks(self) -> Mapping[str, Callable[..., Awaitable[object]]]:
        return {
            "cluster": lambda cluster: self._field(f"/v2/clusters/{cluster}", "name"),
            "infra-env": lambda infra_env: self._field(f"/v2/infra-envs/{infra_env}", "name"),
            "host": self._host_is_there,
            "cluster-field": lambda cluster, name: self._field(f"/v2/clusters/{cluster}", name),
            "infra-env-field": lambda infra_env, name: self._field(f"/v2/infra-envs/{infra_env}", name),
            "host-field": lambda infra_env, host, name: self._host_field(infra_env, host, name),
            "inventory": lambda infra_env, host: self._host_field(infra_env, host, "inventory"),
            "stage": self._stage,
            "logs-state": lambda infra_env, host: self._host_field(infra_env, host, "logs_info"),
            "finalizing": self._finalizing_stage,
            "operator": self._operator,
            "manifest": self._manifest,
            "installation": lambda cluster: self._field(f"/v2/clusters/{cluster}", "status"),
            "completion": lambda cluster: self._field(f"/v2/clusters/{cluster}", "status"),
            "ingress": self._kubeconfig,
            "event": self._event,
            "logs": self._logs,
        }

    async def _went_with_its_cluster(self, kind: str, cluster: str) -> bool:
        """A cluster that may have been deleted, and was, takes along what belonged to it."""
        whole = self._journal.things.get(("cluster", cluster)) if kind != "cluster" else None
        return whole is not None and MISSING in whole.possible() and await self._json(f"/v2/clusters/{cluster}") is None

    def _compare(self, kind: str, thing: tuple[str, ...], register: Register, shown: object) -> None:
        possible = register.possible()
        if not any(_fits(kind, value, shown) for value in possible):
            self.lost.append(f"{kind} {thing} shows {_short(shown)}, but was last {[_short(one) for one in possible]}")

    async def _document(self, path: str, **query: str) -> Any:
        name = f"{path}?{query}"
        if name not in self._known:
            try:
                self._known[name] = await self._service.ask("GET", path, query=query)
            except Refused as refusal:
                if refusal.status not in (404, 409):
                    raise
                self._known[name] = None
        return self._known[name]

    async def _json(self, path: str, **query: str) -> Any:
        content = await self._document(path, **query)
        return None if content is None else msgspec.json.decode(content)

    async def _field(self, path: str, name: str) -> object:
        document = await self._json(path)
        return MISSING if document is None else document.get(name)

    async def _host_field(self, infra_env: str, host: str, name: str) -> object:
        return await self._field(f"/v2/infra-envs/{infra_env}/hosts/{host}", name)

    async def _host_is_there(self, infra_env: str, host: str) -> object:
        return MISSING if await self._host_field(infra_env, host, "id") == MISSING else "there"

    async def _stage(self, infra_env: str, host: str) -> object:
        progress: Any = await self._host_field(infra_env, host, "progress") or {}
        return (progress.get("current_stage", ""), progress.get("progress_info") or "")

    async def _finalizing_stage(self, cluster: str) -> object:
        progress: Any = await self._field(f"/v2/clusters/{cluster}", "progress") or {}
        return progress.get("finalizing_stage")

    async def _operator(self, cluster: str, name: str) -> object:
        operators = await self._json(f"/v2/clusters/{cluster}/monitored-operators")
        found = next((one for one in operators or () if one["name"] == name), None)
        return MISSING if found is None else (found["status"], found["status_info"])

    async def _manifest(self, cluster: str, folder: str, name: str) -> object:
        path = f"/v2/clusters/{cluster}/manifests/files"
        content = await self._document(path, folder=folder, file_name=name)
        return MISSING if content is None else base64.b64encode(content).decode()

    async def _kubeconfig(self, cluster: str) -> object:
        path = f"/v2/clusters/{cluster}/downloads/credentials"
        return await self._document(path, file_name="kubeconfig")

    async def _event(self, cluster: str, message: str) -> object:
        events = await self._json("/v2/events", cluster_id=cluster)
        return "told" if any(message in event["message"] for event in events or ()) else MISSING

    async def _logs(self, cluster: str, kind: str, host: str) -> object:
        query = {"logs_type": kind, **({"host_id": host} if host else {})}
        content = await self._document(f"/v2/clusters/{cluster}/logs", **query)
        return MISSING if content is None else content


def _fits(kind: str, told: object, shown: object) -> bool:
    if told == MISSING:
        return shown in (MISSING, None, "")
    match kind:
        case "installation":
            return shown not in BEFORE_INSTALLATION
        case "completion":
            return shown in ("installed", "finalizing")
        case "ingress":
            return shown is not None
        case "inventory":
            return isinstance(shown, str) and isinstance(told, str) and _same_machine(told, shown)
        case "logs-state":
            # The service moves on by itself when the archive arrives.
            return str(shown) in LOGS_ORDER and LOGS_ORDER.index(str(shown)) >= LOGS_ORDER.index(str(told))
        case "cluster-field" | "host-field" | "infra-env-field":
            return _within(told, shown)
        case _:
            return told == shown


def _same_machine(told: str, shown: str) -> bool:
    """The service adds what it found out about disks."""
    sent, stored = (msgspec.json.decode(text) for text in (told, shown))
    alike = all(stored.get(name) == value for name, value in sent.items() if name != "disks" and value)
    return alike and [disk["name"] for disk in sent["disks"]] == [disk["name"] for disk in stored["disks"]]


def _within(told: Any, shown: Any) -> bool:
    """Answers hold more than what was sent: ids beside addresses, for example."""
    if isinstance(told, dict) and isinstance(shown, dict):
        return all(_within(value, shown.get(name)) for name, value in told.items())
    if isinstance(told, list) and isinstance(shown, list):
        return len(told) == len(shown) and all(_within(one, other) for one, other in zip(told, shown, strict=True))
    return told == shown


def _short(value: object) -> str:
    return repr(value)[:120]
