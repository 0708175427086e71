"""The cluster's own gathering tool, where the image of this controller carries `oc`."""

import asyncio
import os
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from firstlight.host.controller.kube.access import Access, kubeconfig_text
from firstlight.host.controller.repeating import TROUBLE
from firstlight.host.controller.site import Site
from firstlight.host.programs import NOT_STARTED, Programs

SECONDS: Final = 1800.0
FILE: Final = "must-gather.tar.gz"
CLUSTER: Final = "ocp"


def images(setting: str, *, failed: Iterable[str]) -> tuple[str, ...]:
    """Which images gather: the one named, or of several by operator the cluster's and those of failed operators.

    None means that the release brings its own.
    """
    try:
        listed = msgspec.json.decode(setting or "{}", type=dict[str, str])
    except msgspec.MsgspecError:
        return (setting,)
    wanted = (CLUSTER, *sorted(set(failed)))
    return tuple(dict.fromkeys(listed[name] for name in wanted if listed.get(name)))


async def must_gather(site: Site, programs: Programs, *, folder: Path) -> dict[str, Path]:
    """Its result as one file in `folder`; nothing, with the reason in the log, where it cannot run."""
    try:
        access = site.kept_admin or await site.admin_access()
        failed = [one.name for one in await site.service.operators() if one.status == "failed"]
    except TROUBLE as trouble:
        site.log.warning(f"The cluster's own gathering needs what the service keeps: {trouble}.")
        return {}
    kubeconfig, result = folder / "kubeconfig", folder / "must-gather"
    _write_private(kubeconfig, access)
    result.mkdir()
    chosen = images(site.settings.must_gather_image, failed=failed)
    outcome = await programs.run(
        *("oc", f"--kubeconfig={kubeconfig}", "adm", "must-gather", f"--dest-dir={result}"),
        *(f"--image={image}" for image in chosen),
        limit=SECONDS,
    )
    # What a failed one left behind is still worth having.
    found = any(result.iterdir())
    if outcome.exit_code == NOT_STARTED and not found:
        site.log.info("There is no oc here, so the cluster's own gathering is left out.", reason=outcome.complaint)
    elif not outcome.succeeded:
        site.log.warning("The cluster's own gathering failed.", reason=outcome.complaint[-1000:])
    if not found:
        return {}
    await asyncio.to_thread(_pack, result, folder / FILE)
    return {FILE: folder / FILE}


def _write_private(path: Path, access: Access) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(kubeconfig_text(access))


def _pack(folder: Path, into: Path) -> None:
    with tarfile.open(into, mode="w:gz") as archive:
        archive.add(folder, arcname=folder.name)
