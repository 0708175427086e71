"""What the controller reads of the service's answers. Null and absent mean the same."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_interface
from uuid import UUID

import msgspec
from msgspec import Struct

Address = IPv4Address | IPv6Address


class HostProgress(Struct, frozen=True, kw_only=True):
    current_stage: str | None = None


class _Interface(Struct, frozen=True):
    ipv4_addresses: tuple[str, ...] | None = None
    ipv6_addresses: tuple[str, ...] | None = None


class _Inventory(Struct, frozen=True):
    hostname: str | None = None
    interfaces: tuple[_Interface, ...] | None = None


class HostDocument(Struct, frozen=True, kw_only=True):
    id: UUID
    infra_env_id: UUID | None = None
    status: str = ""
    role: str = ""
    bootstrap: bool = False
    requested_hostname: str | None = None
    progress: HostProgress | None = None
    inventory: str | None = None
    node_labels: str | None = None
    machine_config_pool_name: str | None = None

    @property
    def stage(self) -> str:
        return (self.progress.current_stage if self.progress else "") or ""

    @property
    def names(self) -> frozenset[str]:
        """What its node may be called."""
        own, _ = _identity(self.inventory or "")
        return frozenset(name.lower() for name in (self.requested_hostname, own) if name)

    @property
    def addresses(self) -> frozenset[Address]:
        _, found = _identity(self.inventory or "")
        return found

    @property
    def labels(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(self.node_labels or "{}", type=dict[str, str])
        except msgspec.MsgspecError:
            return {}


@lru_cache(maxsize=2048)
def _identity(inventory: str) -> tuple[str, frozenset[Address]]:
    """Name and addresses in an inventory. They are looked at for each node and each certificate request."""
    try:
        read = msgspec.json.decode(inventory or "{}", type=_Inventory)
    except (msgspec.MsgspecError, UnicodeError):
        return "", frozenset()
    found: set[Address] = set()
    for interface in read.interfaces or ():
        for text in (*(interface.ipv4_addresses or ()), *(interface.ipv6_addresses or ())):
            try:
                found.add(ip_interface(text).ip)
            except ValueError:
                continue
    return read.hostname or "", frozenset(found)


def without_hardware(host: HostDocument) -> HostDocument:
    """Who it is, and nothing else of its inventory: small enough to be kept."""
    own, addresses = _identity(host.inventory or "")
    listed = tuple(sorted(map(str, addresses)))
    inventory = msgspec.json.encode(_Inventory(hostname=own, interfaces=(_Interface(ipv4_addresses=listed),)))
    return msgspec.structs.replace(host, inventory=inventory.decode())


class ClusterProgress(Struct, frozen=True, kw_only=True):
    finalizing_stage: str | None = None
    finalizing_stage_timed_out: bool = False


class Vip(Struct, frozen=True):
    ip: str = ""


class Platform(Struct, frozen=True):
    type: str | None = None


class ClusterDocument(Struct, frozen=True, kw_only=True):
    id: UUID
    name: str = ""
    base_dns_domain: str | None = None
    status: str = ""
    status_info: str = ""
    progress: ClusterProgress | None = None
    api_vips: tuple[Vip, ...] | None = None
    ingress_vips: tuple[Vip, ...] | None = None
    platform: Platform | None = None
    install_config_overrides: str | None = None

    @property
    def domain(self) -> str:
        return f"{self.name}.{self.base_dns_domain}".lower() if self.name and self.base_dns_domain else ""

    @property
    def vips(self) -> frozenset[Address]:
        found: set[Address] = set()
        for vip in (*(self.api_vips or ()), *(self.ingress_vips or ())):
            try:
                found.add(ip_interface(vip.ip).ip)
            except ValueError:
                continue
        return frozenset(found)

    @property
    def finalizing_stage(self) -> str:
        return (self.progress.finalizing_stage if self.progress else "") or ""

    @property
    def stage_timed_out(self) -> bool:
        return self.progress is not None and self.progress.finalizing_stage_timed_out

    @property
    def platform_type(self) -> str:
        return (self.platform.type if self.platform else "") or ""


class OperatorDocument(Struct, frozen=True, kw_only=True):
    name: str
    operator_type: str = ""
    namespace: str | None = None
    subscription_name: str | None = None
    status: str | None = None
    status_info: str | None = None


class CustomManifest(Struct, frozen=True, rename="pascal"):
    """Objects that an operator understands once it runs."""

    name: str
    content: bytes
