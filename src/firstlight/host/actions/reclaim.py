"""`reboot-for-reclaim`: boot into the discovery system that was put beside the installed one."""

import platform
from pathlib import Path
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import RebootForReclaimRequest
from firstlight.host.actions.action import Action, Done, Site, failed, first_document
from firstlight.host.actions.boot_artifacts import ENTRY

_SECONDS: Final = 120.0
_CARRIED_OVER: Final = ("ip", "nameserver", "rd.znet", "zfcp.allow_lun_scan", "rd.zfcp", "rd.dasd")
"""What a mainframe's guest needs to find its network and disks again."""


_WANTED: Final = Reader(RebootForReclaimRequest)


def mainframe_parameters(entry: str, *, command_line: str) -> str:
    """The options of a boot loader entry and, of the running system's, those that describe the machine."""
    options = [line.partition(" ")[2].strip() for line in entry.splitlines() if line.startswith("options ")]
    kept = [word for word in command_line.split() if word.partition("=")[0] in _CARRIED_OVER and "=" in word]
    return " ".join([*options, *kept])


async def reboot(arguments: tuple[str, ...], site: Site) -> Done:
    mounted = Path(first_document(arguments, _WANTED).host_fs_mount_dir)
    try:
        entry = (mounted / ENTRY).read_text()
    except (OSError, ValueError) as reason:
        raise Invalid(f"there is no discovery system under {str(mounted)!r}: {reason}.") from reason
    if platform.machine() == "s390x":
        parameters = mainframe_parameters(entry, command_line=site.root.text("/proc/cmdline") or "")
        written = await site.host.run(
            *("zipl", "--target", "/boot", "--image", "/boot/discovery/vmlinuz"),
            *("--ramdisk", "/boot/discovery/initrd", "--parameters", parameters),
            limit=_SECONDS,
        )
        if not written.succeeded:
            return failed(f"The boot record could not be written: {written.complaint}")
    outcome = await site.host.run("systemctl", "reboot", limit=_SECONDS)
    if not outcome.succeeded:
        return failed(f"The host would not reboot: {outcome.complaint}", exit_code=outcome.exit_code)
    return Done(output="The host is rebooting into the discovery system.")


RECLAIM: Final = Action(step_type="reboot-for-reclaim", perform=reboot, limit_seconds=300.0, exclusive=True, once=True)
