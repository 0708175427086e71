"""How the machine was started."""

from typing import Final

from firstlight.core import wire
from firstlight.host.collect.mounts import Mount
from firstlight.host.collect.view import View

EFI: Final = "/sys/firmware/efi"
SECURE_BOOT: Final = f"{EFI}/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
COMMAND_LINE: Final = "/proc/cmdline"
_STATES: Final = {0: "Disabled", 1: "Enabled"}


def collect_boot(view: View, *, mounts: tuple[Mount, ...]) -> wire.Boot:
    line = view.root.text(COMMAND_LINE, most=65_536) or ""
    return wire.Boot(
        current_boot_mode="uefi" if view.root.is_folder(EFI) else "bios",
        pxe_interface=kernel_argument(line, "BOOTIF"),
        command_line=line,
        secure_boot_state=secure_boot_state(
            view.root.bytes(SECURE_BOOT, most=64), exists=view.root.exists(SECURE_BOOT)
        ),
        device_type=device_type(mounts),
    )


def kernel_argument(line: str, name: str) -> str:
    """The value of the last argument of this name; empty without one."""
    values = (word.partition("=")[2] for word in line.split() if word.startswith(f"{name}="))
    return ([""] + [value.strip('"') for value in values])[-1]


def secure_boot_state(data: bytes | None, *, exists: bool) -> str:
    """An EFI variable is four bytes of attributes and its value, here one byte."""
    if data is None:
        return "Unknown" if exists else "NotSupported"
    return _STATES.get(data[4], "Unknown") if len(data) == 5 else "Unknown"


def device_type(mounts: tuple[Mount, ...]) -> str:
    """`ephemeral` for a live image, `persistent` for a system on a disk, empty where there is no such mount."""
    sources = [mount.source for mount in mounts if mount.point == "/sysroot"]
    if not sources or not sources[-1]:
        return ""
    return "ephemeral" if sources[-1].startswith("/dev/loop") else "persistent"
