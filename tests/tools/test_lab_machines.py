"""What virtual machines are given: disks in their order, addresses, and a bootstrap laid over one of them."""

import base64
import json
import subprocess
import sys
from pathlib import Path

from lab import once_from
from lab.machines import FORWARDER, Address, Disk, Machine, disks, network

SCSI = [Disk(image=Path(f"/{number}.img"), serial=f"s{number}", wwn=f"0x5000c5000000000{number}") for number in (0, 1)]
IMAGES = Disk(image=Path("/images"), serial="images", is_read_only=True)


def devices(*given: Disk) -> list[str]:
    words = disks(Machine(name="one", disks=given))
    return [words[place + 1] for place, word in enumerate(words) if word == "-device"]


def test_scsi_disks_are_counted_from_zero_whatever_stands_before_them() -> None:
    """UEFI looks at the first target only."""
    controller, first, *scsi = devices(IMAGES, *SCSI)
    assert controller.startswith("virtio-scsi-pci")
    assert first == "virtio-blk-pci,drive=disk0,serial=images"
    assert ["scsi-id=0" in scsi[0], "scsi-id=1" in scsi[1]] == [True, True]
    assert all(f"wwn={disk.wwn}" in words for disk, words in zip(SCSI, scsi, strict=True))


def test_no_controller_without_scsi_disks() -> None:
    assert devices(IMAGES) == ["virtio-blk-pci,drive=disk0,serial=images"]


def test_only_disks_that_nobody_writes_to_may_be_shared() -> None:
    words = " ".join(disks(Machine(name="one", disks=[IMAGES, SCSI[0]])))
    assert "file=/images,if=none,id=disk0,format=raw,cache=unsafe,readonly=on" in words
    assert words.count("readonly=on") == 1


def test_an_address_leads_to_another_port() -> None:
    words = network(Machine(name="one", addresses=[Address(ip="10.0.2.5", port=22623, leads_to=4711)]))
    assert f"guestfwd=tcp:10.0.2.5:22623-cmd:{sys.executable} -I {FORWARDER} 127.0.0.1 4711" in words[1]


def test_a_bootstrap_is_laid_over_with_stand_ins_for_bootkube(tmp_path: Path) -> None:
    """As the container is started: by the words of the real daemon, with nothing but the standard library."""
    secret = base64.b64encode(b"{}").decode()
    config = {
        "storage": {
            "files": [
                {"path": "/root/.docker/config.json", "mode": 0o600, "contents": {"source": f"data:;base64,{secret}"}},
                {"path": "/etc/motd", "append": [{"source": "data:,a%20word"}]},
            ]
        },
        "systemd": {
            "units": [
                {"name": "bootkube.service", "contents": "[Service]\nExecStart=/usr/local/bin/bootkube.sh\n"},
                {"name": "kubelet.service", "contents": "[Service]\nExecStart=/usr/bin/kubelet\n"},
                {"name": "zincati.service", "dropins": []},
            ]
        },
    }
    (tmp_path / "opt/install-dir").mkdir(parents=True)
    (tmp_path / "opt/install-dir/bootstrap.ign").write_text(json.dumps(config))
    words = ["start", "--root-mount", str(tmp_path), "--once-from", "/opt/install-dir/bootstrap.ign", "--skip-reboot"]
    subprocess.run([sys.executable, "-IS", once_from.__file__, *words], check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "root/.docker/config.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "etc/motd").read_text() == "a word"
    units = tmp_path / "etc/systemd/system"
    assert (units / "bootkube.service").read_text() == once_from.BOOTKUBE
    assert "/usr/bin/kubelet" in (units / "kubelet.service").read_text()
    assert not (units / "zincati.service").exists()
    assert json.loads((tmp_path / "opt/openshift/lab-master.ign").read_text()) == once_from.MASTER
