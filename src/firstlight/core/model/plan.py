"""What a host's agent is to do next."""

from enum import StrEnum
from typing import Final

from msgspec import Struct


class StepType(StrEnum):
    CONNECTIVITY_CHECK = "connectivity-check"
    INVENTORY = "inventory"
    INSTALL = "install"
    FREE_ADDRESSES = "free-network-addresses"
    DHCP_LEASE = "dhcp-lease-allocate"
    API_VIP = "api-vip-connectivity-check"
    TANG = "tang-connectivity-check"
    NTP = "ntp-synchronizer"
    DISK_SPEED = "installation-disk-speed-check"
    IMAGE_AVAILABILITY = "container-image-availability"
    DOMAIN_RESOLUTION = "domain-resolution"
    STOP_INSTALLATION = "stop-installation"
    LOGS_GATHER = "logs-gather"
    UPGRADE_AGENT = "upgrade-agent"
    DOWNLOAD_BOOT_ARTIFACTS = "download-boot-artifacts"
    REBOOT_FOR_RECLAIM = "reboot-for-reclaim"
    VERIFY_VIPS = "verify-vips"


ONCE: Final = frozenset(
    {
        StepType.INSTALL,
        StepType.STOP_INSTALLATION,
        StepType.UPGRADE_AGENT,
        StepType.DOWNLOAD_BOOT_ARTIFACTS,
        StepType.REBOOT_FOR_RECLAIM,
        StepType.DISK_SPEED,
    }
)
"""Steps that do something: one that was handed out is known wherever the agent asks next, and after a restart."""


class Step(Struct, frozen=True):
    type: StepType
    args: tuple[str, ...] = ()
    tries: int = 0
    """Told apart by this, the same step may be asked for anew."""
    again_seconds: int = 0
    """After so long the step is asked for once more; zero means at the usual interval."""


class StepPlan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Equal plans mean that an agent polling again is asked the same."""

    steps: tuple[Step, ...] = ()
    next_instruction_seconds: int = 60
    exit: bool = False
    """The agent is to leave and register anew."""
