"""Disks: every block device something could be installed on, or that must not be mistaken for one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from firstlight.core import wire
from firstlight.host.collect.blocks import Block, Part, read_blocks, read_parts, read_uses
from firstlight.host.collect.boot import COMMAND_LINE, kernel_argument
from firstlight.host.collect.drive_types import ISCSI, ODD, drive_type, is_known_controller
from firstlight.host.collect.eligibility import DiskFacts, is_installation_media, refusals
from firstlight.host.collect.iscsi import Session, firmware_targets, read_session
from firstlight.host.collect.lab import LabDisk
from firstlight.host.collect.mounts import Claims, Mount, read_claims
from firstlight.host.collect.udev import block_properties
from firstlight.host.root import Root

MOST_DISKS: Final = 512
"""More are counted, not described: a machine on a large storage network sees tens of thousands, and the service keeps
no more than this."""
BY_ID: Final = "/dev/disk/by-id"
BY_PATH: Final = "/dev/disk/by-path"
APPLIANCE: Final = "agent"
APPLIANCE_BYTES: Final = 100 * 2**30
_SERIALS: Final = ("SCSI_IDENT_SERIAL", "ID_SCSI_SERIAL", "ID_SERIAL_SHORT", "ID_SERIAL")
_WORLD_WIDE_NAMES: Final = ("ID_WWN_WITH_EXTENSION", "ID_WWN", "DM_WWN")


class Disks(Struct, frozen=True, kw_only=True):
    """The disks described, in order of their names, and how many there are."""

    listed: tuple[wire.Disk, ...]
    found: int


def collect_disks(root: Root, *, mounts: tuple[Mount, ...] | None, smallest: int = 0, most: int = MOST_DISKS) -> Disks:
    """Without what takes long to find out: whether a disk is bootable. Disks below `smallest` bytes do not count."""
    blocks = [block for block in read_blocks(root) if block.size_bytes >= smallest]
    appliance = next((block for block in blocks if block.mapped_name.startswith(APPLIANCE)), None)
    if appliance is not None:
        return Disks(listed=(_appliance(appliance),), found=1)
    kept = sorted(sorted(blocks, key=_preference)[:most], key=_natural)
    surroundings = _look_around(root, blocks, mounts)
    properties = {block.name: block_properties(root, root.line(f"{block.folder}/dev") or "") for block in kept}
    ways = Counter(found.get("ID_PATH", "") for found in properties.values())
    shared = frozenset(way for way, count in ways.items() if count > 1)
    listed = tuple(_disk(root, block, properties[block.name], surroundings, shared) for block in kept)
    return Disks(listed=listed, found=len(blocks))


def lab_disk(root: Root, disk: LabDisk) -> wire.Disk:
    """A loop device as the laboratory wants it to look."""
    size = max(root.number(f"/sys/block/{disk.name}/size") or 0, 0) * 512
    gone = () if size else ("The loop device has no file behind it.",)
    return wire.Disk(
        id=disk.device,
        name=disk.name,
        path=disk.device,
        drive_type=disk.drive_type,
        size_bytes=size,
        model=disk.model,
        serial=disk.serial,
        vendor=disk.vendor,
        wwn=disk.wwn,
        bootable=disk.bootable,
        installation_eligibility=_verdict(gone),
    )


class _Surroundings(Struct, frozen=True, kw_only=True):
    """What is read once for all disks."""

    claims: Claims
    mounts_known: bool
    by_id: Mapping[str, str]
    multipath: frozenset[str]
    targets: frozenset[str]
    live_label: str


def _look_around(root: Root, blocks: Iterable[Block], mounts: tuple[Mount, ...] | None) -> _Surroundings:
    return _Surroundings(
        claims=read_claims(root, mounts or ()),
        mounts_known=mounts is not None,
        by_id=_links(root, BY_ID),
        multipath=frozenset(block.name for block in blocks if block.is_multipath),
        targets=firmware_targets(root),
        live_label=kernel_argument(root.text(COMMAND_LINE, most=65_536) or "", "coreos.liveiso"),
    )


def _links(root: Root, folder: str) -> dict[str, str]:
    """Kernel name → the first world-wide name in alphabetical order that leads to it at this moment."""
    found: dict[str, str] = {}
    for name in root.names(folder):
        # Names of devices may come from the device; what is not text cannot be sent.
        if name.startswith(("wwn-", "nvme-eui")) and name.isprintable() and (target := root.link(f"{folder}/{name}")):
            found.setdefault(target.rsplit("/", 1)[-1], f"{folder}/{name}")
    return found


def _disk(
    root: Root, block: Block, known: Mapping[str, str], around: _Surroundings, shared: frozenset[str]
) -> wire.Disk:
    parts = read_parts(root, block)
    id_path = known.get("ID_PATH", "")
    kind = drive_type(root, block, id_path=id_path)
    session = read_session(root, block) if kind == ISCSI else None
    facts = _facts(root, block, parts, kind, known, around, session)
    by_path = f"{BY_PATH}/{id_path}" if id_path and id_path not in shared else ""
    if by_path and root.link(by_path) is None:
        by_path = ""
    by_id, path = around.by_id.get(block.name, ""), f"/dev/{block.name}"
    vendor = root.line(f"{block.folder}/device/vendor") or ""
    return wire.Disk(
        id=by_id or by_path or path,
        name=block.name,
        path=path,
        by_id=by_id,
        by_path=by_path,
        drive_type=kind,
        size_bytes=block.size_bytes,
        wwn=_first(known, _WORLD_WIDE_NAMES) or by_id.rsplit("/", 1)[-1].removeprefix("wwn-").removeprefix("nvme-"),
        serial=_first(known, _SERIALS) or root.line(f"{block.folder}/serial") or "",
        model=known.get("ID_MODEL") or root.line(f"{block.folder}/device/model") or "",
        vendor="" if vendor.lower() == "unknown" else vendor,
        hctl=next(iter(root.names(f"{block.folder}/device/scsi_device")), ""),
        removable=root.line(f"{block.folder}/removable") == "1",
        has_uuid=_has_uuid(root, block),
        holders=",".join(sorted({holder for part in parts for holder in part.holders})),
        is_installation_media=facts.installation_media,
        iscsi=None if session is None else wire.Iscsi(host_ip_address=session.host_address),
        installation_eligibility=_verdict(refusals(facts)),
    )


def _facts(
    root: Root,
    block: Block,
    parts: tuple[Part, ...],
    kind: str,
    known: Mapping[str, str],
    around: _Surroundings,
    session: Session | None,
) -> DiskFacts:
    uses = read_uses(root, parts, claims=around.claims)
    inside = [block_properties(root, part.device) for part in parts[1:]]
    labels = frozenset(found.get("ID_FS_LABEL", "") for found in (known, *inside))
    return DiskFacts(
        drive_type=kind,
        known_controller=is_known_controller(block),
        read_only=root.line(f"{block.folder}/ro") == "1",
        has_medium=block.size_bytes > 0,
        installation_media=is_installation_media(
            drive_type=kind, uses=uses, labels=labels, live_label=around.live_label
        ),
        uses=uses,
        mounts_known=around.mounts_known,
        appliance=any(found.get("ID_PART_ENTRY_NAME", "").startswith(APPLIANCE) for found in inside),
        multipath=next((holder for holder in parts[0].holders if holder in around.multipath), ""),
        session=session,
        firmware_targets=around.targets,
    )


def _has_uuid(root: Root, block: Block) -> bool:
    """Whether the disk identifies itself (page 0x83 of SCSI, or an NVMe identifier): some hypervisors must be told."""
    if block.name.startswith("nvme"):
        told = (root.line(f"{block.folder}/{name}") or "" for name in ("uuid", "nguid", "eui"))
        return any(value.strip("0- ") for value in told)
    return bool(root.bytes(f"{block.folder}/device/vpd_pg83", most=4_096))


def _first(known: Mapping[str, str], names: Iterable[str]) -> str:
    return next((known[name] for name in names if known.get(name)), "")


def _verdict(reasons: tuple[str, ...]) -> wire.InstallationEligibility:
    return wire.InstallationEligibility(eligible=not reasons, not_eligible_reasons=reasons or None)


def _appliance(block: Block) -> wire.Disk:
    """An appliance installs onto the disk it runs from; the service needs only to see that there is one."""
    return wire.Disk(
        name=block.name,
        path=f"/dev/{block.name}",
        drive_type="SSD",
        size_bytes=APPLIANCE_BYTES,
        installation_eligibility=_verdict(()),
    )


def _preference(block: Block) -> tuple[int, int, str]:
    """Local disks before multipath devices before single paths to a storage network before volumes."""
    if block.is_volume:
        rank = 3
    elif block.is_multipath:
        rank = 1
    else:
        rank = 2 if "/rport-" in block.place or "/session" in block.place else 0
    return (rank, *_natural(block))


def _natural(block: Block) -> tuple[int, str]:
    return (len(block.name), block.name)


def is_readable(disk: wire.Disk) -> bool:
    """Whether reading its first sector makes sense."""
    return disk.size_bytes > 0 and disk.drive_type != ODD
