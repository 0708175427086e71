"""Every step type this agent knows, by its name on the wire."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from firstlight.host.actions.action import Action
from firstlight.host.actions.api_vip import API_VIP
from firstlight.host.actions.boot_artifacts import BOOT_ARTIFACTS
from firstlight.host.actions.connectivity import CONNECTIVITY
from firstlight.host.actions.dhcp_leases import DHCP_LEASES
from firstlight.host.actions.disk_speed import DISK_SPEED
from firstlight.host.actions.domain_resolution import DOMAIN_RESOLUTION
from firstlight.host.actions.free_addresses import FREE_ADDRESSES
from firstlight.host.actions.images import IMAGE_AVAILABILITY
from firstlight.host.actions.install import INSTALL
from firstlight.host.actions.inventory import INVENTORY
from firstlight.host.actions.logs_gather import LOGS_GATHER
from firstlight.host.actions.ntp import NTP
from firstlight.host.actions.reclaim import RECLAIM
from firstlight.host.actions.stop import STOP
from firstlight.host.actions.tang import TANG
from firstlight.host.actions.upgrade import UPGRADE
from firstlight.host.actions.verify_vips import VERIFY_VIPS

_KNOWN: Final = (
    API_VIP,
    BOOT_ARTIFACTS,
    CONNECTIVITY,
    DHCP_LEASES,
    DISK_SPEED,
    DOMAIN_RESOLUTION,
    FREE_ADDRESSES,
    IMAGE_AVAILABILITY,
    INSTALL,
    INVENTORY,
    LOGS_GATHER,
    NTP,
    RECLAIM,
    STOP,
    TANG,
    UPGRADE,
    VERIFY_VIPS,
)

ACTIONS: Final[Mapping[str, Action]] = MappingProxyType({action.step_type: action for action in _KNOWN})
