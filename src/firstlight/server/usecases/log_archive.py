"""Everything known about one installation as a tar that is written while it is sent; nothing is gathered first."""

import re
import tarfile
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, cast

import msgspec
from msgspec import Struct

from firstlight.core.errors import NotFound
from firstlight.core.events.telling import without_logins
from firstlight.core.install.documents import Document, mapping
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import hostname_of
from firstlight.core.wire.views import view_cluster
from firstlight.core.wire.views.events import view_event
from firstlight.server.ports.event_pages import EventQuery
from firstlight.server.usecases.cluster_views import shown
from firstlight.server.usecases.object_names import CONTROLLER, LOGS, MANIFESTS, logs_of_cluster
from firstlight.server.usecases.world import World

BLOCK: Final = tarfile.BLOCKSIZE
END: Final = bytes(2 * BLOCK)
PRIVATE: Final = frozenset(
    {"install_config_overrides", "ignition_config_overrides", "ignition_endpoint", "fencing_credentials", "ui_settings"}
)
"""Fields in which users may have put secrets."""


class Entry(Struct, frozen=True, kw_only=True):
    """One file of the archive."""

    name: str
    size: int
    modified: datetime
    content: bytes | None = None
    key: str = ""
    """Where the content is kept, when it is not given."""


def plain_name(text: str) -> str:
    """A file name that cannot leave its folder, whatever a cluster or host is called."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip(".") or "unnamed"


def host_logs_name(state: ClusterState, origin: str) -> str:
    """What the logs of a host are called; hosts that are gone are known by their id only."""
    name = plain_name(state.cluster.name)
    for member in state.hosts:
        if str(member.host.id) == origin:
            role = "bootstrap" if member.host.bootstrap else member.host.effective_role
            return f"{name}_{role}_{plain_name(hostname_of(member.host, member.reports))}.tar.gz"
    return f"{name}_host_{plain_name(origin)}.tar.gz"


def controller_logs_name(cluster: Cluster) -> str:
    return f"{plain_name(cluster.name)}_{cluster.id}_controller.tar.gz"


async def archive(world: World, state: ClusterState) -> AsyncIterator[bytes]:
    """The tar in pieces."""
    for entry in await _entries(world, state):
        yield _header(entry)
        sent = 0
        async for piece in _content(world, entry):
            # Whatever happens to the file meanwhile, the archive stays readable.
            piece = piece[: entry.size - sent]
            sent += len(piece)
            yield piece
        yield bytes(entry.size - sent + -entry.size % BLOCK)
    yield END


async def _entries(world: World, state: ClusterState) -> list[Entry]:
    now = world.clock.now()
    cluster_id = state.cluster.id
    entries = [
        _given("metadata.json", await _metadata(world, state), now),
        _given("events.json", await _events(world, state), now),
    ]
    for found in await world.blobs.list_under(f"{cluster_id}/{MANIFESTS}"):
        name = f"{MANIFESTS}/{found.key.partition(f'{MANIFESTS}/')[2]}"
        # Lists tell sizes at rest, and manifests are encrypted there.
        with suppress(NotFound):
            manifest = await world.blobs.head(found.key)
            entries.append(Entry(name=name, size=manifest.size, modified=found.modified, key=found.key))
    for found in await world.blobs.list_under(logs_of_cluster(cluster_id)):
        origin = found.key.partition(f"/{LOGS}/")[2].partition("/")[0]
        name = controller_logs_name(state.cluster) if origin == CONTROLLER else host_logs_name(state, origin)
        entries.append(Entry(name=name, size=found.size, modified=found.modified, key=found.key))
    return _distinct(entries)


def _distinct(entries: Sequence[Entry]) -> list[Entry]:
    """Two hosts of the same name must not hide each other."""
    seen: dict[str, int] = {}
    result: list[Entry] = []
    for entry in entries:
        times = seen[entry.name] = seen.get(entry.name, 0) + 1
        result.append(entry if times == 1 else msgspec.structs.replace(entry, name=f"{times}_{entry.name}"))
    return result


def _given(name: str, content: bytes, modified: datetime) -> Entry:
    return Entry(name=name, size=len(content), modified=modified, content=content)


async def _metadata(world: World, state: ClusterState) -> bytes:
    document = msgspec.to_builtins(view_cluster(await shown(world, state)))
    return msgspec.json.format(msgspec.json.encode(without_secrets(document)))


def without_secrets(value: object) -> object:
    """A document as it may be handed to whoever helps."""
    if isinstance(value, dict):
        members: Document = mapping(cast("Document", value))
        return {key: without_secrets(item) for key, item in members.items() if key not in PRIVATE}
    if isinstance(value, list | tuple):
        return [without_secrets(item) for item in cast("list[object]", value)]
    return without_logins(value) if isinstance(value, str) else value


async def _events(world: World, state: ClusterState) -> bytes:
    page = await world.store.events(EventQuery(cluster_id=state.cluster.id))
    return msgspec.json.format(msgspec.json.encode([view_event(event) for event in page.events]))


def _header(entry: Entry) -> bytes:
    info = tarfile.TarInfo(entry.name)
    info.size = entry.size
    info.mtime = int(entry.modified.timestamp())
    info.mode = 0o644
    return info.tobuf(tarfile.PAX_FORMAT)


async def _content(world: World, entry: Entry) -> AsyncIterator[bytes]:
    if entry.content is not None:
        yield entry.content
        return
    async for piece in world.blobs.stream(entry.key):
        yield piece
