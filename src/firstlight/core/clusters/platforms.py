"""Platform and networking belong together: which of the two decides the other, and what excludes what."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.hosts.rules.platform import required_manufacturer
from firstlight.core.model.cluster import Cluster, Platform
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host import HostState

P: Final = PlatformType
WITHOUT_MANAGED_NETWORKS: Final = frozenset({"s390x", "ppc64le"})
"""Architectures whose networks the user always keeps."""
ORACLE: Final = "oci"
EXTERNAL_MANAGER: Final = "External"


class Networking(Struct, frozen=True, kw_only=True):
    platform: Platform = Platform()
    user_managed: bool = False


def settle(
    *,
    platform: Platform | None,
    user_managed: bool | None,
    before: Networking | None,
    single_node: bool,
    architecture: str,
) -> Networking:
    """What a wish about platform and networking means. `before` is None for a new cluster."""
    if platform is not None:
        check_external(platform)
    if single_node or architecture in WITHOUT_MANAGED_NETWORKS:
        what = "A single node" if single_node else f"A cluster of {architecture} machines"
        return _kept_by_user(platform, user_managed, before=before, what=what)
    if platform is None:
        platform = _implied(user_managed, before=before)
    return Networking(platform=platform, user_managed=_managed(platform, user_managed, before=before))


def check_external(platform: Platform) -> None:
    """The settings of the external platform, and that nobody else has them."""
    if platform.type is not P.EXTERNAL:
        if platform.external_name or platform.external_ccm:
            raise Invalid(f"The platform {platform.type} has no external settings. Remove them, or choose external.")
        return
    if not platform.external_name:
        raise Invalid("The external platform needs a name. Set external.platform_name.")
    if platform.external_name == ORACLE and platform.external_ccm != EXTERNAL_MANAGER:
        raise Invalid(
            f"On the external platform {ORACLE} the cloud controller manager must be {EXTERNAL_MANAGER}. Set"
            f" external.cloud_controller_manager to {EXTERNAL_MANAGER}."
        )


def _kept_by_user(
    platform: Platform | None, user_managed: bool | None, *, before: Networking | None, what: str
) -> Networking:
    if user_managed is False:
        raise Invalid(f"{what} needs user-managed networking. Leave it on.")
    if platform is not None and platform.type not in (P.NONE, P.EXTERNAL):
        raise Invalid(f"{what} cannot be installed on the platform {platform.type}. Choose none or external.")
    if platform is None and before is not None and before.platform.type is P.EXTERNAL:
        platform = before.platform
    return Networking(platform=platform or Platform(type=P.NONE), user_managed=True)


def _implied(user_managed: bool | None, *, before: Networking | None) -> Platform:
    """Networking alone was asked for: the two plain platforms follow it."""
    platform = Platform() if before is None else before.platform
    if user_managed is True and platform.type is P.BAREMETAL:
        return Platform(type=P.NONE)
    if user_managed is False and platform.type is P.NONE:
        return Platform(type=P.BAREMETAL)
    return platform


def _managed(platform: Platform, user_managed: bool | None, *, before: Networking | None) -> bool:
    match platform.type:
        case P.NONE | P.EXTERNAL:
            if user_managed is False:
                raise Invalid(
                    f"On the platform {platform.type} the user keeps the network. Leave user-managed networking on, or"
                    " choose baremetal."
                )
            return True
        case P.VSPHERE:
            if user_managed is not None:
                return user_managed
            return before is not None and before.platform.type is P.VSPHERE and before.user_managed
        case P.BAREMETAL | P.NUTANIX:
            if user_managed is True:
                raise Invalid(
                    f"On the platform {platform.type} the cluster keeps its own network. Switch user-managed networking"
                    " off, or choose the platform none."
                )
            return False


def supported_platforms(cluster: Cluster, hosts: Sequence[HostState]) -> tuple[PlatformType, ...]:
    """The platforms that every host seen so far would suit."""
    if cluster.is_single_node or not hosts:
        return (P.NONE,)
    return tuple(kind for kind in P if all(_suits(host, Platform(type=kind)) for host in hosts))


def _suits(host: HostState, platform: Platform) -> bool:
    wanted = required_manufacturer(platform)
    inventory = host.reports.inventory
    if wanted is None:
        return True
    return inventory is not None and inventory.vendor is not None and inventory.vendor.manufacturer == wanted
