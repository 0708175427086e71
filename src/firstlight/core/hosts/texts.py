"""Sentences shown as a host's status_info."""

from typing import Final

from firstlight.core.hosts.situation import DISK_SPEED_RULE, HostSituation, disk_speed_good, failures, images_good
from firstlight.core.hosts.stages import time_limit
from firstlight.core.model.host import Host
from firstlight.core.model.reports import Reports

MAX_LENGTH: Final = 2040
"""Clients of the original store this text in a column of 2048 characters."""

WAITING_FOR_HARDWARE: Final = "Waiting for the host to send its hardware details"
READY: Final = "Host is ready to be installed"
SILENT: Final = "Host has stopped communicating with the installation service"
SILENT_PREPARING: Final = "Host stopped communicating with the service while it was being prepared for installation"
SILENT_INSTALLING: Final = "Host stopped communicating with the service while it was being installed"
SILENT_TOLD: Final = "Host has not been heard of for too long; the installation goes on and waits for it"
HEARD_AGAIN: Final = "Host communicates with the service again; the installation goes on"
PREPARING: Final = "Host is being prepared for installation"
PREPARED: Final = "Host finished its preparation for installation and waits for the cluster"
INSTALLING: Final = "Installation is in progress"
CLUSTER_FAILED: Final = "Host is part of a cluster that failed to install"
BOOT_TO_RETRY: Final = "Boot the host from the discovery image; its installation is then tried again"
RETRY_TIMEOUT: Final = "Host was to be tried again, but did not come back in time"
START_TIMEOUT: Final = "Host did not start its installation in time"
RESTARTED: Final = "Host restarted unexpectedly during its installation"
INSTALL_COMMAND_FAILED: Final = "The installation command failed on the host; see its logs"
UNANSWERED: Final = "Host cannot be installed yet: some of its checks wait for answers of its agent"
CANCELLED: Final = "Installation was cancelled by the user"
BOOT_TO_RESET: Final = "Boot the host from the discovery image to finish the reset"
BINDING: Final = "Host waits to be bound to its cluster"
UNBINDING: Final = "Host waits to be returned to its infra-env"
BOOT_TO_UNBIND: Final = "Boot the host from the discovery image to return it to its infra-env"
RECLAIMING: Final = "Host is being returned to its infra-env"
RECLAIM_REBOOTING: Final = "Host reboots into the discovery image"
READY_TO_BIND: Final = "Host is ready to be bound to a cluster"
MEDIA_GONE: Final = (
    "The discovery medium cannot be read any more. It was disconnected, or the network is too poor to read it. "
    "Use the minimal image and keep the medium connected until the installation is done"
)
BOOT_TIMEOUT: Final = "Host did not boot from its installation disk in time"
DAY_TWO_REBOOTED: Final = (
    "Host has rebooted and no further updates come from it. Check the console of the cluster for the new node; "
    "its certificate requests may have to be approved"
)


def cut(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"


def below_minimum(facts: HostSituation) -> str:
    return cut(f"Host does not meet the minimum hardware requirements: {failures(facts.findings)}")


def cannot_be_installed(facts: HostSituation) -> str:
    failed = failures(facts.findings)
    return cut(f"Host cannot be installed: {failed}") if failed else UNANSWERED


def waiting_for_input(facts: HostSituation) -> str:
    return cut(f"Waiting for user input: {failures(facts.findings)}")


def preparation_failed(facts: HostSituation) -> str:
    return cut(f"Host failed to prepare for installation: {failures(facts.findings)}")


def preparation_timeout(facts: HostSituation) -> str:
    open_checks = [
        name
        for name, good in (("disk speed", disk_speed_good), ("container image availability", images_good))
        if not good(facts)
    ]
    return f"Host did not finish its preparation in time; still open: {' and '.join(open_checks) or DISK_SPEED_RULE}"


def _limit(facts: HostSituation) -> str:
    stage = facts.host.progress.stage
    return "" if stage is None else str(time_limit(stage, facts.cluster, facts.policy))


def stage_overdue(facts: HostSituation) -> str:
    return f"Stage '{facts.host.progress.stage}' took longer than its limit of {_limit(facts)}"


def disk_overdue(facts: HostSituation) -> str:
    return (
        f"Stage '{facts.host.progress.stage}' made no progress within {_limit(facts)}. "
        f"Check the disk {installation_disk(facts.host)} for errors"
    )


def stage_slow(facts: HostSituation) -> str:
    return f"Stage '{facts.host.progress.stage}' is slower than its usual {_limit(facts)}; the installation goes on"


def disk_slow(facts: HostSituation) -> str:
    return f"{stage_slow(facts)}. Check the speed of the disk {installation_disk(facts.host)}"


def reboot_overdue(facts: HostSituation) -> str:
    return (
        f"Host did not fetch its configuration within {_limit(facts)} of its reboot. Check that it boots from its "
        f"installation disk {installation_disk(facts.host)} and reaches the cluster's API; "
        "the installation resumes by itself once it does"
    )


def wrong_boot_order(host: Host, reports: Reports) -> str:
    disks = reports.inventory.disks if reports.inventory is not None else ()
    disk = next((disk for disk in disks if disk.id == host.installation_disk_id), None)
    known = f" {disk.model} {disk.serial}".rstrip() if disk is not None else ""
    return (
        "Expected the host to boot from its installation disk, but it booted the discovery image. Correct the boot "
        f"order and reboot it from disk{known} {installation_disk(host)}"
    )


def installation_disk(host: Host) -> str:
    return f"({host.installation_disk_path.removeprefix('/dev/')}, {host.installation_disk_id})"
