"""Images of environments: base image plus customisation, as a value. Nothing is copied."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.images.cpio import ignition_archive
from firstlight.core.images.iso_writer import NewFile
from firstlight.core.images.minimal_iso import NMSTATE, MinimalIso, minimal_iso
from firstlight.core.images.virtual import FileSlice, Memory, Segment, VirtualFile, whole_file
from firstlight.core.versions.releases import DISCONNECTED_ISO
from firstlight.server.imaging.answers import Image, make_image
from firstlight.server.imaging.base_images import Base
from firstlight.server.imaging.environments import Customisation
from firstlight.server.imaging.files import OpenFile
from firstlight.server.imaging.nmstate import needed, nmstate_archive

FORMAT: Final = "1"
"""Changes whenever the same inputs give other bytes than before: caches must notice."""


def full_image(base: Base, wanted: Customisation, *, infra_env_id: UUID, kind: str) -> Image:
    try:
        regions = (
            base.iso.ignition.filled(ignition_archive(wanted.ignition)),
            *base.iso.kernel_argument_regions(wanted.kernel_arguments),
        )
    except Invalid as error:
        raise Conflict(str(error)) from None
    file = whole_file(base.name, size=base.iso.size).patched(regions)
    etag = tag(base, kind, wanted)
    name = (
        f"agent-ove.{base.image.cpu_architecture}.iso" if kind == DISCONNECTED_ISO else f"{infra_env_id}-discovery.iso"
    )
    return make_image(file, {base.name: base.file}, etag=etag, last_modified=wanted.last_modified, name=name)


class Minimal:
    """The minimal images of one base image, with and without nmstatectl, laid out when first asked for."""

    def __init__(self, base: Base, *, base_url: str, folder: Path) -> None:
        query = urlencode({"arch": base.image.cpu_architecture, "version": base.image.version})
        self._base = base
        self._folder = folder
        self._url = f"{base_url.rstrip('/')}/boot-artifacts/rootfs?{query}"
        self._plain: MinimalIso | None = None
        self._with_nmstate: tuple[MinimalIso, Mapping[str, OpenFile]] | None = None

    def image(self, wanted: Customisation, *, infra_env_id: UUID) -> Image:
        """May block for a while the first time. Conflict when the environment does not fit."""
        layout, files = self._layout(wanted)
        try:
            regions = [
                layout.ignition.filled(ignition_archive(wanted.ignition)),
                *layout.kernel_arguments.with_appended(wanted.kernel_arguments),
            ]
            if len(wanted.ramdisk) > layout.ramdisk.length:
                raise Invalid(
                    f"Static network and proxy need {len(wanted.ramdisk)} bytes, but a minimal image has room for"
                    f" {layout.ramdisk.length}. Use the full image."
                )
            if wanted.ramdisk:
                regions.append(layout.ramdisk.filled(wanted.ramdisk))
            file = layout.file.patched(regions)
        except Invalid as error:
            raise Conflict(str(error)) from None
        etag = tag(self._base, f"minimal {self._url} {len(files)}", wanted)
        name = f"{infra_env_id}-discovery.iso"
        return make_image(file, files, etag=etag, last_modified=wanted.last_modified, name=name)

    def _layout(self, wanted: Customisation) -> tuple[MinimalIso, Mapping[str, OpenFile]]:
        base = self._base
        files = {base.name: base.file}
        try:
            if not needed(wanted.ramdisk):
                self._plain = self._plain or minimal_iso(base.read, base.iso, name=base.name, rootfs_url=self._url)
                return self._plain, files
            if self._with_nmstate is None:
                extra, more = nmstate_piece(base, self._folder)
                new = NewFile(path=NMSTATE, length=extra.length, content=(extra,))
                layout = minimal_iso(base.read, base.iso, name=base.name, rootfs_url=self._url, nmstate=new)
                self._with_nmstate = layout, {**files, **more}
            return self._with_nmstate
        except Invalid as error:
            raise NotFound(str(error)) from None


def pxe_initrd(base: Base, wanted: Customisation, *, infra_env_id: UUID, folder: Path) -> Image:
    """The base image's initrd followed by what is the environment's own. May block for a while the first time."""
    initrd = base.iso.initrd
    segments: list[Segment] = [base.piece(initrd.offset, initrd.length), Memory(ignition_archive(wanted.ignition))]
    files = {base.name: base.file}
    if wanted.ramdisk:
        segments.append(Memory(wanted.ramdisk))
        if needed(wanted.ramdisk):
            piece, more = nmstate_piece(base, folder)
            # The kernel wants archives to begin at a multiple of four.
            segments += [Memory(bytes(-sum(one.length for one in segments) % 4)), piece]
            files |= more
    name = f"{infra_env_id}-initrd.img"
    etag = tag(base, f"initrd {len(files)}", wanted)
    return make_image(VirtualFile(tuple(segments)), files, etag=etag, last_modified=wanted.last_modified, name=name)


def initrd_address_and_size(base: Base, initrd: Image, *, infra_env_id: UUID) -> Image:
    place = base.iso.address_and_size
    if place is None or place.length < 8:
        raise NotFound(f"The base image {base.image.version} does not say where in memory its initrd goes.")
    content = base.read(place.offset, 8) + initrd.size.to_bytes(8, "big")
    name = f"{infra_env_id}-initrd.addrsize"
    etag = hashlib.sha256(content + initrd.etag.encode()).hexdigest()[:32]
    file = VirtualFile((Memory(content),))
    return make_image(file, {}, etag=etag, last_modified=initrd.last_modified, name=name)


def boot_artifact(base: Base, what: str) -> Image:
    extent, name = {
        "rootfs": (base.iso.rootfs, "rootfs.img"),
        "kernel": (base.iso.kernel, "vmlinuz"),
        "ins-file": (base.iso.ins_file, "generic.ins"),
    }[what]
    if extent is None:
        raise NotFound(f"The base image {base.image.version} for {base.image.cpu_architecture} has no {what}.")
    etag = hashlib.sha256(f"{FORMAT} {what} {base.identity}".encode()).hexdigest()[:32]
    file = VirtualFile((base.piece(extent.offset, extent.length),))
    return make_image(file, {base.name: base.file}, etag=etag, last_modified=base.modified, name=name)


def nmstate_piece(base: Base, folder: Path) -> tuple[FileSlice, Mapping[str, OpenFile]]:
    path = nmstate_archive(base, folder)
    file = OpenFile(path)
    return FileSlice(str(path), 0, file.status().st_size), {str(path): file}


def tag(base: Base, kind: str, wanted: Customisation) -> str:
    """The same for the same bytes, on every replica."""
    digest = hashlib.sha256(f"{FORMAT} {kind} {base.identity}\n".encode())
    for part in (wanted.ignition, wanted.ramdisk, *(one.encode() for one in wanted.kernel_arguments)):
        digest.update(b"%d " % len(part) + part)
    return digest.hexdigest()[:32]
