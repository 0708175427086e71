"""iPXE scripts, line by line as firmware reads them."""

import pytest

from firstlight.core.install.ipxe import STAGES_FROM_DISK, boot_script, boots_from_disk, chain_script
from firstlight.core.steps.inputs import BootArtifacts

ARTIFACTS = BootArtifacts(kernel_url="http://i/kernel", initrd_url="http://i/initrd", rootfs_url="http://i/rootfs")


def test_the_boot_script() -> None:
    assert boot_script(ARTIFACTS, kernel_arguments=["p1", 'p2="a b"']) == (
        "#!ipxe\n"
        "initrd --name initrd http://i/initrd\n"
        "kernel http://i/kernel initrd=initrd coreos.live.rootfs_url=http://i/rootfs random.trust_cpu=on "
        "rd.luks.options=discard ignition.firstboot ignition.platform.id=metal console=tty1 console=ttyS1,115200n8 "
        'coreos.inst.persistent-kargs="console=tty1 console=ttyS1,115200n8" p1 p2="a b"\n'
        "boot\n"
    )


def test_the_chain_script_asks_again_with_the_address() -> None:
    assert chain_script("http://s/files?file_name=ipxe-script") == (
        "#!ipxe\nchain http://s/files?file_name=ipxe-script&mac=${net0/mac}\n"
    )


@pytest.mark.parametrize("stage", [*sorted(STAGES_FROM_DISK), "Writing image to disk", ""])
@pytest.mark.parametrize("installing", [True, False])
def test_the_disk_boots_once_it_is_written(stage: str, installing: bool) -> None:
    expected = installing and stage in {"Rebooting", "Waiting for ignition", "Configuring", "Joined", "Done"}
    assert boots_from_disk(installed=False, installing=installing, stage=stage) is expected
    assert boots_from_disk(installed=True, installing=installing, stage=stage)
