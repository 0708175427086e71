"""Everything about this machine that helps to understand a failed installation, in one archive, brought to the service.

The layout and the order of work are the original's: people and tools know where to look.
"""

import asyncio
import shutil
import tarfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from firstlight.host.actions.action import Done, LogsRequest
from firstlight.host.agent.logs.saving import save_output
from firstlight.host.agent.logs.uploading import upload_in_pieces
from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.session import ServiceSession
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.forms import file_form

LARGEST_FILE: Final = 100 * 2**20
LARGEST_UPLOAD: Final = 262_144_000
UPLOAD_PAUSES: Final = (2.0, 5.0, 15.0, 30.0, 60.0)
"""Between attempts to send an archive whole, which starts over each time."""
UNWANTED: Final = frozenset({400, 401, 403, 404, 409, 413})
GATHER_SECONDS: Final = 2700.0
PARTIAL_SECONDS: Final = 60.0
NOT_DELIVERED: Final = 255
BLOCK_COLUMNS: Final = (
    "NAME,MAJ:MIN,SIZE,TYPE,FSTYPE,MOUNTPOINT,LABEL,UUID,PARTUUID,MODEL,SERIAL,WWN,ROTA,RO,RM,STATE,TRAN"
)
MOUNTS: Final = (
    ("lsblk", "-o", BLOCK_COLUMNS),
    ("findmnt", "--df"),
    ("ls", "-l", "/dev/disk/by-id"),
    ("ls", "-l", "/dev/disk/by-path"),
    ("pvdisplay", "-v"),
    ("vgdisplay", "-v"),
    ("lvdisplay", "-v"),
)
JOURNAL: Final = ("journalctl", "-D", "/var/log/journal/", "--all", "--no-pager")


