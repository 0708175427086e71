"""What the controller reads of the service's answers. Null and absent mean the same."""

from ipaddress import ip_interface
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.host.recognising import Address, identity_in, only_identity


class HostProgress(Struct, frozen=True, kw_only=True):
    current_stage: str | None = None


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
        own = identity_in(self.inventory or "")
        return frozenset(name.lower() for name in (self.requested_hostname, own.name) if name)

    @property
    def addresses(self) -> frozenset[Address]:
        return identity_in(self.inventory or "").addresses

    @property
    def labels(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(self.node_labels or "{}", type=dict[str, str])
        except msgspec.MsgspecError:
            return {}


def without_hardware(host: HostDocument) -> HostDocument:
    """Who it is, and nothing else of its inventory: small enough to be kept."""
    return msgspec.structs.replace(host, inventory=only_identity(host.inventory or ""))


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
