"""A stand-in for the API: the three answers the image service asks for, and the stream that tells of changes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from aiohttp import web

ID = "5b1e4a3c-0000-4000-8000-0000000000aa"
OTHER = "5b1e4a3c-0000-4000-8000-0000000000bb"
PREFIX = "/api/assisted-install/v2/infra-envs/{id}"


@dataclass
class Environment:
    ignition: bytes = b'{"ignition": {"version": "3.2.0"}}'
    ramdisk: bytes = b""
    kernel_arguments: list[dict[str, str]] = field(default_factory=list)
    updated_at: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass
class StandIn:
    url: str = ""
    environments: dict[str, Environment] = field(default_factory=lambda: {ID: Environment(), OTHER: Environment()})
    calls: list[str] = field(default_factory=list)
    credentials: list[tuple[str, str, str]] = field(default_factory=list)
    refuse_with: int = 0
    streams: bool = True
    listeners: set[asyncio.Queue[bytes]] = field(default_factory=set)

    def change(self, id: str = ID, **changes: Any) -> None:
        """Change an environment and say so."""
        environment = self.environments[id]
        for name, value in changes.items():
            setattr(environment, name, value)
        environment.updated_at += timedelta(seconds=1)
        self.tell({"infra_env_id": id, "name": "image_info_updated"})

    def tell(self, event: dict[str, str]) -> None:
        for queue in self.listeners:
            queue.put_nowait(b"id: 7\nevent: x\ndata: " + json.dumps(event).encode() + b"\n\n")

    def hang_up(self) -> None:
        """End every stream, as a restart would."""
        for queue in self.listeners:
            queue.put_nowait(b"")

    def _environment(self, request: web.Request, what: str) -> Environment:
        self.calls.append(what)
        headers = request.headers
        self.credentials.append(
            (request.query.get("api_key", ""), headers.get("Image-Token", ""), headers.get("Authorization", ""))
        )
        if self.refuse_with:
            body = json.dumps({"code": str(self.refuse_with), "reason": "Because."})
            raise _refusal(self.refuse_with, body)
        found = self.environments.get(request.match_info["id"])
        if found is None:
            raise _refusal(404, json.dumps({"code": "404", "reason": "There is no such infra-env."}))
        return found

    async def infra_env(self, request: web.Request) -> web.Response:
        environment = self._environment(request, "infra-env")
        arguments = json.dumps(environment.kernel_arguments) if environment.kernel_arguments else None
        stamp = environment.updated_at.isoformat().replace("+00:00", ".123456Z")
        return web.json_response({"id": request.match_info["id"], "updated_at": stamp, "kernel_arguments": arguments})

    async def files(self, request: web.Request) -> web.Response:
        kind = request.query.get("discovery_iso_type", "")
        environment = self._environment(request, f"{request.query['file_name']} {kind}".strip())
        modified = format_datetime(environment.updated_at, usegmt=True)
        return web.Response(body=environment.ignition, headers={"Last-Modified": modified})

    async def minimal_initrd(self, request: web.Request) -> web.Response:
        environment = self._environment(request, "minimal-initrd")
        return web.Response(body=environment.ramdisk) if environment.ramdisk else web.Response(status=204)

    async def events(self, request: web.Request) -> web.StreamResponse:
        if not self.streams:
            raise web.HTTPNotFound
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"retry: 2000\nid: 1\n\n")
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self.listeners.add(queue)
        try:
            while data := await queue.get():
                await response.write(data)
            return response
        except ConnectionError:
            return response
        finally:
            self.listeners.discard(queue)


def _refusal(status: int, body: str) -> web.HTTPException:
    kind = type("Refusal", (web.HTTPException,), {"status_code": status})
    return kind(text=body, content_type="application/json")


@asynccontextmanager
async def running_api() -> AsyncIterator[StandIn]:
    api = StandIn()
    app = web.Application()
    app.router.add_get(PREFIX, api.infra_env)
    app.router.add_get(f"{PREFIX}/downloads/files", api.files)
    app.router.add_get(f"{PREFIX}/downloads/minimal-initrd", api.minimal_initrd)
    app.router.add_get("/api/firstlight/v1/events", api.events)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    api.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield api
    finally:
        await runner.cleanup()
