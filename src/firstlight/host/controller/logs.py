"""The controller's logs for the service: its own every five minutes, and at the end what the cluster says of itself."""

import asyncio
import io
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from firstlight.core import wire
from firstlight.core.wire.words import LogsState
from firstlight.host.calling import Refused
from firstlight.host.controller.gathering import gather
from firstlight.host.controller.must_gather import must_gather
from firstlight.host.controller.repeating import TROUBLE
from firstlight.host.controller.router_probe import probe, targets
from firstlight.host.controller.site import Site
from firstlight.host.fetching import fetcher
from firstlight.host.programs import Programs
from firstlight.host.root import Root

EVERY_SECONDS: Final = 300.0
OWN_LOG: Final = "assisted-installer-controller.logs"
PROBE: Final = "router.txt"
EVERY_LOOKS: Final = 15
LAST_LOOKS: Final = 210
"""So often the last ones are brought to a service that is away: for a bit more than an hour."""


async def send_logs_for_ever(site: Site) -> None:
    while True:
        await asyncio.sleep(min(EVERY_SECONDS, EVERY_LOOKS * site.settings.look_seconds))
        await send(site, {OWN_LOG: site.log.text()})


async def send_last_logs(site: Site, *, failed: bool, root: Root, programs: Programs) -> None:
    """What there is at the end; the service hears when it begins and when it is over."""
    await _tell(site, "requested")
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, bytes | Path] = {}
        if failed:
            # First what is certain: gathering may take longer than we live.
            await send(site, {OWN_LOG: site.log.text()})
            files |= await gather(site, root=root)
            if site.is_single_node:
                files[PROBE] = await _probe(site, root)
            files |= await must_gather(site, programs, folder=Path(folder))
        for _ in range(LAST_LOOKS):
            # Our own log once more, which tells by now how the gathering went.
            if await send(site, {OWN_LOG: site.log.text(), **files}):
                break
            await asyncio.sleep(site.settings.look_seconds)
    await _tell(site, "completed")


async def _probe(site: Site, root: Root) -> bytes:
    domain = site.cluster.domain if site.cluster is not None else ""
    fetch = fetcher(root=root, environment={})
    return (await probe(fetch, targets(site.nodes.items.values(), domain=domain))).encode()


async def send(site: Site, files: Mapping[str, bytes | Path]) -> bool:
    """Whether that is settled: the service has them, or does not want them."""
    try:
        with tempfile.NamedTemporaryFile(suffix=".tar.gz") as file:
            await asyncio.to_thread(pack, files, Path(file.name))
            await site.service.upload_logs(Path(file.name))
    except (*TROUBLE, OSError) as trouble:
        site.log.once("logs", f"The logs are not taken: {trouble}.")
        return isinstance(trouble, Refused) and trouble.is_final
    return True


def pack(files: Mapping[str, bytes | Path], into: Path) -> None:
    with tarfile.open(into, mode="w:gz") as archive:
        for name, content in files.items():
            if isinstance(content, Path):
                archive.add(content, arcname=name)
                continue
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), int(time.time()), 0o644
            archive.addfile(entry, io.BytesIO(content))


async def _tell(site: Site, state: LogsState) -> None:
    try:
        await site.service.tell_logs_state(wire.LogsProgressParams(logs_state=state))
    except TROUBLE as trouble:
        site.log.once("logs-state", f"The state of the logs is not taken: {trouble}.")
