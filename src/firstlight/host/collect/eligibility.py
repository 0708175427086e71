"""Why nothing may be installed on a disk, as far as the machine itself can tell; the service adds its own reasons.

A wrong answer here may cost somebody's data, so a disk in doubt is refused and the doubt is named.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from firstlight.host.collect.blocks import Use
from firstlight.host.collect.drive_types import FIBRE_CHANNEL, ISCSI, ODD, VOLUME
from firstlight.host.collect.iscsi import Session

MOST_USES_TOLD: Final = 3
_IMAGE_FILE_SYSTEMS: Final = frozenset({"iso9660", "udf"})


class DiskFacts(Struct, frozen=True, kw_only=True):
    """What the reasons are made of."""

    drive_type: str
    known_controller: bool = True
    read_only: bool = False
    has_medium: bool = True
    installation_media: bool = False
    uses: tuple[Use, ...] = ()
    mounts_known: bool = True
    appliance: bool = False
    """One of its partitions carries the label of an appliance, which is mounted while it installs onto itself."""
    multipath: str = ""
    """The multipath device it is a path of."""
    session: Session | None = None
    firmware_targets: frozenset[str] = frozenset()


def refusals(facts: DiskFacts) -> tuple[str, ...]:
    return tuple(_refusals(facts))


def is_installation_media(*, drive_type: str, uses: tuple[Use, ...], labels: frozenset[str], live_label: str) -> bool:
    """Optical, or the source of this very system: mounted as an image, or labelled as the one that was booted."""
    mounted = any(use.point.endswith("iso") or use.file_system in _IMAGE_FILE_SYSTEMS for use in uses)
    return drive_type == ODD or mounted or bool(live_label and live_label in labels)


def _refusals(facts: DiskFacts) -> Iterator[str]:
    if not facts.known_controller:
        yield "The disk is attached to a storage controller of an unknown kind."
    if facts.drive_type == VOLUME:
        yield "The disk is a logical volume (LVM), not a disk of its own."
    if facts.drive_type == ISCSI and facts.session is not None:
        yield from _session_refusals(facts.session, targets=facts.firmware_targets)
    if facts.multipath and facts.drive_type not in (ISCSI, FIBRE_CHANNEL):
        # The service says the same of networked paths.
        yield f"The disk is one path of the multipath device {facts.multipath}. Use that device instead."
    if facts.installation_media:
        yield "The disk is the medium that the machine was started from, or another image of a disc."
    elif not facts.mounts_known:
        yield "The machine's mount table cannot be read, so nobody knows whether the disk is in use."
    elif not facts.appliance:
        yield from _use_refusals(facts.uses)
    if facts.drive_type != ODD and not facts.has_medium:
        yield "There is no medium in the drive."
    elif facts.drive_type != ODD and facts.read_only:
        yield "The disk is read-only."


def _use_refusals(uses: tuple[Use, ...]) -> Iterator[str]:
    for use in uses[:MOST_USES_TOLD]:
        yield f"The disk is in use: {use.part} is {use.how}."
    if len(uses) > MOST_USES_TOLD:
        yield f"The disk is in use in {len(uses) - MOST_USES_TOLD} further ways."


def _session_refusals(session: Session, *, targets: frozenset[str]) -> Iterator[str]:
    if not session.state:
        yield "The state of the iSCSI disk is not known."
    elif session.state != "running":
        yield f"The iSCSI disk is not running: its state is '{session.state}'."
    if not session.name:
        yield "The session of the iSCSI disk was not found."
    elif not session.target:
        yield f"The target of the iSCSI session {session.name} is not known."
    elif not targets:
        yield "The firmware has no iSCSI boot table (iBFT), so the machine would not find the disk when it boots."
    elif session.target not in targets:
        yield f"The firmware's iSCSI boot table (iBFT) does not name the target {session.target} of the disk."
