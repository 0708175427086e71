"""Graphics and other accelerators on the PCI bus."""

from collections.abc import Collection
from typing import Final

from firstlight.core import wire
from firstlight.host.collect.view import View

DEVICES: Final = "/sys/bus/pci/devices"
CLASSES: Final = frozenset({"0300", "0302", "0380", "1200"})
"""VGA, 3D and other display controllers, processing accelerators."""
NAME_FILES: Final = ("/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids")
MOST_GPUS: Final = 256


def collect_gpus(view: View) -> tuple[wire.Gpu, ...]:
    """In order of their addresses."""
    found = [gpu for address in view.root.names(DEVICES) if (gpu := _gpu(view, address)) is not None][:MOST_GPUS]
    if not found:
        return ()
    names = pci_names(_name_file(view), {(gpu.vendor_id, gpu.device_id) for gpu in found})
    return tuple(
        wire.Gpu(
            address=gpu.address,
            vendor_id=gpu.vendor_id,
            device_id=gpu.device_id,
            vendor=names.get((gpu.vendor_id, ""), ""),
            name=names.get((gpu.vendor_id, gpu.device_id), ""),
        )
        for gpu in found
    )


def _gpu(view: View, address: str) -> wire.Gpu | None:
    folder = f"{DEVICES}/{address}"
    kind = (view.root.line(f"{folder}/class") or "").lower().removeprefix("0x")
    if kind[:4] not in CLASSES:
        return None
    vendor, device = (view.root.line(f"{folder}/{name}") or "" for name in ("vendor", "device"))
    return wire.Gpu(
        address=address,
        vendor_id=vendor.lower().removeprefix("0x"),
        device_id=device.lower().removeprefix("0x"),
    )


def _name_file(view: View) -> str:
    texts = (tree.text(name) for tree in (view.own, view.root) for name in NAME_FILES)
    return next((text for text in texts if text), "")


def pci_names(text: str, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Names of the wanted (vendor, device) pairs from the public list, and of their vendors under (vendor, "")."""
    vendors = {vendor for vendor, _ in wanted}
    found: dict[tuple[str, str], str] = {}
    current = ""
    for line in text.split("\n"):
        if not line or line.startswith(("#", "\t\t")):
            continue
        number, _, name = line.strip().partition("  ")
        if not line.startswith("\t"):
            current = number if number in vendors else ""
            if current:
                found[(current, "")] = name.strip()
        elif current and (current, number) in wanted:
            found[(current, number)] = name.strip()
    return found
