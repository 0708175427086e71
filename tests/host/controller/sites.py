"""A controller's site whose API server and service are one scripted server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from firstlight.host.controller.kube.access import Access
from firstlight.host.controller.kube.client import Kube
from firstlight.host.controller.log import Log
from firstlight.host.controller.service import Service
from firstlight.host.controller.settings import ControllerSettings
from firstlight.host.controller.site import Site
from firstlight.host.root import Root
from tests.host.agent.scripted import Script, Scripted, scripted

CLUSTER = UUID("11111111-2222-3333-4444-555555555555")


@asynccontextmanager
async def site_at(script: Script, folder: Path, **settings: Any) -> AsyncIterator[tuple[Site, Scripted]]:
    async with scripted(script) as server:
        chosen = ControllerSettings(cluster_id=CLUSTER, service_url=server.url, look_seconds=0.05, token="hush")
        chosen = msgspec.structs.replace(chosen, **settings)
        root = Root(folder)
        async with Kube(Access(server=server.url)) as kube, Service(chosen, root=root, proxies={}) as service:
            yield Site(chosen, log=Log(quiet=True, secrets=("hush",)), kube=kube, service=service), server


def said(site: Site) -> str:
    return site.log.text().decode()
