"""What kind of drive a block device is, from its name, its path and what the kernel says about it."""

from typing import Final

from firstlight.host.collect.blocks import Block
from firstlight.host.root import Root

HDD, SSD, ODD, FDD, UNKNOWN = "HDD", "SSD", "ODD", "FDD", "Unknown"
ISCSI, FIBRE_CHANNEL, MULTIPATH, VOLUME, RAID = "iSCSI", "FC", "Multipath", "LVM", "RAID"
_KNOWN_CONTROLLERS: Final = ("sd", "hd", "vd", "xvd", "nvme", "sr", "mmc")
_ROTATING: Final = ("sd", "hd", "vd", "xvd")


def drive_type(root: Root, block: Block, *, id_path: str) -> str:
    """`id_path` is the device manager's name of the way to the disk."""
    name = block.name
    if name.startswith("dasd"):
        return _dasd(root, block)
    if "-iscsi-" in id_path:
        return ISCSI
    if "-fc-" in id_path or id_path.startswith("fc-"):
        return FIBRE_CHANNEL
    if block.is_multipath:
        return MULTIPATH
    if block.is_volume:
        return VOLUME
    if name.startswith("md"):
        return RAID
    if name.startswith("fd"):
        return FDD
    if name.startswith("sr"):
        return ODD
    if name.startswith(("nvme", "mmc")):
        return SSD
    if name.startswith(_ROTATING):
        return HDD if root.line(f"{block.folder}/queue/rotational") == "1" else SSD
    return UNKNOWN


def is_known_controller(block: Block) -> bool:
    return block.name.startswith((*_KNOWN_CONTROLLERS, "dasd", "md")) or block.is_multipath or block.is_volume


def _dasd(root: Root, block: Block) -> str:
    discipline = root.line(f"{block.folder}/device/discipline") or ""
    if discipline == "ECKD":
        return "ECKD (ESE)" if root.line(f"{block.folder}/device/ese") == "1" else "ECKD"
    return "FBA" if discipline == "FBA" else UNKNOWN
