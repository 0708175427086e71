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
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.controller.repeating import TROUBLE
from firstlight.host.controller.site import CERTIFICATES, CONFIG, NODES, Site
from firstlight.host.programs import Programs

EVERY_SECONDS: Final = 300.0
OWN_LOG: Final = "assisted-installer-controller.logs"
GATHERED: Final = {
    "cluster-operators.json": f"{CONFIG}/clusteroperators",
    "cluster-versions.json": f"{CONFIG}/clusterversions",
    "nodes.json": NODES,
    "certificate-requests.json": CERTIFICATES,
    "events.json": "/api/v1/events",
}
MUST_GATHER_SECONDS: Final = 1800.0
ATTEMPTS: Final = 5


async def send_logs_for_ever(site: Site) -> None:
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        await send(site, {OWN_LOG: site.log.text()})


async def send_last_logs(site: Site, *, failed: bool, programs: Programs) -> None:
    """What there is at the end; the service hears when it begins and when it is over."""
    await _tell(site, "requested")
    files = {OWN_LOG: site.log.text()}
    if failed:
        # First what is certain: gathering may take longer than we live.
        await send(site, files)
        files |= await gather(site)
        if site.settings.must_gather_image:
            files |= await must_gather(site, programs)
    for _ in range(ATTEMPTS):
        if await send(site, files):
            break
        await asyncio.sleep(site.settings.look_seconds)
    await _tell(site, "completed")


async def gather(site: Site) -> dict[str, bytes]:
    """Our own small gather: what the API server shows to the controller's account."""
    found: dict[str, bytes] = {}
    for name, path in GATHERED.items():
        try:
            found[f"cluster/{name}"] = await site.kube.ask("GET", path)
        except (Refused, Unreachable) as trouble:
            found[f"cluster/{name}.missing"] = f"{trouble}\n".encode()
    return found


async def must_gather(site: Site, programs: Programs) -> dict[str, bytes]:
    """The cluster's own tool, where the image of this controller carries `oc`."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = await programs.run(
            *("oc", "adm", "must-gather", f"--dest-dir={folder}", f"--image={site.settings.must_gather_image}"),
            limit=MUST_GATHER_SECONDS,
        )
        if outcome.exit_code:
            site.log.warning("The cluster's own gathering failed.", reason=outcome.errors.decode("utf-8", "replace"))
            return {}
        return {"must-gather.tar.gz": await asyncio.to_thread(_packed_folder, Path(folder))}


async def send(site: Site, files: Mapping[str, bytes]) -> bool:
    with tempfile.NamedTemporaryFile(suffix=".tar.gz") as file:
        file.write(await asyncio.to_thread(packed, files))
        file.flush()
        try:
            await site.service.upload_logs(Path(file.name))
        except TROUBLE as trouble:
            site.log.once("logs", f"The logs are not taken: {trouble}.")
            return False
    return True


def packed(files: Mapping[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), int(time.time()), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return whole.getvalue()


def _packed_folder(folder: Path) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        archive.add(folder, arcname="must-gather")
    return whole.getvalue()


async def _tell(site: Site, state: LogsState) -> None:
    try:
        await site.service.tell_logs_state(wire.LogsProgressParams(logs_state=state))
    except TROUBLE as trouble:
        site.log.once("logs-state", f"The state of the logs is not taken: {trouble}.")
