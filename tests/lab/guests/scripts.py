"""What machines run: Ignition that makes them ask the courier, and the scripts that the courier has for them."""

import json
import shlex
from base64 import b64encode
from collections.abc import Mapping, Sequence

from tests.lab.guests.couriers import RUNNER, RUNNER_PATH, UNIT, UNIT_NAME

IMAGES_SERIAL = "images"
STATIC_NETWORK = "pre-network-manager-config.service"
"""A minute is not always enough for it on an emulated processor that others use too."""
CONTAINERS = '[containers]\nnetns = "host"\n'
"""A laboratory's machine has one network, and no second one for containers."""
STORAGE = """[storage]
driver = "overlay"
graphroot = "/var/lib/containers/storage"
runroot = "/run/containers/storage"
[storage.options]
additionalimagestores = ["/run/images"]
"""
MOUNT = """[Unit]
Description=Take the container images that came with the machine
Before=agent.service lab-run.service

[Service]
Type=oneshot
RemainAfterExit=yes
# However long a busy host takes to show the machine its disks.
TimeoutStartSec=infinity
ExecStart=/bin/sh -c 'until mount -m -t squashfs -o ro /dev/disk/by-id/virtio-{serial} /run/images; do sleep 1; done'

[Install]
WantedBy=multi-user.target
"""
SIBLING = "stays"
NAME = "alone"


def asking(courier_url: str) -> dict[str, object]:
    """A config under which a machine does what the courier has for it."""
    return config({RUNNER_PATH: (RUNNER, 0o755)}, _asking(courier_url))


def _asking(courier_url: str) -> list[dict[str, object]]:
    return [_enabled(UNIT_NAME, UNIT.format(path=RUNNER_PATH, url=courier_url))]


def _enabled(name: str, contents: str) -> dict[str, object]:
    return {"name": name, "enabled": True, "contents": contents}


def config(files: Mapping[str, tuple[str, int]], units: Sequence[Mapping[str, object]] = ()) -> dict[str, object]:
    listed = [
        {"path": path, "mode": mode, "overwrite": True, "contents": {"source": data(text)}}
        for path, (text, mode) in files.items()
    ]
    return {"ignition": {"version": "3.1.0"}, "storage": {"files": listed}, "systemd": {"units": [*units]}}


def data(text: str) -> str:
    return f"data:;base64,{b64encode(text.encode()).decode()}"


def discovery_override(
    courier_url: str, *, with_agent: bool, files: Mapping[str, tuple[str, int]] | None = None
) -> str:
    """For a live system: it asks the courier, and has an agent of its own or none."""
    units = [*_asking(courier_url), _enabled("lab-images.service", MOUNT.format(serial=IMAGES_SERIAL))]
    patience = {"name": "10-patience.conf", "contents": "[Service]\nTimeoutSec=infinity\n"}
    units.append({"name": STATIC_NETWORK, "dropins": [patience]})
    if not with_agent:
        units.append({"name": "agent.service", "enabled": False})
    conf = {"containers.conf": (CONTAINERS, 0o644), "storage.conf": (STORAGE, 0o644)}
    own = {f"/etc/containers/{name}": file for name, file in conf.items()}
    return json.dumps(config({RUNNER_PATH: (RUNNER, 0o755), **own, **(files or {})}, units))


def single_files() -> dict[str, tuple[str, int]]:
    """A live CoreOS has these; here it is enough that they exist."""
    programs = dict.fromkeys(("/usr/bin/oc", "/usr/bin/rpm-ostree"), ("#!/bin/sh\n", 0o755))
    return {"/etc/hostname": (f"{NAME}\n", 0o644), **programs}


# --- in the live system -----------------------------------------------------------------------------------------------

