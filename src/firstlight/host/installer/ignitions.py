"""Ignition on its way to the disk: downloaded for this host, and for a single node merged into what bootkube made."""

from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.ignition_merge import merge
from firstlight.core.install.ignition_models import References
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.installer.run import InstallationFailed, Run

SINGLE_NODE: Final = "/opt/openshift/master.ign"
PRIVATE: Final = 0o600


async def fetch_ignition(run: Run) -> None:
    """The host's own config, to where coreos-installer will take it from."""
    run.write(run.ignition, await _host_ignition(run), mode=PRIVATE)


async def _host_ignition(run: Run) -> bytes:
    host_id = run.settings.host_id
    if host_id is None:
        raise InstallationFailed("The Ignition of this host cannot be asked for: the flag -host-id is missing.")
    try:
        return await run.service.host_ignition(host_id, limit=run.pace.limit("Installing"))
    except (Refused, Unreachable) as reason:
        raise InstallationFailed(f"The Ignition of this host could not be downloaded: {reason}.") from reason


async def merge_single_node(run: Run) -> None:
    """What bootkube rendered for the only master, with what the service knows of this host."""
    rendered = run.root.bytes(SINGLE_NODE)
    if rendered is None:
        raise InstallationFailed(f"bootkube has ended, but there is no {SINGLE_NODE}.")
    run.write(run.ignition, single_node_config(rendered, host=await _host_ignition(run)), mode=PRIVATE)


def single_node_config(rendered: bytes, *, host: bytes) -> bytes:
    """The merged document. The host's own has no references left: everything is here already.

    Raises `InstallationFailed` if either is no valid Ignition.
    """
    try:
        child = ignition.decode(host)
        section = msgspec.structs.replace(child.ignition, config=References(), version="3.2.0")
        parent = ignition.decode(rendered)
        return ignition.encode(merge(parent, msgspec.structs.replace(child, ignition=section)))
    except Invalid as reason:
        raise InstallationFailed(f"The Ignition of this single node cannot be made: {reason}") from reason
