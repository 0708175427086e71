#!/bin/bash
# The live half of CoreOS's initramfs, as far as discovery images and installed disks need it.
# Names that ramdisks and drop-ins of others refer to are CoreOS's.

check() {
    return 255 # only when asked for
}

depends() {
    # network-manager by name: dracut would be free to choose another one.
    echo systemd-initrd ignition network-manager url-lib fs-lib
}

installkernel() {
    instmods loop squashfs overlay isofs sr_mod cdrom ata_piix ata_generic \
        virtio_pci virtio_blk virtio_scsi virtio_net virtio_rng virtio_console vfat nls_ascii nls_cp437
}

require() { # UNIT TARGET
    inst_simple "$moddir/$1" "$systemdsystemunitdir/$1"
    mkdir -p "$initdir$systemdsystemunitdir/$2.requires"
    ln_r "$systemdsystemunitdir/$1" "$systemdsystemunitdir/$2.requires/$1"
}

install() {
    inst_multiple losetup blkid cpio curl install tail journalctl udevadm rdcore \
        awk basename cut find grep head ip mktemp sed sort touch tr uniq wc
    # Debian's Ignition wants to label files for SELinux, which is not here.
    inst_script "$moddir/setfiles" /usr/sbin/setfiles
    inst_script "$moddir/is-live-image" /usr/bin/is-live-image
    local script
    for script in lab-user-config lab-network lab-fetch-rootfs lab-live-root coreos-copy-firstboot-network; do
        inst_script "$moddir/$script" "/usr/sbin/$script"
    done
    require ignition-setup-user.service ignition-complete.target
    require coreos-copy-firstboot-network.service initrd.target
    require coreos-enable-network.service initrd.target
    require coreos-livepxe-rootfs.service initrd-root-fs.target
    require lab-live-sysroot.service initrd-root-fs.target
    require lab-report-failure.service emergency.target
}
