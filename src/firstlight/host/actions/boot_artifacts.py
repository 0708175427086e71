"""`download-boot-artifacts`: put the discovery system beside the installed one, as the next thing to boot.

Used by a node that goes back to the pool. The entry is written last: a boot loader never sees half of it.
"""

import asyncio
import os
import platform
import shutil
from pathlib import Path
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import DownloadBootArtifactsRequest
from firstlight.host.actions.action import Action, Done, Site, Unfetched, failed, first_document
from firstlight.host.actions.downloading import download

ENTRY: Final = "boot/loader/entries/00-assisted-discovery.conf"
KERNEL: Final = "boot/discovery/vmlinuz"
INITRD: Final = "boot/discovery/initrd"
_DOWNLOADS: Final = "tmp/firstlight-boot"
_SPARE_BYTES: Final = 2**20
_PROGRAM_SECONDS: Final = 300.0


_WANTED: Final = Reader(DownloadBootArtifactsRequest)


def loader_entry(rootfs_url: str, *, architecture: str) -> str:
    """The boot loader's entry, with a version that sorts before every installed system's."""
    options = [
        "random.trust_cpu=on",
        "ignition.firstboot",
        "ignition.platform.id=metal",
        f"'coreos.live.rootfs_url={rootfs_url}'",
        *(("ai.ip_cfg_override=1",) if architecture == "s390x" else ()),
    ]
    lines = (
        "title Assisted Installer Discovery",
        "version 999",
        f"options {' '.join(options)}",
        "linux /discovery/vmlinuz",
        "initrd /discovery/initrd",
    )
    return "".join(f"{line}\n" for line in lines)


async def fetch_artifacts(arguments: tuple[str, ...], site: Site) -> Done:
    wanted = first_document(arguments, _WANTED)
    host = _mounted(wanted.host_fs_mount_dir)
    if any(character in wanted.rootfs_url for character in "\n\r'\" "):
        raise Invalid("the URL of the root file system has characters that a boot loader would stumble over.")
    if all((host / name).exists() for name in (KERNEL, INITRD, ENTRY)):
        return Done(output="The boot artifacts are already in place.")
    try:
        return await _placed(wanted, host, site)
    except Unfetched as reason:
        return failed(f"The boot artifacts could not be downloaded. {reason}")
    except OSError as reason:
        return failed(f"The boot artifacts could not be written: {reason}.")
    finally:
        await asyncio.to_thread(shutil.rmtree, host / _DOWNLOADS, ignore_errors=True)


async def _placed(wanted: DownloadBootArtifactsRequest, host: Path, site: Site) -> Done:
    # Where /boot is no mount of its own there is nothing to remount; whether it can be written to shows next.
    await site.programs.run("mount", "-o", "remount,rw", str(host / "boot"), limit=_PROGRAM_SECONDS)
    for folder in (host / KERNEL, host / ENTRY, host / _DOWNLOADS / "any"):
        folder.parent.mkdir(parents=True, exist_ok=True)
    authorities = _authorities(site)
    files = ((wanted.kernel_url, host / KERNEL), (wanted.initrd_url, host / INITRD))
    needed = _SPARE_BYTES
    for url, target in files:
        needed += await download(
            url,
            host / _DOWNLOADS / target.name,
            fetch=site.fetch,
            authorities=authorities,
            insecure=site.insecure,
        )
    if _available(host / "boot") < needed:
        await site.host.run("rpm-ostree", "cleanup", "--os=rhcos", "-r", limit=_PROGRAM_SECONDS)
    available = _available(host / "boot")
    if available < needed:
        return failed(f"/boot has {available} bytes left, and {needed} are needed. Make room there.")
    for _, target in files:
        await asyncio.to_thread(_copied, host / _DOWNLOADS / target.name, target)
    entry = loader_entry(wanted.rootfs_url, architecture=platform.machine())
    await asyncio.to_thread(_written, host / ENTRY, entry)
    return Done(output="The boot artifacts were downloaded and put in place.")


def _mounted(text: str) -> Path:
    path = Path(text)
    if not path.is_absolute() or ".." in path.parts or not path.is_dir():
        raise Invalid(f"{text!r} is not a folder in which the host's file system is mounted.")
    return path


def _authorities(site: Site) -> str | None:
    try:
        return None if site.ca_certificate is None else site.ca_certificate.read_text()
    except (OSError, UnicodeError) as reason:
        raise Unfetched(f"The CA certificate {site.ca_certificate} cannot be read.") from reason


def _available(folder: Path) -> int:
    figures = os.statvfs(folder)
    return figures.f_bavail * figures.f_frsize


def _copied(source: Path, target: Path) -> None:
    part = target.with_name(f"{target.name}.part")
    with source.open("rb") as whole, part.open("wb") as copy:
        shutil.copyfileobj(whole, copy, 2**20)
        copy.flush()
        os.fsync(copy.fileno())
    _in_place(part, target)


def _written(target: Path, text: str) -> None:
    part = target.with_name(f"{target.name}.part")
    with part.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    _in_place(part, target)


def _in_place(part: Path, target: Path) -> None:
    """Rename, and make the name durable too: the machine is about to restart."""
    part.replace(target)
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


BOOT_ARTIFACTS: Final = Action(
    step_type="download-boot-artifacts", perform=fetch_artifacts, limit_seconds=7200.0, exclusive=True
)
