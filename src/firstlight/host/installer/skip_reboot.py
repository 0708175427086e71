"""Deploying the cluster's own image before the first boot, so that the node need not reboot into it later.

Nothing here ends the installation: without it the node reboots once more.
"""

import asyncio
import gzip
import zlib
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.data_url import from_data_url
from firstlight.core.wire.words import HostStage
from firstlight.host.actions.action import Unfetched
from firstlight.host.fetching import fetcher
from firstlight.host.installer.devices import Device
from firstlight.host.installer.pace import words
from firstlight.host.installer.run import Run
from firstlight.host.installer.written import written

ENCAPSULATED: Final = "/etc/ignition-machine-config-encapsulated.json"
ACCEPT: Final = "application/vnd.coreos.ignition+json; version=3.4.0"
WAIT_SECONDS: Final = 1200.0
FETCH_SECONDS: Final = 120.0
DEPLOY_SECONDS: Final = 1500.0
"""Less than the service grants a stage without a word."""
LARGEST: Final = 16 * 2**20
ROOT_PARTITION, BOOT_PARTITION = 4, 3
MOUNT: Final = "/mnt"
OK: Final = 200
_BROKEN: Final = (Invalid, msgspec.MsgspecError, OSError, EOFError, zlib.error, ValueError)
"""What reading a document ends with that is not what it should be."""


class MachineConfigSpec(Struct, frozen=True, kw_only=True):
    image: str = msgspec.field(default="", name="osImageURL")
    kernel_arguments: tuple[str, ...] | None = msgspec.field(default=None, name="kernelArguments")


class _MachineConfig(Struct, frozen=True, kw_only=True):
    spec: MachineConfigSpec


class _Contents(Struct, frozen=True, kw_only=True):
    source: str = ""
    compression: str = ""


class _File(Struct, frozen=True, kw_only=True):
    path: str
    contents: _Contents | None = None


class _Storage(Struct, frozen=True, kw_only=True):
    files: tuple[_File, ...] = ()


class _Rendered(Struct, frozen=True, kw_only=True):
    """Only what is needed of a config whose version may be newer than ours."""

    storage: _Storage = _Storage()


class Unusable(Exception):
    """The step is left out; the text says why."""


async def skip_mco_reboot(run: Run) -> None:
    settings = run.settings
    if not settings.skip_mco_reboot or settings.coreos_image or settings.dry_run:
        return
    try:
        wanted = await _wanted(run)
        await _deploy(run, wanted)
    except Unusable as reason:
        run.log.warning("The node will reboot once more into the cluster's image.", reason=reason)


async def _wanted(run: Run) -> MachineConfigSpec:
    source, content, authority = _pointer(run)
    if content is not None:
        return machine_config_in(content)
    return await _fetched(run, source, authority=authority)


def _pointer(run: Run) -> tuple[str, bytes | None, str | None]:
    """Where the Ignition of this host leads: a server and its authority in PEM, or right to a document."""
    try:
        pointer = ignition.decode(run.root.bytes(run.ignition) or b"").ignition
        source = next((one.source for one in pointer.config.merge if one.source), "")
        authority = next((one.source for one in pointer.security.tls.certificate_authorities if one.source), "")
        if source.startswith("data:"):
            return source, gzip.decompress(from_data_url(source)), None
        scheme = urlsplit(source).scheme
        pem = from_data_url(authority).decode("ascii", "replace") if authority.startswith("data:") else None
    except _BROKEN as reason:
        raise Unusable(f"the Ignition of this host cannot be read: {reason}") from reason
    if scheme not in ("http", "https"):
        raise Unusable("the Ignition of this host points to no machine-config server")
    if scheme == "https" and not authority:
        raise Unusable("the machine-config server has no certificate authority")
    return source, None, pem


