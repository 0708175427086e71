"""iPXE scripts: how a machine without media fetches kernel, initrd and root file system."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.steps.inputs import BootArtifacts

CONSOLES: Final = "console=tty1 console=ttyS1,115200n8"
BOOT_ORDER_CONTROL: Final = "boot-order-control"
STAGES_FROM_DISK: Final = frozenset({"Rebooting", "Waiting for ignition", "Configuring", "Joined", "Done"})
"""Stages at which the disk is written: booting the network image again would start over."""


def boot_script(artifacts: BootArtifacts, *, kernel_arguments: Sequence[str] = ()) -> str:
    arguments = [
        "initrd=initrd",
        f"coreos.live.rootfs_url={artifacts.rootfs_url}",
        "random.trust_cpu=on",
        "rd.luks.options=discard",
        "ignition.firstboot",
        "ignition.platform.id=metal",
        CONSOLES,
        f'coreos.inst.persistent-kargs="{CONSOLES}"',
        *kernel_arguments,
    ]
    lines = (
        "#!ipxe",
        f"initrd --name initrd {artifacts.initrd_url}",
        f"kernel {artifacts.kernel_url} {' '.join(arguments)}",
        "boot",
    )
    return "\n".join(lines) + "\n"


def chain_script(script_url: str) -> str:
    """Ask again, saying who asks: the service then knows whether this machine should boot from its disk.

    `script_url` is the signed URL of the script and has a query already.
    """
    return f"#!ipxe\nchain {script_url}&mac=${{net0/mac}}\n"


def boots_from_disk(*, installed: bool, installing: bool, stage: str) -> bool:
    """Whether a machine shall find no script, so that its firmware goes on to the disk."""
    return installed or (installing and stage in STAGES_FROM_DISK)
