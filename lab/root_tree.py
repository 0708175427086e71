"""The stand-in's root file system and initramfs, made of Debian packages and the files in `lab/live`."""

import os
import shutil
from pathlib import Path
from typing import Final

from lab.building import ROOT, Missing, digest, kept, peer, run, tool

SUITE: Final = "bookworm"
"""The Debian release whose packages fit together this way."""
RECIPE: Final = ROOT / "lab" / "live"
WATCHED: Final = ("linux-image-cloud-amd64", "systemd", "dracut-core", "ignition", "network-manager")
"""Packages whose new versions are worth a new build."""
EPOCH: Final = "1767225600"
LEFT_OUT: Final = ("doc", "man", "locale", "info")
MASKED: Final = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer"),
    *("e2scrub_reap.service", "dracut-shutdown.service", "systemd-pcrphase.service"),
    *("lvm2-monitor.service", "lvm2-lvmpolld.socket", "dm-event.socket", "blk-availability.service"),
    *("mdcheck_continue.timer", "mdcheck_start.timer", "mdmonitor-oneshot.timer"),
    *("podman.socket", "podman.service", "podman-restart.service", "podman-auto-update.timer"),
)
"""What watches and repeats things on machines that live longer than minutes."""
OMITTED_MODULES: Final = (
    "plymouth drm resume lvm mdraid dmraid crypt btrfs multipath nvdimm dm systemd-networkd iscsi nfs biosdevname"
    " i18n ifcfg lunmask overlay-root virtiofs bluetooth"
)
OMITTED_DRIVERS: Final = "btrfs cifs xfs nfs ceph mlx4_core mlx5_core"


def packages() -> list[str]:
    lines = (RECIPE / "packages").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def debian_packages() -> Path:
    """A folder with `root`: the packages as they come, nothing of ours yet."""
    return kept("packages", digest(RECIPE / "packages", _versions()), _bootstrap)


def root_tree() -> Path:
    """A folder with `root`, `vmlinuz` and `initrd.img`; the initramfs serves live images and disks alike."""
    tools = (peer("coreos-installer"), peer("coreos-installer").with_name("rdcore"), peer("nmstatectl"))
    versions = " ".join(f"{one.name} {one.parent.name}" for one in tools)
    key = digest(Path(__file__), RECIPE, _versions(), versions)
    return kept("root-tree", key, lambda work: _make_tree(work, debian_packages() / "root", tools))


# --- packages ---------------------------------------------------------------------------------------------------------


def _versions() -> str:
    """Of the packages that matter, as this machine's package lists have them."""
    shown = run([tool("apt-cache", package="apt"), "show", "--no-all-versions", *WATCHED]) if _sources() else ""
    return "\n".join(line for line in shown.splitlines() if line.startswith(("Package: ", "Version: ")))


def _sources() -> list[str]:
    """This machine's own places for Debian packages, as lines for another machine's list."""
    fields = "$(ORIGIN)|$(RELEASE)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    listed = run([tool("apt-get", package="apt"), "indextargets", "--format", fields, "Created-By: Packages"])
    split = [line.split("|") for line in listed.splitlines()]
    return [line for origin, release, line in split if origin == "Debian" and release.startswith(SUITE)]


def _bootstrap(work: Path) -> None:
    if os.geteuid() != 0:
        raise Missing("The live image is made by root. Make it once with: sudo make test-lab")
    sources = _sources()
    if not sources:
        raise Missing(f"This machine has no package lists of Debian {SUITE}. Fetch them: sudo apt-get update")
    command = [tool("mmdebstrap", package="mmdebstrap"), "--quiet", "--variant=minbase", "--mode=root"]
    command += ['--aptopt=APT::Install-Recommends "false"', '--aptopt=Acquire::Check-Valid-Until "false"']
    command += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in LEFT_OUT]
    command += [f"--include={','.join(packages())}", SUITE, str(work / "root"), *sources]
    # The kernel package would make an initramfs that nobody wants.
    run(["nice", *command], environment={"INITRD": "No", "SOURCE_DATE_EPOCH": EPOCH})


# --- tree -------------------------------------------------------------------------------------------------------------


def _make_tree(work: Path, source: Path, tools: tuple[Path, ...]) -> None:
    root = work / "root"
    run(["cp", "-a", "--reflink=auto", source, root])
    for name in ("etc/hostname", "etc/resolv.conf"):
        (root / name).unlink(missing_ok=True)
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    run(["cp", "-r", "--no-preserve=ownership", f"{RECIPE / 'root'}/.", root])
    for program in tools:
        shutil.copyfile(program, root / "usr/bin" / program.name)
        (root / "usr/bin" / program.name).chmod(0o755)
    for unit in MASKED:
        (root / "etc/systemd/system" / unit).unlink(missing_ok=True)
        (root / "etc/systemd/system" / unit).symlink_to("/dev/null")
    # Otherwise systemd would rebuild its caches at every boot of an image nobody updates.
    for name in ("etc/.updated", "var/.updated"):
        (root / name).touch()
    module = root / "usr/lib/dracut/modules.d/50lablive"
    shutil.copytree(RECIPE / "dracut", module)
    version = next((root / "lib/modules").iterdir()).name
    _make_initramfs(root, version)
    shutil.move(root / "boot/initrd.img", work / "initrd.img")
    shutil.copyfile(root / f"boot/vmlinuz-{version}", work / "vmlinuz")


def _make_initramfs(root: Path, version: str) -> None:
    """In the tree itself, so that kernel, modules and programs belong together; its mounts are nobody else's."""
    dracut = ["dracut", "--force", "--no-hostonly", "--no-hostonly-cmdline", "--no-early-microcode", "--zstd"]
    dracut += ["--kver", version, "--add", "lablive", "--omit", OMITTED_MODULES, "--omit-drivers", OMITTED_DRIVERS]
    script = """
        mount --make-rprivate /
        mount -t proc proc "$0/proc"; mount -t sysfs sysfs "$0/sys"
        mount --bind /dev "$0/dev"; mount -t tmpfs tmp "$0/tmp"
        exec chroot "$0" "$@" /boot/initrd.img
    """
    environment = {"SOURCE_DATE_EPOCH": EPOCH, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    run(["nice", "unshare", "--mount", "bash", "-euc", script, root, *dracut], environment=environment)
