"""Real log archives of simulated programs: tar.gz files with the entries the log gatherers of real ones have."""

import gzip
import io
import tarfile
from collections.abc import Mapping, Sequence
from uuid import UUID

from firstlight.simulate.machines import Machine

_EPOCH = 1_700_000_000


def host_logs(machine: Machine, lines: Sequence[str], *, bootstrap: bool = False) -> bytes:
    folder = f"logs_host_{machine.id}"
    said = "\n".join(lines) + "\n"
    entries = {
        f"{folder}/agent.logs": f"{machine.name} agent: registered and answering\n{said}",
        f"{folder}/installer.logs": f"{machine.name} installer\n{said}",
        f"{folder}/mount.logs": "\n".join(f"/dev/{disk.name} {disk.size_bytes}" for disk in machine.disks) + "\n",
    }
    if bootstrap:
        entries[f"{folder}/bootkube.logs"] = f"{machine.name} bootkube\n{said}"
    return archive(entries)


def controller_logs(cluster_id: UUID, lines: Sequence[str]) -> bytes:
    return archive({"assisted-installer-controller.logs": f"cluster {cluster_id}\n" + "\n".join(lines) + "\n"})


def archive(entries: Mapping[str, str]) -> bytes:
    """The same entries give the same bytes."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, text in entries.items():
            content = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mtime = _EPOCH
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)