class Gathering(Struct, frozen=True, kw_only=True):
    """Where and how to gather."""

    folder: Path
    """The machine's /var/log, as we see it."""
    temporary: Path = Path("/tmp")  # noqa: S108 - where the installer's own script works
    enter: tuple[str, ...] = ()
    """Before every command that is to run on the host."""
    secrets: tuple[str, ...] = ()
    since: str = ""
    clean: bool = True
    piece_bytes: int = 0
    """The service takes archives in pieces of this size; 0: only whole."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Gatherer:
    def __init__(self, session: ServiceSession, request: LogsRequest, *, how: Gathering, log: Log) -> None:
        self._session = session
        self._request = request
        self._how = how
        self._log = log
        self._place = how.folder / f"logs_host_{request.host_id}"
        self._archive = how.folder / "logs.tar.gz"
        self._complaints: list[str] = []

    async def run(self) -> Done:
        """Everything, from the first notice to the last; fails only if the archive could not be delivered."""
        request = self._request
        await self._tell("requested")
        try:
            await asyncio.to_thread(_emptied, self._place)
            await self._collect()
            if request.bootstrap and request.installer_gather:
                await self._gather_cluster()
            await self._report()
            await self._tell("collecting")
            await asyncio.to_thread(pack, self._place, self._archive)
            await self._deliver(self._archive)
        except (OSError, tarfile.TarError) as reason:
            return Done(exit_code=NOT_DELIVERED, error=f"The logs could not be gathered: {reason}")
        except (Refused, Unreachable) as reason:
            return Done(exit_code=NOT_DELIVERED, error=f"The logs could not be delivered: {reason}")
        finally:
            if self._how.clean:
                await asyncio.to_thread(_removed, self._place, self._archive)
        await self._tell("completed")
        return Done()

    # --- collecting ---------------------------------------------------------------------------------------------------

    async def _collect(self) -> None:
        await self._mounts()
        for tag in ("agent", "installer"):
            await self._save(f"{tag}.logs", (*JOURNAL, *self._since, f"TAG={tag}"), seconds=300)
        for unit in ("ironic-agent", *(("bootkube",) if self._request.bootstrap else ())):
            if await self._has_unit(unit):
                await self._save(f"{unit}.logs", (*JOURNAL, *self._since, "-u", unit), seconds=300)
        if self._request.installer_gather:
            await self._save("dmesg.logs", ("dmesg", "-T"), seconds=60)
            await self._coredumps()
            await self._save("journal.logs", (*JOURNAL, *self._since), seconds=900)

    @property
    def _since(self) -> tuple[str, ...]:
        return ("--since", self._how.since) if self._how.since else ()

    async def _mounts(self) -> None:
        parts: list[Path] = []
        for number, command in enumerate(MOUNTS):
            part = self._place / f".mount-{number}"
            await self._save(part.name, command, seconds=60, complain=number < 2)
            parts.append(part)
        await asyncio.to_thread(_joined, parts, self._place / "mount.logs", [" ".join(command) for command in MOUNTS])

    async def _has_unit(self, unit: str) -> bool:
        probe = self._place / f".unit-{unit}"
        trouble = await self._saved(("systemctl", "cat", f"{unit}.service"), probe, seconds=30)
        probe.unlink(missing_ok=True)
        return not trouble

    async def _coredumps(self) -> None:
        listing = self._place / ".coredumps"
        if await self._saved(("coredumpctl", "list", "--no-legend", "--no-pager"), listing, seconds=60):
            return
        for pid, program in coredumps_in(listing.read_text(errors="replace")):
            name = f"coredump_exe_{Path(program).name}_pid_{pid}"
            await self._save(name, ("coredumpctl", "info", pid, "--no-pager"), seconds=120)
        listing.unlink(missing_ok=True)

    async def _gather_cluster(self) -> None:
        """The installer's own collection of everything on the control plane; what there is goes out every minute."""
        stamp = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
        await self._save("ovs-gather.logs", ("/usr/local/bin/ovs-installer-gather.sh",), seconds=300, complain=False)
        command = ("/usr/local/bin/installer-gather.sh", "--id", stamp, *(self._request.master_ips or ()))
        gathering = asyncio.ensure_future(self._save("installer-gather.logs", command, seconds=GATHER_SECONDS))
        try:
            while not gathering.done():
                await asyncio.wait({gathering}, timeout=PARTIAL_SECONDS)
                if not gathering.done():
                    await self._partial(stamp)
        finally:
            gathering.cancel()
            await asyncio.gather(gathering, return_exceptions=True)
        bundle = self._how.folder.parent.parent / "root" / f"log-bundle-{stamp}.tar.gz"
        with suppress(OSError):
            await asyncio.to_thread(shutil.move, bundle, self._place / bundle.name)

    async def _partial(self, stamp: str) -> None:
        artifacts = self._how.temporary / f"artifacts-{stamp}"
        if not artifacts.is_dir():
            return
        bundle = self._place / "partial" / "log-bundle-partial.tar.gz"
        try:
            bundle.parent.mkdir(exist_ok=True)
            await asyncio.to_thread(pack, artifacts, bundle)
            await asyncio.to_thread(pack, self._place, self._archive)
            await self._deliver(self._archive)
        except (OSError, tarfile.TarError, Refused, Unreachable) as reason:
            self._log.warning("What was gathered so far could not be delivered.", reason=reason)

    async def _save(self, name: str, command: tuple[str, ...], *, seconds: float, complain: bool = True) -> None:
        trouble = await self._saved(command, self._place / name, seconds=seconds)
        if trouble and complain:
            self._complaints.append(f"{name}: {trouble}")

    async def _saved(self, command: tuple[str, ...], path: Path, *, seconds: float) -> str:
        how = self._how
        return await save_output((*how.enter, *command), path, seconds=seconds, most=LARGEST_FILE, secrets=how.secrets)

    async def _report(self) -> None:
        if self._complaints:
            (self._place / "report.logs").write_text("\n".join(self._complaints) + "\n")

    # --- delivering ---------------------------------------------------------------------------------------------------

    async def _tell(self, state: str) -> None:
        request = self._request
        try:
            await self._session.logs_state(request.host_id, infra_env_id=request.infra_env_id, state=state)
        except (Refused, Unreachable) as reason:
            self._log.warning("The service was not told how far the logs are.", state=state, reason=reason)

    async def _deliver(self, archive: Path) -> None:
        size = await asyncio.to_thread(lambda: archive.stat().st_size)
        if size > LARGEST_UPLOAD:
            raise OSError(f"the archive has {size} bytes; services take {LARGEST_UPLOAD}")
        request = self._request
        if self._how.piece_bytes and await self._in_pieces(archive):
            return
        query: Mapping[str, str] = {
            "logs_type": "host",
            "infra_env_id": str(request.infra_env_id),
            "host_id": str(request.host_id),
        }
        for pause in (*UPLOAD_PAUSES, None):
            content, headers = file_form(archive, file_name="logs.tar.gz")
            try:
                await self._session.upload(request.cluster_id, query=query, content=content, headers=headers)
                return
            except (Refused, Unreachable) as reason:
                if pause is None or (isinstance(reason, Refused) and reason.status in UNWANTED):
                    raise
                self._log.warning("The upload of the logs is tried again.", reason=reason, seconds=pause)
                await self._how.sleep(pause)

    async def _in_pieces(self, archive: Path) -> bool:
        request, how = self._request, self._how
        try:
            await upload_in_pieces(
                self._session,
                archive,
                infra_env_id=request.infra_env_id,
                host_id=request.host_id,
                piece_bytes=how.piece_bytes,
                sleep=how.sleep,
                log=self._log,
            )
        except Refused as reason:
            # Another service than the one that offered it, or a digest that does not fit: whole it may be taken.
            self._log.warning("The service does not take the logs in pieces.", reason=reason)
            return False
        return True


def coredumps_in(listing: str) -> tuple[tuple[str, str], ...]:
    """Process ids and programs of `coredumpctl list`; lines of another form are passed over."""
    found: list[tuple[str, str]] = []
    for line in listing.splitlines():
        words = line.split()
        program = next((word for word in words if word.startswith("/")), "")
        pid = next((word for word in words[4:6] if word.isdecimal()), "")
        if pid and program:
            found.append((pid, program))
    return tuple(found)


def pack(folder: Path, archive: Path) -> None:
    """Raises OSError and TarError; the archive is only there when it is whole."""
    beside = archive.with_name(archive.name + ".new")
    try:
        with tarfile.open(beside, "w:gz", compresslevel=6) as tar:
            tar.add(folder, arcname=folder.name, filter=_without_hidden)
        beside.rename(archive)
    finally:
        beside.unlink(missing_ok=True)


def _without_hidden(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if Path(entry.name).name.startswith(".") else entry


def _emptied(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _removed(folder: Path, archive: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        archive.unlink()


def _joined(parts: list[Path], whole: Path, titles: list[str]) -> None:
    with whole.open("wb") as file:
        for part, title in zip(parts, titles, strict=True):
            file.write(f"## {title}\n".encode())
            with suppress(OSError), part.open("rb") as read:
                shutil.copyfileobj(read, file)
            part.unlink(missing_ok=True)