async def _fetched(run: Run, source: str, *, authority: str | None) -> MachineConfigSpec:
    """What the machine-config server says, once it does."""
    fetch = fetcher(root=run.root, environment=run.settings.proxies)
    # A user agent of Ignition's own would make the bootstrap believe that this host has started from its disk.
    headers = {"Accept": ACCEPT, "User-Agent": "firstlight-installer"}
    loop = asyncio.get_running_loop()
    end = loop.time() + run.pace.seconds(WAIT_SECONDS)
    while True:
        try:
            async with (
                asyncio.timeout(FETCH_SECONDS),
                fetch(source, headers=headers, authorities=authority, only_these=True) as answer,
            ):
                if answer.status == OK:
                    return machine_config_in(await answer.body(most=LARGEST))
                trouble = f"the machine-config server answers {answer.status}"
        except Unfetched as reason:
            trouble = str(reason)
        except TimeoutError:
            trouble = f"the machine-config server did not answer within {FETCH_SECONDS:g} seconds"
        if loop.time() >= end:
            raise Unusable(f"no machine config came within {words(run.pace.seconds(WAIT_SECONDS))}: {trouble}")
        run.tell(_stage(run), f"waiting for the machine-config server: {trouble}")
        await run.pace.rest(5.0)


def machine_config_in(document: bytes) -> MachineConfigSpec:
    """Image and kernel arguments out of a rendered config. Raises `Unusable`."""
    try:
        rendered = msgspec.json.decode(document, type=_Rendered)
        file = next(one for one in rendered.storage.files if one.path == ENCAPSULATED)
        assert file.contents is not None
        content = from_data_url(file.contents.source)
        if file.contents.compression == "gzip":
            content = gzip.decompress(content)
        spec = msgspec.json.decode(content, type=_MachineConfig).spec
    except (StopIteration, AssertionError, *_BROKEN) as reason:
        raise Unusable(f"the machine-config server's answer has no machine config ({reason})") from reason
    if not spec.image:
        raise Unusable("the machine config names no image")
    return spec


async def _deploy(run: Run, wanted: MachineConfigSpec) -> None:
    system = await written(run, ROOT_PARTITION, BOOT_PARTITION)
    if system is None:
        raise Unusable(f"{run.device} has not the partitions of the system that was written")
    numbered = system.partitions
    free = free_percent(system.disk, numbered[ROOT_PARTITION])
    kargs = ("ignition.platform.id=metal", "$ignition_firstboot", *(wanted.kernel_arguments or ()))
    enforcing = (await run.attempt("getenforce")).text.strip() == "Enforcing"
    try:
        await _step(run, "growpart", f"--free-percent={free}", run.device, str(ROOT_PARTITION), tries=1)
        await _step(run, "mount", numbered[ROOT_PARTITION].path, MOUNT)
        await _step(run, "mount", numbered[BOOT_PARTITION].path, f"{MOUNT}/boot")
        await _step(run, "xfs_growfs", MOUNT)
        if enforcing:
            await _step(run, "setenforce", "0")
        run.tell(_stage(run), "deploying the cluster's image")
        await _step(
            run,
            *("ostree", "container", "image", "deploy", "--sysroot", MOUNT, "--stateroot", "rhcos"),
            *("--authfile", "/root/.docker/config.json", "--imgref", f"ostree-unverified-registry:{wanted.image}"),
            *(word for karg in kargs for word in ("--karg", karg)),
            limit=DEPLOY_SECONDS,
        )
        await _step(run, "fsfreeze", "--freeze", f"{MOUNT}/boot", tries=1)
        await run.attempt("fsfreeze", "--unfreeze", f"{MOUNT}/boot")
    finally:
        # Whatever happened, the target is left unmounted and the live system as strict as it was.
        await run.attempt("umount", f"{MOUNT}/boot")
        await run.attempt("umount", MOUNT)
        if enforcing:
            await run.attempt("setenforce", "1")


def _stage(run: Run) -> HostStage:
    """This has no stage of its own."""
    return run.reporter.last.stage if run.reporter.last is not None else "Writing image to disk"


def free_percent(disk: Device, partition: Device) -> int:
    """What part of the disk stays free when the partition doubles."""
    if not disk.sectors:
        return 0
    return max(0, min(99, 100 - 200 * partition.sectors // disk.sectors))


async def _step(run: Run, *command: str, limit: float = 120.0, tries: int = 3) -> None:
    outcome = await run.attempt(*command, limit=limit, tries=tries)
    if not outcome.succeeded:
        raise Unusable(f"{command[0]} failed: {outcome.complaint}")
