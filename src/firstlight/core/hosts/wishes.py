"""What a user may ask of a host, and the rules for each field of it."""

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.errors import Conflict, Invalid
from firstlight.core.hosts.disks import disk_named
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host import FencingCredentials, Host, HttpHeader, NodeLabel
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.inventory import Disk
from firstlight.core.model.policy import Policy
from firstlight.core.validate.labels import check_node_labels
from firstlight.core.validate.quoting import shown
from firstlight.core.versions.numbers import at_least

ARBITER_SINCE: Final = "4.19"
ARBITER_WITHOUT_PLATFORM_SINCE: Final = "4.22"
FENCING_SINCE: Final = "4.20"
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
_LONGEST_HEADER: Final = 8_192
_LONGEST_POOL_NAME: Final = 253


class DiskChoice(Struct, frozen=True, kw_only=True):
    name: str
    """An id, a by-path link or a device path."""
    install: bool


class DiskKeeping(Struct, frozen=True, kw_only=True):
    name: str
    keep: bool


class HostWish(Struct, frozen=True, kw_only=True):
    """None leaves a field as it is."""

    role: HostRole | None = None
    name: str | None = None
    disks: tuple[DiskChoice, ...] | None = None
    skip_formatting: tuple[DiskKeeping, ...] | None = None
    machine_config_pool_name: str | None = None
    ignition_endpoint_token: str | None = None
    ignition_endpoint_headers: tuple[HttpHeader, ...] | None = None
    node_labels: tuple[NodeLabel, ...] | None = None
    fencing: FencingCredentials | None = None

    @property
    def is_empty(self) -> bool:
        return all(getattr(self, name) is None for name in self.__struct_fields__)


def with_role(host: Host, role: HostRole, *, cluster: Cluster | None, policy: Policy) -> Host:
    if role is HostRole.ARBITER:
        require_arbiters(cluster, policy)
    pool = host.machine_config_pool_name
    if host.is_day_two and role is not HostRole.AUTO_ASSIGN and pool in ("", host.role.value):
        pool = role.value
    return replace(
        host,
        role=role,
        suggested_role=None if role is HostRole.AUTO_ASSIGN else role,
        bootstrap=host.bootstrap and role is not HostRole.WORKER,
        machine_config_pool_name=pool,
    )


def require_arbiters(cluster: Cluster | None, policy: Policy) -> None:
    if not policy.arbiter_clusters:
        raise Invalid("This service does not install clusters with an arbiter. Choose the role master or worker.")
    if cluster is not None:
        require_arbiter_cluster(cluster)


def require_arbiter_cluster(cluster: Cluster) -> None:
    """Refuse an arbiter where the cluster's release or platform has none."""
    version, platform = cluster.openshift_version, cluster.platform.type
    if version and not at_least(version, ARBITER_SINCE):
        raise Invalid(
            f"Arbiter hosts need OpenShift {ARBITER_SINCE} or newer, and cluster {cluster.name} is {version}."
        )
    if platform is PlatformType.BAREMETAL:
        return
    if platform is PlatformType.NONE and version and at_least(version, ARBITER_WITHOUT_PLATFORM_SINCE):
        return
    raise Invalid(
        f"Arbiter hosts need the platform baremetal, or none from OpenShift {ARBITER_WITHOUT_PLATFORM_SINCE} on; "
        f"cluster {cluster.name} has the platform {platform}."
    )


def with_installation_disk(host: Host, choices: Iterable[DiskChoice], *, disks: tuple[Disk, ...]) -> Host:
    """The named disk is installed to; without one the service chooses again."""
    wanted = [choice.name for choice in choices if choice.install]
    if len(wanted) > 1:
        raise Conflict(f"A host is installed to one disk, but {len(wanted)} disks are given the role install.")
    if not wanted:
        return replace(host, installation_disk_id="", installation_disk_path="")
    disk = disk_named(disks, wanted[0])
    if disk is None:
        raise Conflict(
            f"Host {host.id} has no disk {shown(wanted[0])}. Use the id, the by-path name or the device path of a disk "
            "of its inventory."
        )
    problems = (*disk.refusals, *host.disk_problems.get(disk.id, ()))
    if problems:
        raise Conflict(f"Disk {shown(wanted[0])} of host {host.id} cannot be installed to: {' '.join(problems)}")
    return replace(host, installation_disk_id=disk.id, installation_disk_path=disk.path or f"/dev/{disk.name}")


def with_kept_disks(host: Host, wishes: Iterable[DiskKeeping], *, disks: tuple[Disk, ...]) -> Host:
    """Only the disks named change; the others stay as they were."""
    kept = dict.fromkeys(host.skip_formatting_disks)
    for wish in wishes:
        disk = disk_named(disks, wish.name)
        if disk is None:
            raise Invalid(f"Host {host.id} has no disk {shown(wish.name)}, so its formatting cannot be set.")
        if wish.keep:
            kept[disk.id] = None
        else:
            kept.pop(disk.id, None)
    return replace(host, skip_formatting_disks=tuple(kept))


def check_pool_name(name: str) -> str:
    if len(name) > _LONGEST_POOL_NAME or not name.isprintable():
        raise Invalid(f"{shown(name)} is no name of a machine config pool.")
    return name


def check_headers(headers: tuple[HttpHeader, ...]) -> tuple[HttpHeader, ...]:
    for header in headers:
        if not _HEADER_NAME.fullmatch(header.key):
            raise Invalid(f"{shown(header.key)} is no name of an HTTP header. Use letters, digits and dashes.")
        if len(header.value) > _LONGEST_HEADER or not header.value.isprintable():
            raise Invalid(f"The value of HTTP header {header.key} is too long or has characters that cannot be sent.")
    return headers


def check_fencing(credentials: FencingCredentials, *, cluster: Cluster | None, policy: Policy) -> FencingCredentials:
    if not policy.fencing_clusters:
        raise Invalid("This service does not install two-node clusters with fencing, so it takes no credentials.")
    for name in ("address", "username", "password"):
        if not getattr(credentials, name):
            raise Invalid(f"The fencing credentials lack the {name}. Send address, username and password together.")
    if cluster is not None:
        require_fencing_cluster(cluster)
    return credentials


def require_fencing_cluster(cluster: Cluster) -> None:
    """Refuse fencing where the cluster's release or platform has none."""
    version, platform = cluster.openshift_version, cluster.platform.type
    if version and not at_least(version, FENCING_SINCE):
        raise Invalid(f"Fencing needs OpenShift {FENCING_SINCE} or newer, and cluster {cluster.name} is {version}.")
    if platform not in (PlatformType.BAREMETAL, PlatformType.NONE):
        raise Invalid(f"Fencing needs the platform baremetal or none; cluster {cluster.name} has {platform}.")


def check_labels(labels: Iterable[NodeLabel]) -> tuple[NodeLabel, ...]:
    checked = check_node_labels((label.key, label.value) for label in labels)
    return tuple(NodeLabel(key, value) for key, value in checked.items())