REMNANTS = """
# An earlier life of this disk: a volume group on a partition, an array on another, a volume group on the array.
until [ -e {device} ]; do sleep 1; done
disk=$(readlink -f {device})
sgdisk --new=1:0:+256M --new=2:0:+256M --new=3:0:0 "$disk"
udevadm settle
mdadm --create /dev/md/old --run --level=1 --raid-devices=2 "${{disk}}2" missing
vgcreate --yes old "${{disk}}1"
vgcreate --yes arrayed /dev/md/old
lvcreate --yes --name data --size 32M old
lvcreate --yes --name data --size 32M arrayed
"""
SIBLINGS = """
# Twenty-seven disks, found one after the other: the first is sda, the last sdaa. Each is all of a volume group.
controller=$(dirname "$(grep -il virtio /sys/class/scsi_host/*/proc_name)")
until [ -e {device} ]; do sleep 1; done
udevadm settle
for one in /sys/block/sd*; do echo 1 >"$one/device/delete"; done
for target in $(seq 0 26); do
    echo "0 $target 0" >"$controller/scan"
    until [ "$(ls -d /sys/block/sd* | wc -l)" -gt "$target" ]; do sleep 0.05; done
done
until [ "$(readlink -f {device})" = /dev/sda ] && [ -e /dev/sdaa ]; do sleep 1; done
udevadm settle
vgcreate --yes gone /dev/sda
vgcreate --yes {sibling} /dev/sdaa
lvcreate --yes --name data --size 32M gone
lvcreate --yes --name data --size 32M {sibling}
echo 'Nobody may touch this.' | dd of=/dev/{sibling}/data conv=fsync status=none
"""
BEFORE = "vgs --noheadings -o vg_name >groups-before; lsblk >disks-before; cat /proc/mdstat >arrays-before || true\n"
INSTALL = """
code=0
{command} || code=$?
cp /var/log/assisted-installer.log installer.log
vgs --noheadings -o vg_name >groups-after
cat /proc/mdstat >arrays-after || true
lsblk >disks-after
[ ! -e /dev/{sibling}/data ] || head -n 1 /dev/{sibling}/data >sibling
[ ! -d /sys/firmware/efi ] || efibootmgr -v >boot-order
cat /run/systemd/shutdown/scheduled >scheduled || true
mkdir profiles
cp /etc/NetworkManager/system-connections/* profiles/
echo 'sync; systemctl reboot --force' >../after
exit $code
"""


def installing(command: Sequence[str], *, device: str, siblings: bool) -> str:
    dirt = SIBLINGS if siblings else REMNANTS
    return (
        dirt.format(device=device, sibling=SIBLING)
        + BEFORE
        + INSTALL.format(command=shlex.join(command), sibling=SIBLING)
    )


AGENT_AT_WORK = """
# The agent's container, as its unit started it.
agent=0
until [ "$agent" -gt 0 ]; do
    sleep 1
    agent=$(podman inspect --format '{{.State.Pid}}' next-step-runner 2>/dev/null || echo 0)
done
until [ -s /run/firstlight-agent/registration.json ]; do sleep 1; done
cp /etc/systemd/system/agent.service unit
cp "/proc/$agent/status" status
cp "/proc/$agent/stat" stat
tr '\\0' '\\n' <"/proc/$agent/cmdline" >words
getconf CLK_TCK >ticks
lsblk --json --bytes --output NAME,SIZE,SERIAL,WWN,TYPE >disks
ip -json address >addresses
systemctl show --property=ActiveState,NRestarts agent.service >state
"""

# --- in the installed system ------------------------------------------------------------------------------------------

FIRST_BOOT = """
cat /proc/cmdline >cmdline
hostname >name
ip -json address >addresses
nmcli --terse --fields NAME,DEVICE connection show --active >connections || true
cp /etc/kubernetes/kubeconfig kubeconfig || true
cp /etc/lab/rendered rendered || true
ls -A /boot >boot
systemctl is-active firstlight-first-boot.service >reporter || true
for link in /dev/disk/by-id/wwn-*-part4; do
    [ "$(readlink -f "$link")" != "$(findmnt --noheadings --output SOURCE /)" ] || echo "$link" >root
done
[ ! -d /sys/firmware/efi ] || efibootmgr >boot-order
"""
