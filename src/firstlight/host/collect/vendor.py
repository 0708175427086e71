"""Who made the machine, and whether it is a virtual one."""

import re
from typing import Final

from firstlight.core import wire
from firstlight.host.collect.cpu import parse_cpuinfo
from firstlight.host.collect.view import View

ORACLE: Final = "OracleCloud.com"
DETECTION_SECONDS: Final = 10.0
_CONTROL_PROGRAM: Final = re.compile(r"^VM[0-9]{2} Control Program:\s*(.*?)\s*$", re.MULTILINE)
_VIRTUAL_VENDORS: Final = (
    "qemu",
    "kvm",
    "vmware",
    "innotek",
    "xen",
    "bochs",
    "parallels",
    "bhyve",
    "apple virtualization",
)
_VIRTUAL_PRODUCTS: Final = ("openstack", "kubevirt", "virtual machine", "google compute engine", "ovirt", "rhev")


async def collect_vendor(view: View) -> wire.SystemVendor:
    manufacturer = view.dmi("sys_vendor")
    if manufacturer is None:
        mainframe = _mainframe(view)
        if mainframe is not None:
            return mainframe
    product = view.dmi("product_name") or ""
    if (view.dmi("product_family") or "") in ("oVirt", "RHV"):
        product = "oVirt"
    if view.dmi("chassis_asset_tag") == ORACLE:
        manufacturer = ORACLE
    return wire.SystemVendor(
        serial_number=view.dmi("product_serial") or "",
        product_name=product,
        manufacturer=manufacturer or "",
        virtual=await _is_virtual(view, manufacturer=manufacturer or "", product=product),
    )


def _mainframe(view: View) -> wire.SystemVendor | None:
    """s390x has no DMI; the hypervisor, if any, introduces itself in a file of its own."""
    vendor = parse_cpuinfo(view.root.text("/proc/cpuinfo") or "")[0].get("vendor_id", "")
    if vendor != "IBM/S390":
        return None
    program = _CONTROL_PROGRAM.search(view.root.text("/proc/sysinfo") or "")
    if program is None:
        return wire.SystemVendor(manufacturer=vendor, product_name="LPAR")
    return wire.SystemVendor(manufacturer=vendor, product_name=program[1], virtual=program[1].startswith("KVM/Linux"))


async def _is_virtual(view: View, *, manufacturer: str, product: str) -> bool:
    detected = await view.programs.run("systemd-detect-virt", "--vm", "--quiet", limit=DETECTION_SECONDS)
    if detected.exit_code in (0, 1):
        return detected.succeeded
    # No such program: processors of virtual machines say so, and where they cannot the board often does.
    flags = parse_cpuinfo(view.root.text("/proc/cpuinfo") or "")[0].get("flags", "").split()
    return (
        "hypervisor" in flags
        or manufacturer.lower().startswith(_VIRTUAL_VENDORS)
        or product.lower().startswith(_VIRTUAL_PRODUCTS)
        or view.root.exists("/proc/device-tree/hypervisor/compatible")
    )
